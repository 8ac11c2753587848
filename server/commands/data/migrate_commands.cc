// MIGRATE: moves keys to another server.
//
// While the keys are transferred, the caller is blocked and other clients are served (server/migration/). Inside EXEC
// or a script no command of another client may run, so then the whole server waits.
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "server/catalogue/key_finder.h"
#include "server/catalogue/refusals.h"
#include "server/commands/data/payload_words.h"
#include "server/commands/families.h"
#include "server/config/settings.h"
#include "server/execution/call.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/executor.h"
#include "server/execution/services.h"
#include "server/migration/migrate_link.h"
#include "server/migration/migrations.h"
#include "server/net/tls/tls.h"
#include "server/runtime/stats.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kMigrateKeyWithKeys[] =
    "ERR When using MIGRATE KEYS option, the key argument must be set to the empty string";
constexpr char kMigrateConnect[] = "IOERR error or timeout connecting to the client";
constexpr char kMigrateWrite[] = "IOERR error or timeout writing to target instance";
constexpr char kMigrateChanged[] =
    "ERR Keys that were changed while they were sent stay here, and the target has their old values";
constexpr char kMigrateRead[] = "IOERR error or timeout reading to target instance";
Refusal MigrateTarget(Bytes error) { return {"ERR Target instance replied with error: " + std::string(error)}; }

}  // namespace
}  // namespace refusals

namespace {

struct MigrateOptions {
  Bytes host;
  Bytes port;
  int64_t db = 0;
  int64_t timeout_ms = 0;
  bool copies = false;
  bool replaces = false;
  std::vector<Bytes> auth;  // arguments after AUTH
  std::span<const Bytes> keys;
};

void TakeAuth(Call& call, MigrateOptions& options, size_t words) {
  options.auth.clear();
  for (; words > 0; --words) {
    call.Redact(call.args.Count() - call.args.Left());
    options.auth.push_back(call.args.Next());
  }
}

// Returns the keys that follow the argument KEYS. Throws a Refusal if the third argument, which is otherwise the key,
// is not empty.
std::span<const Bytes> TakeKeys(Call& call) {
  constexpr size_t kKeyWord = 3;
  if (!call.args[kKeyWord].empty()) throw Refusal{refusals::kMigrateKeyWithKeys};
  return call.args.Rest();
}

MigrateOptions ParseMigrateOptions(Call& call) {
  constexpr int64_t kDefaultTimeoutMs = 1000;
  MigrateOptions options;
  auto [host, port, key, db, timeout] = call.args.Take<Bytes, Bytes, Bytes, Bytes, Bytes>();
  options.host = host;
  options.port = port;
  options.keys = call.args.Words().subspan(3, 1);
  while (!call.args.AtEnd()) {
    if (call.args.TakeToken("COPY")) {
      options.copies = true;
    } else if (call.args.TakeToken("REPLACE")) {
      options.replaces = true;
    } else if (call.args.TakeTokenWith("AUTH", 1)) {
      TakeAuth(call, options, 1);
    } else if (call.args.TakeTokenWith("AUTH2", 2)) {
      TakeAuth(call, options, 2);
    } else if (call.args.TakeToken("KEYS")) {
      options.keys = TakeKeys(call);
      break;
    } else {
      throw Refusal{refusals::kSyntax};
    }
  }
  options.timeout_ms = Args::Integer(timeout);
  options.db = Args::Integer(db);
  if (options.timeout_ms <= 0) options.timeout_ms = kDefaultTimeoutMs;
  return options;
}

// Returns the keys in `keys` that exist. As Redis does, MIGRATE looks for the keys before it connects to the target.
std::vector<Bytes> KeysThatExist(Call& call, std::span<const Bytes> keys) {
  std::vector<Bytes> existing;
  for (Bytes key : keys)
    if (call.db.Read(key) != nullptr) existing.push_back(key);
  return existing;
}

// Prepares the requests that will send the current values of the keys to the target server.
MigrateProtocol PrepareTransfer(Call& call, const MigrateOptions& options, const std::vector<Bytes>& keys) {
  const auto target = call.services.env.settings.cluster_enabled ? MigrateProtocol::Target::kClusterNode
                                                                 : MigrateProtocol::Target::kServer;
  MigrateProtocol protocol(std::vector<std::string>(options.auth.begin(), options.auth.end()), options.db, target);
  const auto existing = options.replaces ? MigrateProtocol::Existing::kReplaced : MigrateProtocol::Existing::kRefused;
  for (Bytes key : keys) {
    const Entry* entry = call.db.Peek(key);
    const int64_t ttl_ms = entry->Deadline() == kNoDeadline ? 0 : entry->Deadline() - call.now_ms;
    protocol.AddKey(key, ttl_ms, DumpPayload(*entry, CompressionOf(call.services.env.settings)), existing);
  }
  return protocol;
}

// === Blocking the whole server

FailedMigrateStep TryTransfer(MigrateProtocol& protocol, MigrateLink& link, int64_t timeout_ms) {
  if (!link.Send(protocol.Begin(link.selected_db), timeout_ms)) return FailedMigrateStep::kWriting;
  if (!link.Send(protocol.Restores(), timeout_ms)) return FailedMigrateStep::kWriting;
  link.selected_db = MigrateProtocol::kUnknownDb;
  while (!protocol.IsOver()) {
    const auto line = link.ReadLine(timeout_ms);
    if (!line) return FailedMigrateStep::kReading;
    protocol.TakeAnswer(*line);
  }
  link.selected_db = protocol.SelectedDb();
  return FailedMigrateStep::kNone;
}

// Returns the step of MIGRATE that failed when no connection could be made. As in Redis, a target that refuses the
// connection, or does not accept it in time, counts as a failed write of the first request. Only an unknown host or a
// failed TLS handshake counts as a failed connection.
FailedMigrateStep FailedStepOf(ConnectError error) {
  return error == ConnectError::kNoAnswer ? FailedMigrateStep::kWriting : FailedMigrateStep::kConnecting;
}

// Transfers the keys while the whole server waits. If the connection breaks before the target has acknowledged a key,
// tries again once, because the connection may be a cached one that the target had closed. Does not try again after a
// timeout.
FailedMigrateStep TransferBlocking(Call& call, const MigrateOptions& options, MigrateProtocol& protocol) {
  MigrateLinks& links = call.services.migrations.blocking_links();
  const Tls* tls = call.services.env.settings.tls_cluster ? &call.services.tls : nullptr;
  for (int attempt = 0;; ++attempt) {
    auto link = links.Get(options.host, options.port, tls, options.timeout_ms, call.services.env.clock.MonotonicMs());
    if (!link) return FailedStepOf(link.error());
    const FailedMigrateStep failed_step = TryTransfer(protocol, *link.value(), options.timeout_ms);
    if (failed_step == FailedMigrateStep::kNone) return failed_step;
    const bool timed_out = link.value()->HasTimedOut();
    links.Drop(options.host, options.port);
    if (attempt > 0 || timed_out || protocol.AnsweredKeyCount() > 0) return failed_step;
  }
}

MigrateOutcome MoveBlocking(Call& call, const MigrateOptions& options, MigrateProtocol protocol) {
  MigrateOutcome outcome{.failed_step = TransferBlocking(call, options, protocol)};
  outcome.error = protocol.Error();
  if (options.copies) return outcome;
  for (size_t i = 0; i < protocol.Keys().size(); ++i)
    if (protocol.HasAccepted(i)) outcome.moved.push_back(protocol.Keys()[i]);
  return outcome;
}

// ---------------------------------------------------------------------------------------------------------------------

const char* RefusalFor(FailedMigrateStep failed_step) {
  switch (failed_step) {
    case FailedMigrateStep::kConnecting:
      return refusals::kMigrateConnect;
    case FailedMigrateStep::kWriting:
      return refusals::kMigrateWrite;
    default:
      return refusals::kMigrateRead;
  }
}

// Replies with an error of MIGRATE. Does not throw it, so that the changes of MIGRATE are kept: the keys that the
// target has accepted are deleted here.
void ReplyFailure(Call& call, const Refusal& failure) {
  call.services.env.stats.CountError(failure.text);
  call.reply.Error(failure.text);
  call.failed = true;
}

void Conclude(Call& call, const MigrateOutcome& outcome) {
  DeleteMovedKeys(call.services, call.db, call.effect, outcome.moved);
  if (!outcome.error.empty()) return ReplyFailure(call, refusals::MigrateTarget(outcome.error));
  if (outcome.failed_step != FailedMigrateStep::kNone) return ReplyFailure(call, {RefusalFor(outcome.failed_step)});
  if (outcome.kept_changed_keys) return ReplyFailure(call, {refusals::kMigrateChanged});
  call.reply.Ok();
}

void MoveWhileOthersAreServed(Call& call, const MigrateOptions& options, MigrateProtocol protocol) {
  call.services.migrations.Start(call.session, call.command,
                                 {.host = std::string(options.host),
                                  .port = std::string(options.port),
                                  .uses_tls = call.services.env.settings.tls_cluster,
                                  .timeout_ms = options.timeout_ms,
                                  .copies = options.copies,
                                  .protocol = std::move(protocol)});
  call.Wait({.can_be_unblocked = false});
}

struct Migrate {
  static constexpr CommandSpec spec = {
      .syntax =
          "MIGRATE host port:integer key-selector(key|empty-string='') destination-db:integer "
          "timeout:integer [COPY@3.0.0] [REPLACE@3.0.0] [authentication(AUTH auth<password>@4.0.7|AUTH2 "
          "auth2{username password}@6.0.0)] [KEYS keys<key>:key@3.0.6...]",
      .summary = "Moves keys to another server.",
      .since = "2.6.0",
      .complexity = "The cost of DUMP and DEL here and of RESTORE there, plus the time to send the data.",
      .group = CommandGroup::kGeneric,
      .flags = kWrite,
      .keys = {Key(3, kKeyRW | kKeyAccess | kKeyDelete),
               KeysAfter("KEYS", -2, {.last = -1, .limit = 0}, kKeyRW | kKeyAccess | kKeyDelete | kKeyIncomplete)},
      .categories = kAclKeyspace | kAclDangerous,
      .tips = "nondeterministic_output",
      .in_streams = InStreams::kNo,  // it contacts another server
      .serves_moving_slots = true,
      .public_words = 6,
      .find_keys = KeysOfMigrate};

  static void Run(Call& call) {
    if (const auto outcome = call.services.migrations.TakeOutcome(call.session)) return Conclude(call, *outcome);
    const MigrateOptions options = ParseMigrateOptions(call);
    const std::vector<Bytes> keys = KeysThatExist(call, options.keys);
    if (keys.empty()) return call.reply.Simple("NOKEY");
    MigrateProtocol protocol = PrepareTransfer(call, options, keys);
    const bool blocks = !call.services.clients.current_execution.MayBlock() || !call.services.migrations.HasNetwork();
    if (!blocks) return MoveWhileOthersAreServed(call, options, std::move(protocol));
    Conclude(call, MoveBlocking(call, options, std::move(protocol)));
  }
};

constexpr auto kMigrateCommands = Family<Migrate>();

}  // namespace

std::span<const CommandCard> MigrateCommands() { return kMigrateCommands; }

}  // namespace respite
