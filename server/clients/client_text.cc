#include "server/clients/client_text.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/str_cat.h"
#include "server/catalogue/command_table.h"
#include "server/catalogue/dialect.h"
#include "server/clients/acl/user.h"

namespace respite {

namespace {

// Builds a line of CLIENT LIST: "key=value" pairs, separated by blanks.
class Fields {
 public:
  Fields& Text(Bytes key, Bytes value) {
    text_.append(key).append("=").append(value.substr(0, value.find('\0'))).append(" ");
    return *this;
  }
  Fields& Number(Bytes key, int64_t value) { return Text(key, IntegerText(value)); }
  Fields& Size(Bytes key, size_t value) { return Number(key, static_cast<int64_t>(value)); }
  std::string Take() {
    text_.pop_back();
    return std::move(text_);
  }

 private:
  std::string text_;
};

std::string EventsOf(const Session& session) {
  if (session.transport == nullptr || session.closing) return "";
  return session.transport->IsWaitingToWrite() ? "rw" : "r";
}

// Returns the number of free bytes in the input buffer ("qbuf-free" of CLIENT LIST). In Redis a client has its own
// buffer of at least 16 KB, which is freed when the client idles. Respite's clients share one buffer, so the size of
// Redis' buffer is estimated from the client's recent peak of input.
size_t FreeInputBytes(const Session& session, int64_t now_ms) {
  constexpr size_t kReadBytes = 16 * 1024;
  constexpr int64_t kIdleMs = 2000;
  size_t buffered = session.in.BufferedBytes();
  size_t held = session.in.HeldBytes();
  bool idle = session.usage.input_peak_bytes == 0 && now_ms - session.usage.last_active_ms > kIdleMs;
  if (!idle && session.usage.bytes_in != 0) held = std::max({held, kReadBytes, session.usage.input_peak_bytes});
  return held > buffered ? held - buffered : 0;
}

// Returns the size in bytes of the arguments of the running command. The arguments are in a buffer that all clients
// share, but CLIENT LIST counts them as memory of this client.
size_t RunningBytes(std::span<const Bytes> running) {
  size_t bytes = running.size() * sizeof(Bytes);
  for (Bytes word : running) bytes += word.size();
  return bytes;
}

size_t TextBytes(const std::vector<std::string>& words) {
  size_t bytes = 0;
  for (const std::string& word : words) bytes += word.size();
  return bytes;
}

size_t ArgumentBytes(const Session& session, std::span<const Bytes> running) {
  size_t bytes = session.in.PendingArgumentBytes();
  if (session.blocked_client != nullptr) bytes += TextBytes(session.blocked_client->words);
  if (session.paused_request != nullptr) bytes += TextBytes(session.paused_request->words);
  for (Bytes word : running) bytes += word.size();
  return bytes;
}

size_t SubscriptionsOf(const Session& session, PubSubKind kind) {
  return session.subscriptions ? session.subscriptions->Count(kind) : 0;
}

size_t FirstPieceBytes(const Session& session) {
  size_t bytes = 0;
  session.out.VisitFront(1, [&](Bytes piece) { bytes = piece.size(); });
  return bytes;
}

// Returns a short name of a protocol error, for the log. `error` is the error of the request parser.
Bytes ReasonOf(Bytes error) {
  constexpr std::array<std::pair<Bytes, Bytes>, 5> kReasons = {{
      {"unbalanced quotes in request", "unbalanced quotes in inline request"},
      {"invalid multibulk length", "invalid mbulk count"},
      {"unauthenticated multibulk length", "unauth mbulk count"},
      {"unauthenticated bulk length", "unauth bulk length"},
      {"expected '$', got", "expected $ but got something else"},
  }};
  constexpr Bytes kPrefix = "Protocol error: ";
  if (error.starts_with(kPrefix)) error.remove_prefix(kPrefix.size());
  for (auto [full, reason] : kReasons)
    if (error.starts_with(full)) return reason;
  return error;
}

// Returns the client's unparsed input for the log. If the input is long, returns only its beginning and end.
std::string InputSample(const Session& session) {
  constexpr size_t kShownBytes = 128;
  Bytes input = session.in.InputAtError();
  std::string sample = "Query buffer during protocol error: '";
  if (input.size() < kShownBytes) {
    sample.append(input.substr(0, input.find('\0'))).append("'");
  } else {
    sample.append(input.substr(0, kShownBytes / 2));
    StrAppend(sample, "' (... more ", input.size() - kShownBytes, " bytes ...) '");
    sample.append(input.substr(input.size() - kShownBytes / 2)).append("'");
  }
  std::replace_if(
      sample.begin(), sample.end(), [](char c) { return !IsPrintable(c); }, '.');
  return sample;
}

Bytes LastCommandOf(const Session& session, const DialectTraits& traits) {
  const Command* const last = session.usage.last_command;
  if (last == nullptr) return "NULL";
  const bool is_part = last->parent != nullptr && !traits.errors_name_subcommands;
  return is_part ? Bytes(last->parent->full_name) : Bytes(last->full_name);
}

size_t WatchedBy(const Session& session) {
  const bool watches = session.transaction != nullptr && session.transaction->watches != nullptr;
  return watches ? session.transaction->watches->places.size() : 0;
}

// Returns the address of a client, as CLIENT LIST shows it. Valkey since 9.1 shows the path of a unix socket in
// brackets, like an IPv6 address.
std::string ShownAddress(const std::string& address, const DialectTraits& traits) {
  const bool has_brackets = traits.unix_addresses_have_brackets && address.starts_with('/');
  return has_brackets ? "[" + address + "]:0" : address;
}

void AddIdentity(Fields& fields, const Session& session, int64_t now_ms, const DialectTraits& traits) {
  fields.Size("id", session.id)
      .Text("addr", ShownAddress(session.addresses.peer, traits))
      .Text("laddr", ShownAddress(session.addresses.local, traits))
      .Number("fd", session.transport == nullptr || session.closing ? -1 : session.transport->FileDescriptor())
      .Text("name", session.identity.name)
      .Number("age", (now_ms - session.usage.created_ms) / 1000)
      .Number("idle", (now_ms - session.usage.last_active_ms) / 1000)
      .Text("flags", ClientFlags(session));
  if (traits.client_text_has_capabilities) fields.Text("capa", session.identity.follows_redirects ? "r" : "");
}

void AddState(Fields& fields, const Session& session, const DialectTraits& traits) {
  fields.Number("db", session.db)
      .Size("sub", SubscriptionsOf(session, PubSubKind::kChannel))
      .Size("psub", SubscriptionsOf(session, PubSubKind::kPattern));
  if (traits.client_text_has_shards) fields.Size("ssub", SubscriptionsOf(session, PubSubKind::kShardChannel));
  fields.Number("multi", session.InTransaction() ? static_cast<int64_t>(session.transaction->Size()) : -1);
  if (traits.client_text_has_watch) fields.Size("watch", WatchedBy(session));
}

void AddMemory(Fields& fields, const Session& session, int64_t now_ms, std::span<const Bytes> running,
               const DialectTraits& traits) {
  const size_t segments = session.out.SegmentCount();
  const bool hides_running = traits.qbuf_omits_running_request && !running.empty();
  const size_t input = hides_running ? session.in.PendingBytes() : session.in.BufferedBytes();
  const bool holds_none = input == 0 && traits.empty_qbuf_has_no_free_bytes;
  fields.Size("qbuf", input)
      .Size("qbuf-free", holds_none ? 0 : FreeInputBytes(session, now_ms))
      .Size("argv-mem", ArgumentBytes(session, running));
  if (traits.client_text_has_usage) {
    fields.Size("multi-mem", session.InTransaction() ? session.transaction->QueuedTextBytes() : 0)
        .Size("rbs", session.output_account.EmulatedBufferBytes())
        .Size("rbp", session.output_account.EmulatedBufferPeakBytes());
  }
  fields.Size("obl", FirstPieceBytes(session))
      .Size("oll", segments > 1 ? segments - 1 : 0)
      .Size("omem", session.OutputBytes())
      .Size("tot-mem", session.HeldBytes() + RunningBytes(running));
}

void AddUse(Fields& fields, const Session& session, const DialectTraits& traits) {
  fields.Text("events", EventsOf(session))
      .Text("cmd", LastCommandOf(session, traits))
      .Text("user", session.user->name())
      .Number("redir", session.tracking != nullptr ? static_cast<int64_t>(session.tracking->redirect) : -1);
  if (traits.client_text_has_usage) fields.Number("resp", static_cast<int64_t>(session.resp));
  if (traits.client_text_has_library) {
    fields.Text("lib-name", session.identity.lib_name).Text("lib-ver", session.identity.lib_version);
  }
  if (traits.client_text_has_io_thread) fields.Number("io-thread", 0);
  if (traits.client_text_has_traffic) {
    fields.Size("tot-net-in", session.usage.bytes_in)
        .Size("tot-net-out", session.usage.bytes_out)
        .Size("tot-cmds", session.usage.commands);
  }
  if (traits.client_text_has_batches) {
    fields.Size("read-events", session.usage.read_events)
        .Size("parse-batch-cmd-sum", session.usage.commands)
        .Size("parse-batch-cnt", session.usage.read_events);
  }
}

}  // namespace

std::string ClientFlags(const Session& session) {
  const std::array<std::pair<bool, char>, 17> flags = {{
      {session.kind == SessionKind::kReplica, 'S'},
      {session.kind == SessionKind::kPrimary, 'M'},
      {session.monitor, 'O'},
      {session.kind == SessionKind::kPubSub, 'P'},
      {session.InTransaction(), 'x'},
      {session.IsBlocked(), 'b'},
      {session.tracking != nullptr, 't'},
      {session.tracking != nullptr && session.tracking->redirect_lost, 'R'},
      {session.tracking != nullptr && session.tracking->mode == TrackingOptions::Mode::kBroadcast, 'B'},
      {session.transaction != nullptr && session.transaction->HasWatchedKeyChanged(), 'd'},
      {session.close_after_reply, 'c'},
      {session.closing, 'A'},
      {session.addresses.is_unix_socket, 'U'},
      {session.no_evict, 'e'},
      {session.no_touch, 'T'},
      {session.cluster_options.reads_from_replica, 'r'},
      {session.import_source, 'I'},
  }};
  std::string shown;
  for (auto [is_set, letter] : flags)
    if (is_set) shown += letter;
  return shown.empty() ? "N" : shown;
}

std::string ClientText(const Session& session, int64_t now_ms, std::span<const Bytes> running) {
  return ClientText(session, now_ms, running, DialectTraits());
}

std::string ClientText(const Session& session, int64_t now_ms, std::span<const Bytes> running,
                       const DialectTraits& traits) {
  Fields fields;
  AddIdentity(fields, session, now_ms, traits);
  AddState(fields, session, traits);
  AddMemory(fields, session, now_ms, running, traits);
  AddUse(fields, session, traits);
  return fields.Take();
}

std::string ProtocolErrorText(const Session& session, int64_t now_ms, UserData user_data) {
  return "Protocol error (" + std::string(ReasonOf(session.in.Error())) +
         ") from client: " + ClientText(session, now_ms) + ". " +
         (user_data == UserData::kShown ? InputSample(session) : "Query buffer during protocol error: (redacted)");
}

std::string RemoveIpv6Brackets(std::string address) {
  std::erase_if(address, [](char c) { return c == '[' || c == ']'; });
  return address;
}

}  // namespace respite
