// DUMP and RESTORE: values in serialized form.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "persistence/rdb_value_reader.h"
#include "server/catalogue/refusals.h"
#include "server/commands/data/payload_words.h"
#include "server/commands/delete_key.h"
#include "server/commands/families.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/unit.h"
#include "server/execution/call.h"
#include "server/execution/services.h"
#include "server/runtime/stats.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kBusyKey[] = "BUSYKEY Target key name already exists.";
constexpr char kPayloadFormat[] = "ERR Bad data format";
constexpr char kRestoreTtl[] = "ERR Invalid TTL value, must be >= 0";
constexpr char kRestoreIdleTime[] = "ERR Invalid IDLETIME value, must be >= 0";
constexpr char kRestoreFrequency[] = "ERR Invalid FREQ value, must be >= 0 and <= 255";

}  // namespace
}  // namespace refusals

namespace {

struct Dump {
  static constexpr CommandSpec spec = {.syntax = "DUMP key",
                                       .summary = "Returns a value in a form that RESTORE takes.",
                                       .since = "2.6.0",
                                       .complexity = "O(N), N being the size of the value in bytes",
                                       .group = CommandGroup::kGeneric,
                                       .flags = kReadOnly,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)},
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call) {
    const Entry* entry = call.db.Read(call.args.Next());
    if (entry == nullptr) return call.reply.Null();
    call.reply.Bulk(DumpPayload(*entry, CompressionOf(call.services.env.settings)));
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

// Returns the access data of the key that RESTORE creates, its idle time or LFU counter. As in Redis, IDLETIME counts
// only under an LRU policy, and FREQ only under an LFU policy.
uint32_t AccessOf(Call& call, const RestoreOptions& options) {
  const KeyUsage& access = call.services.data.dataset.usage;
  if (access.IsLfu() && options.frequency)
    return KeyUsage::BitsForFrequency(static_cast<uint32_t>(*options.frequency), call.now_ms);
  if (!access.IsLfu() && options.idle_seconds) return KeyUsage::BitsForIdleTime(*options.idle_seconds, call.now_ms);
  return access.BitsForNewKey(call.now_ms);
}

EntryPtr ReadPayload(Call& call, Bytes key, Bytes payload, uint32_t access) {
  const auto value = VerifyPayload(payload, PayloadChecksOf(call));
  if (!value) throw Refusal{refusals::kPayloadChecksum};
  RdbInput input(*value);
  const uint8_t type = input.Byte();
  if (call.services.env.settings.sanitize_dump_payload != SanitizeDumpPayload::kNever && IsPackedRdbType(type))
    ++call.services.env.stats.payload_sanitizations;
  auto entry = ReadRdbValue(input, type,
                            {.key = key,
                             .access = access,
                             .limits = call.services.data.dataset.limits,
                             .hash_key = call.db.Data().hash_key(),
                             .dialect = DialectOfPayload(payload)});
  if (!entry) {
    call.services.env.log.Verbose("Internal error in RDB reading offset 0 of a payload of " + call.command.full_name +
                                  " -> " + entry.error().why);
    throw Refusal{refusals::kPayloadFormat};
  }
  return std::move(entry).value();
}

// Returns the absolute deadline, or kNoDeadline if `ttl_ms` is 0. As in Redis, a sum that overflows becomes a past
// deadline.
int64_t RestoredDeadline(int64_t ttl_ms, Deadline deadline, int64_t now_ms) {
  if (ttl_ms == 0) return kNoDeadline;
  if (deadline == Deadline::kAbsolute) return ttl_ms;
  return static_cast<int64_t>(static_cast<uint64_t>(ttl_ms) + static_cast<uint64_t>(now_ms));
}

// Handles a RESTORE whose deadline has already passed: stores nothing, and deletes the old value of the key.
void RestoreExpired(Call& call, KeyEdit& replaced) {
  if (!replaced) return;
  FreeReplaced(call, replaced.Take());
  replaced.ReportChange("del");
  call.effect.Replace(call.services.env.settings.lazyfree_lazy_server_del ? Bytes("UNLINK") : Bytes("DEL"),
                      replaced.Key());
}

// Deletes the key if it has expired, but only if Redis 8.2 or later is emulated. Otherwise RESTORE replaces an expired
// key like any other.
void ExpireBeforeRestore(Call& call, Bytes key) {
  const Dialect& dialect = call.services.env.dialect;
  if (dialect.EmulatesVersion() && dialect.Has("8.2.0")) call.db.Find(key);
}

// Indexes of the words of RESTORE key ttl serialized-value.
constexpr size_t kTtlWord = 2, kPayloadWord = 3;

void RunRestore(Call& call) {
  auto [key, ttl_word, payload] = call.args.Take<Bytes, Bytes, Bytes>();
  RestoreOptions options = ParseRestoreOptions(call.args);
  ExpireBeforeRestore(call, key);
  if (!options.replaces && call.db.Find(key) != nullptr) throw Refusal{refusals::kBusyKey};
  const int64_t ttl_ms = Args::Integer(ttl_word);
  if (ttl_ms < 0) throw Refusal{refusals::kRestoreTtl};
  EntryPtr entry = ReadPayload(call, key, payload, AccessOf(call, options));
  // `older` is the payload of RESTORE in a form that older replicas can also read; nullopt: older replicas can read
  // `payload` itself.
  std::optional<std::string> older;
  if (call.effect.IsRecording()) older = PortablePayload(payload, *entry, CompressionOf(call.services.env.settings));

  const int64_t deadline_ms = RestoredDeadline(ttl_ms, options.deadline, call.now_ms);
  KeyEdit edit = call.db.OpenEvenIfExpired(key);
  if (ttl_ms != 0 && call.HasPassed(deadline_ms)) {
    RestoreExpired(call, edit);
    return call.reply.Ok();
  }
  const bool replaced = static_cast<bool>(edit);
  EntryPtr old_value = replaced ? edit.Take() : nullptr;
  edit.Add(std::move(entry));
  edit.SetDeadline(deadline_ms);
  edit.ReportChange("restore");
  if (replaced) FreeOverwritten(call, edit, std::move(old_value));
  // Propagates the words of the request with these changes: a payload that older replicas can read, an absolute
  // deadline, and REPLACE if a key was replaced. The request may lack REPLACE if the old key had expired, but a replica
  // may still have the expired key.
  const bool lacks_replace = replaced && !options.replaces;
  const bool is_relative = options.deadline == Deadline::kRelative && deadline_ms != kNoDeadline;
  if (older || lacks_replace || is_relative) {
    std::vector<std::string> words(call.args.Words().begin(), call.args.Words().end());
    if (is_relative) {
      words[kTtlWord] = std::to_string(deadline_ms);
      words.emplace_back("ABSTTL");
    }
    if (older) words[kPayloadWord] = std::move(*older);
    if (lacks_replace) words.emplace_back("REPLACE");
    call.effect.Replace(words);
  }
  call.reply.Ok();
}

constexpr char kRestoreComplexity[] = "O(N), N being the size of the value in bytes; O(N*log(N)) for large sorted sets";

struct Restore {
  static constexpr CommandSpec spec = {
      .syntax =
          "RESTORE key ttl:integer serialized-value [REPLACE@3.0.0] [ABSTTL@5.0.0] [IDLETIME "
          "seconds:integer@5.0.0] [FREQ frequency:integer@5.0.0]",
      .summary = "Creates a key with a value that DUMP returned.",
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
      .summary = "Restores a key: an internal command between nodes of a cluster.",
      .since = "3.0.0",
      .complexity = kRestoreComplexity,
      .group = CommandGroup::kServer,
      .flags = kWrite | kDenyOom | kAsking,
      .keys = {Key(1, kKeyOW | kKeyUpdate)},
      .categories = kAclKeyspace | kAclDangerous,
      .syscmd = true};
  static void Run(Call& call) { RunRestore(call); }
};

constexpr auto kDumpCommands = Family<Dump, Restore, RestoreAsking>();

}  // namespace

std::span<const CommandCard> DumpCommands() { return kDumpCommands; }

}  // namespace respite
