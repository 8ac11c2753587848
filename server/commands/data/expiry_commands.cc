#include <algorithm>
#include <cstdint>

#include "server/commands/common_arguments.h"
#include "server/commands/delete_key.h"
#include "server/commands/families.h"
#include "server/execution/call.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kExpireNxWithOthers[] = "ERR NX and XX, GT or LT options at the same time are not compatible";
constexpr char kExpireGtWithLt[] = "ERR GT and LT options at the same time are not compatible";
Refusal UnsupportedOption(Bytes option) { return {"ERR Unsupported option " + std::string(option)}; }

}  // namespace
}  // namespace refusals

namespace {

struct ExpireConditions {
  bool only_without = false;  // NX
  bool only_with = false;     // XX
  bool only_later = false;    // GT
  bool only_sooner = false;   // LT
};

ExpireConditions ParseExpireConditions(std::span<const Bytes> words) {
  ExpireConditions conditions;
  for (Bytes word : words) {
    if (EqualsIgnoreCase(word, "NX")) {
      conditions.only_without = true;
    } else if (EqualsIgnoreCase(word, "XX")) {
      conditions.only_with = true;
    } else if (EqualsIgnoreCase(word, "GT")) {
      conditions.only_later = true;
    } else if (EqualsIgnoreCase(word, "LT")) {
      conditions.only_sooner = true;
    } else {
      throw refusals::UnsupportedOption(word);
    }
  }
  if (conditions.only_without && (conditions.only_with || conditions.only_later || conditions.only_sooner)) {
    throw Refusal{refusals::kExpireNxWithOthers};
  }
  if (conditions.only_later && conditions.only_sooner) throw Refusal{refusals::kExpireGtWithLt};
  return conditions;
}

// Returns whether the options NX, XX, GT and LT of EXPIRE allow the new deadline. A key without a deadline counts as
// one that expires infinitely late.
bool Allow(const ExpireConditions& conditions, int64_t old_ms, int64_t new_ms) {
  const bool timed = old_ms != kNoDeadline;
  if (conditions.only_without && timed) return false;
  if (conditions.only_with && !timed) return false;
  if (conditions.only_later && (!timed || new_ms <= old_ms)) return false;
  return !(conditions.only_sooner && timed && new_ms >= old_ms);
}

int64_t AbsoluteMs(const Call& call, Bytes word, TimeUnit unit, TimeBase base) {
  int64_t ms = Args::Integer(word);
  if (__builtin_mul_overflow(ms, unit == TimeUnit::kSeconds ? 1000 : 1, &ms) ||
      __builtin_add_overflow(ms, base == TimeBase::kNow ? call.now_ms : 0, &ms)) {
    throw refusals::InvalidExpireOf(call);
  }
  return ms;
}

// Implements EXPIRE and its variants. As Redis does, checks the options before the time.
void SetExpiry(Call& call, TimeUnit unit, TimeBase base) {
  auto [key, time] = call.args.Take<Bytes, Bytes>();
  const ExpireConditions conditions = ParseExpireConditions(call.args.Rest());
  const int64_t deadline_ms = AbsoluteMs(call, time, unit, base);
  KeyEdit edit = call.db.Open(key);
  if (!edit || !Allow(conditions, edit->Deadline(), deadline_ms)) return call.reply.Integer(0);
  if (call.HasPassed(deadline_ms)) {
    DeleteAsExpired(call, edit);
  } else {
    // A replayed EXPIRE, or the source of an import (import-mode), may set a past deadline without deleting the key. A
    // negative deadline is stored as 0, because a negative value could be kNoDeadline.
    const int64_t kept_ms = std::max<int64_t>(deadline_ms, 0);
    edit.SetDeadline(kept_ms);
    edit.ReportChange("expire");
    call.effect.Replace("PEXPIREAT", key, kept_ms);
  }
  call.reply.Integer(1);
}

int64_t RoundedSeconds(int64_t ms) {
  // As Redis does for TTL and EXPIRETIME, adds half a second without checking for overflow. So the latest deadlines are
  // shown as negative numbers.
  return static_cast<int64_t>(static_cast<uint64_t>(ms) + 500) / 1000;
}

// Implements TTL, EXPIRETIME and their variants.
void ReplyExpiry(Call& call, TimeUnit unit, TimeBase base) {
  constexpr int64_t kNoKey = -2;
  const Entry* entry = call.db.LookUpNoTouch(call.args.Next());
  if (entry == nullptr) return call.reply.Integer(kNoKey);
  if (entry->Deadline() == kNoDeadline) return call.reply.Integer(kNoDeadlineReply);
  // The remaining time can be negative, because the import source sees expired keys (import-mode). TTL replies with 0
  // for such keys.
  const int64_t ms = std::max<int64_t>(entry->Deadline() - (base == TimeBase::kNow ? call.now_ms : 0), 0);
  call.reply.Integer(unit == TimeUnit::kSeconds ? RoundedSeconds(ms) : ms);
}

struct Expire {
  static constexpr CommandSpec spec = {.syntax = "EXPIRE key seconds:integer [condition(NX|XX|GT|LT)@7.0.0]",
                                       .summary = "Lets a key expire after some seconds.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kGeneric,
                                       .flags = kWrite | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyUpdate)},
                                       .former_arity = {"7.0.0", 3}};
  static void Run(Call& call) { SetExpiry(call, TimeUnit::kSeconds, TimeBase::kNow); }
};

struct PExpire {
  static constexpr CommandSpec spec = {.syntax = "PEXPIRE key milliseconds:integer [condition(NX|XX|GT|LT)@7.0.0]",
                                       .summary = "Lets a key expire after some milliseconds.",
                                       .since = "2.6.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kGeneric,
                                       .flags = kWrite | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyUpdate)},
                                       .former_arity = {"7.0.0", 3}};
  static void Run(Call& call) { SetExpiry(call, TimeUnit::kMilliseconds, TimeBase::kNow); }
};

struct ExpireAt {
  static constexpr CommandSpec spec = {
      .syntax = "EXPIREAT key unix-time-seconds:unix-time [condition(NX|XX|GT|LT)@7.0.0]",
      .summary = "Lets a key expire at a unix time in seconds.",
      .since = "1.2.0",
      .complexity = "O(1)",
      .group = CommandGroup::kGeneric,
      .flags = kWrite | kFast,
      .keys = {Key(1, kKeyRW | kKeyUpdate)},
      .former_arity = {"7.0.0", 3}};
  static void Run(Call& call) { SetExpiry(call, TimeUnit::kSeconds, TimeBase::kEpoch); }
};

struct PExpireAt {
  static constexpr CommandSpec spec = {
      .syntax = "PEXPIREAT key unix-time-milliseconds:unix-time [condition(NX|XX|GT|LT)@7.0.0]",
      .summary = "Lets a key expire at a unix time in milliseconds.",
      .since = "2.6.0",
      .complexity = "O(1)",
      .group = CommandGroup::kGeneric,
      .flags = kWrite | kFast,
      .keys = {Key(1, kKeyRW | kKeyUpdate)},
      .former_arity = {"7.0.0", 3}};
  static void Run(Call& call) { SetExpiry(call, TimeUnit::kMilliseconds, TimeBase::kEpoch); }
};

struct Ttl {
  static constexpr CommandSpec spec = {.syntax = "TTL key",
                                       .summary = "Tells in how many seconds a key expires.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kGeneric,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)},
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call) { ReplyExpiry(call, TimeUnit::kSeconds, TimeBase::kNow); }
};

struct PTtl {
  static constexpr CommandSpec spec = {.syntax = "PTTL key",
                                       .summary = "Tells in how many milliseconds a key expires.",
                                       .since = "2.6.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kGeneric,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)},
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call) { ReplyExpiry(call, TimeUnit::kMilliseconds, TimeBase::kNow); }
};

struct ExpireTime {
  static constexpr CommandSpec spec = {.syntax = "EXPIRETIME key",
                                       .summary = "Tells the unix time in seconds at which a key expires.",
                                       .since = "7.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kGeneric,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) { ReplyExpiry(call, TimeUnit::kSeconds, TimeBase::kEpoch); }
};

struct PExpireTime {
  static constexpr CommandSpec spec = {.syntax = "PEXPIRETIME key",
                                       .summary = "Tells the unix time in milliseconds at which a key expires.",
                                       .since = "7.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kGeneric,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) { ReplyExpiry(call, TimeUnit::kMilliseconds, TimeBase::kEpoch); }
};

struct Persist {
  static constexpr CommandSpec spec = {.syntax = "PERSIST key",
                                       .summary = "Removes the deadline of a key.",
                                       .since = "2.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kGeneric,
                                       .flags = kWrite | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyUpdate)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    KeyEdit edit = call.db.Open(key);
    if (!edit || edit->Deadline() == kNoDeadline) return call.reply.Integer(0);
    edit.SetDeadline(kNoDeadline);
    edit.ReportChange("persist");
    call.reply.Integer(1);
  }
};

constexpr auto kExpiryCommands =
    Family<Expire, ExpireAt, ExpireTime, Persist, PExpire, PExpireAt, PExpireTime, PTtl, Ttl>();

}  // namespace

std::span<const CommandCard> ExpiryCommands() { return kExpiryCommands; }

}  // namespace respite
