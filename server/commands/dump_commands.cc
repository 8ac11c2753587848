// Values as octets that travel: DUMP, RESTORE and MIGRATE.
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "persistence/rdb_value_reader.h"
#include "protocol/request_text.h"
#include "server/catalogue/key_finder.h"
#include "server/catalogue/refusals.h"
#include "server/commands/delete_key.h"
#include "server/commands/families.h"
#include "server/commands/payload_words.h"
#include "server/config/settings.h"
#include "server/dataset/stats.h"
#include "server/dataset/unit.h"
#include "server/execution/call.h"
#include "server/execution/services.h"
#include "server/net/migrate_link.h"
#include "server/net/tls/tls.h"

namespace respite {

namespace {

struct Dump {
  static constexpr CommandSpec spec = {.syntax = "DUMP key",
                                       .summary = "Returns a value in a form that RESTORE takes.",
                                       .since = "2.6.0",
                                       .complexity = "O(N), N being the size of the value in octets",
                                       .group = CommandGroup::kGeneric,
                                       .flags = kReadOnly,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)},
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call) {
    const Entry* entry = call.db.Read(call.args.Next());
    if (entry == nullptr) return call.reply.Null();
    call.reply.Bulk(DumpPayload(*entry, CompressionOf(call.services.settings)));
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// RESTORE

enum class Deadline : uint8_t { kRelative, kAbsolute };

struct RestoreOptions {
  bool replaces = false;
  Deadline deadline = Deadline::kRelative;
  std::optional<int64_t> idle_seconds;
  std::optional<int64_t> frequency;
};

int64_t TakeIdleTime(Args& args) {
  const int64_t seconds = args.NextInteger();
  if (seconds < 0) throw Refusal{refusals::kRestoreIdleTime};
  return seconds;
}

int64_t TakeFrequency(Args& args) {
  const int64_t frequency = args.NextInteger();
  if (frequency < 0 || frequency > 255) throw Refusal{refusals::kRestoreFrequency};
  return frequency;
}

RestoreOptions ParseRestoreOptions(Args& args) {
  RestoreOptions options;
  while (!args.AtEnd()) {
    if (args.TakeToken("REPLACE")) {
      options.replaces = true;
    } else if (args.TakeToken("ABSTTL")) {
      options.deadline = Deadline::kAbsolute;
    } else if (!options.frequency && args.TakeTokenWith("IDLETIME", 1)) {
      options.idle_seconds = TakeIdleTime(args);
    } else if (!options.idle_seconds && args.TakeTokenWith("FREQ", 1)) {
      options.frequency = TakeFrequency(args);
    } else {
      throw Refusal{refusals::kSyntax};
    }
  }
  return options;
}

// Redis: an option that does not fit the policy is passed over.
uint32_t AccessOf(Call& call, const RestoreOptions& options) {
  const KeyUsage& access = call.services.data.usage;
  if (access.IsLfu() && options.frequency)
    return KeyUsage::OfFrequency(static_cast<uint32_t>(*options.frequency), call.now_ms);
  if (!access.IsLfu() && options.idle_seconds) return KeyUsage::OfIdle(*options.idle_seconds, call.now_ms);
  return access.Fresh(call.now_ms);
}

EntryPtr ReadPayload(Call& call, Bytes key, Bytes payload, uint32_t access) {
  const auto value = CheckedPayload(payload, ChecksOf(call.services));
  if (!value) throw Refusal{refusals::kPayloadChecksum};
  RdbInput input(*value);
  const uint8_t type = input.Octet();
  if (call.services.settings.sanitize_dump_payload != SanitizeDumpPayload::kNever && IsPackedRdbType(type))
    ++call.services.stats.payload_sanitizations;
  auto entry = ReadRdbValue(input, type, {key, access, call.services.data.limits, call.db.Data().hash_key()});
  if (!entry) {
    call.services.log.Verbose("Internal error in RDB reading offset 0 of a payload of " + call.command.full_name +
                              " -> " + entry.error().why);
    throw Refusal{refusals::kPayloadFormat};
  }
  return std::move(entry).value();
}

// kNoDeadline for a `ttl_ms` of 0. Redis: what is too late for the clock has passed already.
int64_t DeadlineOf(int64_t ttl_ms, Deadline deadline, int64_t now_ms) {
  if (ttl_ms == 0) return kNoDeadline;
  if (deadline == Deadline::kAbsolute) return ttl_ms;
  return static_cast<int64_t>(static_cast<uint64_t>(ttl_ms) + static_cast<uint64_t>(now_ms));
}

// A value that is expired as it comes: only what it would have replaced goes.
void RestoreExpired(Call& call, KeyEdit& replaced) {
  if (!replaced) return;
  FreeReplaced(call, replaced.Take());
  replaced.Touched("del");
  call.effect.Replace(call.services.settings.lazyfree_lazy_server_del ? Bytes("UNLINK") : Bytes("DEL"), replaced.Key());
}

// What was said, but for a time that passes.
void RecordRestore(Call& call, Bytes key, int64_t deadline_ms, Bytes payload, const RestoreOptions& options) {
  std::vector<std::string> words = {"RESTORE", std::string(key), std::to_string(deadline_ms), std::string(payload)};
  if (options.replaces) words.emplace_back("REPLACE");
  if (options.idle_seconds) words.insert(words.end(), {"IDLETIME", std::to_string(*options.idle_seconds)});
  if (options.frequency) words.insert(words.end(), {"FREQ", std::to_string(*options.frequency)});
  words.emplace_back("ABSTTL");
  call.effect.Replace(std::move(words));
}

void RunRestore(Call& call) {
  auto [key, ttl_word, payload] = call.args.Take<Bytes, Bytes, Bytes>();
  RestoreOptions options = ParseRestoreOptions(call.args);
  if (!options.replaces && call.db.Find(key) != nullptr) throw Refusal{refusals::kBusyKey};
  const int64_t ttl_ms = Args::Integer(ttl_word);
  if (ttl_ms < 0) throw Refusal{refusals::kRestoreTtl};
  EntryPtr entry = ReadPayload(call, key, payload, AccessOf(call, options));

  const int64_t deadline_ms = DeadlineOf(ttl_ms, options.deadline, call.now_ms);
  KeyEdit edit = call.db.OpenUnjudged(key);  // Redis: what has expired is replaced like anything else
  if (ttl_ms != 0 && call.HasPassed(deadline_ms)) {
    RestoreExpired(call, edit);
    return call.reply.Ok();
  }
  const bool replaced = static_cast<bool>(edit);
  if (replaced) FreeReplaced(call, edit.Take());
  edit.Add(std::move(entry));
  edit.SetDeadline(deadline_ms);
  edit.Touched("restore");
  // When this is repeated, what has expired here may still be there.
  const bool says_all = options.replaces || !replaced;
  options.replaces = options.replaces || replaced;
  const bool moves = options.deadline == Deadline::kRelative && deadline_ms != kNoDeadline;
  if (moves || !says_all) RecordRestore(call, key, deadline_ms == kNoDeadline ? 0 : deadline_ms, payload, options);
  call.reply.Ok();
}

constexpr char kRestoreComplexity[] =
    "O(N), N being the size of the value in octets; O(N*log(N)) for large sorted sets";

struct Restore {
  static constexpr CommandSpec spec = {
      .syntax =
          "RESTORE key ttl:integer serialized-value [REPLACE@3.0.0] [ABSTTL@5.0.0] [IDLETIME "
          "seconds:integer@5.0.0] [FREQ frequency:integer@5.0.0]",
      .summary = "Makes a key of a value that DUMP returned.",
      .since = "2.6.0",
      .complexity = kRestoreComplexity,
      .group = CommandGroup::kGeneric,
      .flags = kWrite | kDenyOom,
      .keys = {Key(1, kKeyOW | kKeyUpdate)},
      .categories = kAclKeyspace | kAclDangerous};
  static void Run(Call& call) { RunRestore(call); }
};

struct RestoreAsking {
  static constexpr CommandSpec spec = {
      .syntax =
          "RESTORE-ASKING key ttl:integer serialized-value [REPLACE@3.0.0] [ABSTTL@5.0.0] [IDLETIME "
          "seconds:integer@5.0.0] [FREQ frequency:integer@5.0.0]",
      .summary = "RESTORE as nodes of a cluster send it to each other.",
      .since = "3.0.0",
      .complexity = kRestoreComplexity,
      .group = CommandGroup::kServer,
      .flags = kWrite | kDenyOom | kAsking,
      .keys = {Key(1, kKeyOW | kKeyUpdate)},
      .categories = kAclKeyspace | kAclDangerous,
      .syscmd = true};
  static void Run(Call& call) { RunRestore(call); }
};

// ---------------------------------------------------------------------------------------------------------------------
// MIGRATE

struct MigrateOptions {
  Bytes host;
  Bytes port;
  int64_t db = 0;
  int64_t timeout_ms = 0;
  bool copies = false;
  bool replaces = false;
  std::vector<Bytes> auth;  // the words behind AUTH
  std::span<const Bytes> keys;
};

void TakeAuth(Call& call, MigrateOptions& options, size_t words) {
  options.auth.clear();
  for (; words > 0; --words) {
    call.Redact(call.args.Count() - call.args.Left());
    options.auth.push_back(call.args.Next());
  }
}

// The keys behind the word KEYS.
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

// What is asked of the other server, in order, and how it answered.
struct Transfer {
  std::string requests = {};
  size_t preliminary = 0;            // requests before the first RESTORE
  std::vector<Bytes> keys;           // one for each RESTORE
  size_t acknowledged = 0;           // how many of the keys were answered for
  std::vector<Bytes> accepted = {};  // those among them that the other server has now
  std::string error = {};            // its first error, without the '-'
};

void AskForAuthAndDatabase(Transfer& transfer, const MigrateOptions& options, const MigrateLink& link) {
  const std::vector<Bytes>& auth = options.auth;
  if (auth.size() == 1) AppendRequest(transfer.requests, {"AUTH", auth[0]});
  if (auth.size() == 2) AppendRequest(transfer.requests, {"AUTH", auth[0], auth[1]});
  if (!auth.empty()) ++transfer.preliminary;
  if (link.selected_db == options.db) return;
  AppendRequest(transfer.requests, {"SELECT", IntegerText(options.db)});
  ++transfer.preliminary;
}

void AskToRestore(Call& call, Transfer& transfer, const MigrateOptions& options, Bytes key) {
  const Entry* entry = call.db.Peek(key);
  const int64_t ttl_ms = entry->Deadline() == kNoDeadline ? 0 : entry->Deadline() - call.now_ms;
  const std::string payload = DumpPayload(*entry, CompressionOf(call.services.settings));
  if (options.replaces) {
    AppendRequest(transfer.requests, {"RESTORE", key, IntegerText(ttl_ms), payload, "REPLACE"});
  } else {
    AppendRequest(transfer.requests, {"RESTORE", key, IntegerText(ttl_ms), payload});
  }
}

enum class LinkTrouble : uint8_t { kNone, kConnecting, kWriting, kReading };

// Reads the answers. An error to AUTH or SELECT counts against each key.
LinkTrouble ReadAnswers(Transfer& transfer, MigrateLink& link, int64_t timeout_ms) {
  std::string earlier_error;
  for (size_t i = 0; i < transfer.preliminary; ++i) {
    const auto line = link.ReadLine(timeout_ms);
    if (!line) return LinkTrouble::kReading;
    if (line->starts_with('-') && earlier_error.empty()) earlier_error = *line;
  }
  for (Bytes key : transfer.keys) {
    const auto line = link.ReadLine(timeout_ms);
    if (!line) return LinkTrouble::kReading;
    ++transfer.acknowledged;
    const std::string& error = earlier_error.empty() ? *line : earlier_error;
    if (!error.starts_with('-')) {
      transfer.accepted.push_back(key);
    } else if (transfer.error.empty()) {
      transfer.error = error.substr(1);
    }
  }
  return LinkTrouble::kNone;
}

LinkTrouble TryTransfer(Call& call, Transfer& transfer, const MigrateOptions& options, MigrateLink& link) {
  AskForAuthAndDatabase(transfer, options, link);
  for (Bytes key : transfer.keys) AskToRestore(call, transfer, options, key);
  if (!link.Send(transfer.requests, options.timeout_ms)) return LinkTrouble::kWriting;
  const LinkTrouble trouble = ReadAnswers(transfer, link, options.timeout_ms);
  link.selected_db = trouble == LinkTrouble::kNone && transfer.error.empty() ? options.db : -1;
  return trouble;
}

// Redis: a server that does not answer is noticed as its first request is written.
LinkTrouble TroubleOf(ConnectTrouble trouble) {
  return trouble == ConnectTrouble::kNoAnswer ? LinkTrouble::kWriting : LinkTrouble::kConnecting;
}

// A second connection is tried when the first one, which may have been kept for too long, breaks before any key was
// answered for.
LinkTrouble RunTransfer(Call& call, Transfer& transfer, const MigrateOptions& options) {
  MigrateLinks& links = call.services.migrate_links;
  const Tls* tls = call.services.settings.tls_cluster ? &call.services.tls : nullptr;
  const std::vector<Bytes> keys = transfer.keys;
  for (int attempt = 0;; ++attempt) {
    transfer = {.keys = keys};
    auto link = links.Get(options.host, options.port, tls, options.timeout_ms, call.services.clock.MonotonicMs());
    if (!link) return TroubleOf(link.error());
    const LinkTrouble trouble = TryTransfer(call, transfer, options, *link.value());
    if (trouble == LinkTrouble::kNone) return trouble;
    const bool timed_out = link.value()->TimedOut();
    links.Drop(options.host, options.port);
    if (attempt > 0 || timed_out || transfer.acknowledged > 0) return trouble;
  }
}

void DeleteMigrated(Call& call, const std::vector<Bytes>& keys) {
  for (Bytes key : keys) {
    KeyEdit edit = call.db.Open(key);
    if (!edit) continue;  // named twice
    FreeReplaced(call, edit.Take());
    edit.Touched("del");
    call.effect.Replace("DEL", key);
  }
}

const char* RefusalFor(LinkTrouble trouble) {
  switch (trouble) {
    case LinkTrouble::kConnecting:
      return refusals::kMigrateConnect;
    case LinkTrouble::kWriting:
      return refusals::kMigrateWrite;
    default:
      return refusals::kMigrateRead;
  }
}

// Redis: checks whether the keys are there before anything else happens.
std::vector<Bytes> KeysThatExist(Call& call, std::span<const Bytes> keys) {
  std::vector<Bytes> existing;
  for (Bytes key : keys)
    if (call.db.Read(key) != nullptr) existing.push_back(key);
  return existing;
}

// Says why not all went well, behind the change that did happen.
void ReplyFailure(Call& call, const Refusal& failure) {
  call.services.stats.CountError(failure.text);
  call.reply.Error(failure.text);
}

struct Migrate {
  static constexpr CommandSpec spec = {
      .syntax =
          "MIGRATE host port:integer key-selector(key|empty-string='') destination-db:integer "
          "timeout:integer [COPY@3.0.0] [REPLACE@3.0.0] [authentication(AUTH auth<password>@4.0.7|AUTH2 "
          "auth2{username password}@6.0.0)] [KEYS keys<key>:key@3.0.6...]",
      .summary = "Moves keys to another server.",
      .since = "2.6.0",
      .complexity = "what DUMP and DEL take here and RESTORE takes there, and the time to send the data",
      .group = CommandGroup::kGeneric,
      .flags = kWrite,
      .keys = {Key(3, kKeyRW | kKeyAccess | kKeyDelete),
               KeysAfter("KEYS", -2, {.last = -1, .limit = 0}, kKeyRW | kKeyAccess | kKeyDelete | kKeyIncomplete)},
      .categories = kAclKeyspace | kAclDangerous,
      .tips = "nondeterministic_output",
      .find_keys = MigrateKeys};

  static void Run(Call& call) {
    const MigrateOptions options = ParseMigrateOptions(call);
    Transfer transfer{.keys = KeysThatExist(call, options.keys)};
    if (transfer.keys.empty()) return call.reply.Simple("NOKEY");

    const LinkTrouble trouble = RunTransfer(call, transfer, options);
    if (!options.copies) DeleteMigrated(call, transfer.accepted);
    if (!transfer.error.empty()) return ReplyFailure(call, refusals::MigrateTarget(transfer.error));
    if (trouble != LinkTrouble::kNone) return ReplyFailure(call, {RefusalFor(trouble)});
    call.reply.Ok();
  }
};

constexpr auto kDumpCommands = Family<Dump, Migrate, Restore, RestoreAsking>();

}  // namespace

std::span<const CommandCard> DumpCommands() { return kDumpCommands; }

}  // namespace respite
