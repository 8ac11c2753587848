// DELIFEQ (Valkey), DELEX, DIGEST and MSETEX (Redis 8.4): delete a string that fulfils a condition, return a digest of
// a string, and store several strings with a condition and an expiry. set_options.h has the conditions of SET.
#include <optional>
#include <string>
#include <vector>

#include "server/catalogue/dialect.h"
#include "server/catalogue/key_finder.h"
#include "server/catalogue/refusals.h"
#include "server/commands/common_arguments.h"
#include "server/commands/data/set_options.h"
#include "server/commands/delete_key.h"
#include "server/commands/families.h"
#include "server/execution/call.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kInvalidCondition[] = "ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE";
constexpr char kConditionNeedsString[] = "ERR Key should be of string type if conditions are specified";

}  // namespace
}  // namespace refusals

namespace {

void DeleteKey(Call& call, KeyEdit& edit) {
  const Bytes key = edit.Key();
  call.services.data.lazy_free.Free(edit.Take(), FreeLaterIf(call.services.env.settings.lazyfree_lazy_user_del));
  edit.ReportChange("del");
  call.effect.Replace("DEL", key);
  call.reply.Integer(1);
}

struct DelIfEq {
  static constexpr CommandSpec spec = {.syntax = "DELIFEQ key value",
                                       .summary = "Deletes a key if it holds this string.",
                                       .since = "valkey:9.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kString,
                                       .flags = kWrite | kFast,
                                       .keys = {Key(1, kKeyRM | kKeyDelete)}};
  static void Run(Call& call) {
    auto [key, expected] = call.args.Take<Bytes, Bytes>();
    KeyEdit text = call.db.OpenString(key);
    const ValueCondition condition{ValueCondition::Kind::kEqual, expected};
    condition.IsFulfilledBy(text.entry()) ? DeleteKey(call, text) : call.reply.Integer(0);
  }
};

struct DelEx {
  static constexpr CommandSpec spec = {
      .syntax =
          "DELEX key [condition(IFEQ ifeq-value|IFNE ifne-value|IFDEQ ifdeq-digest:integer@~8.4.0|IFDNE "
          "ifdne-digest:integer@~8.4.0)]",
      .summary = "Deletes a key if its string, or the digest of its string, fulfils a condition.",
      .since = "8.4.0,valkey:9.2.0",
      .complexity = "O(1), with IFDEQ and IFDNE O(N), N being the length of the string",
      .group = CommandGroup::kString,
      .flags = kWrite | kFast,
      .keys = {Key(1, kKeyRW | kKeyDelete | kKeyVariableFlags)},
      .find_keys = KeysOfDelEx};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    if (call.args.AtEnd()) {
      KeyEdit any = call.db.Open(key);
      return any ? DeleteKey(call, any) : call.reply.Integer(0);
    }
    if (call.args.Left() != 2) throw refusals::WrongArity(call.command.full_name);
    // As in Redis, DELEX replies with 0 if the key is missing, without parsing the condition.
    if (call.db.FindAndCountLookup(key) == nullptr) return call.reply.Integer(0);
    KeyEdit text = call.db.Open(key);
    if (text->Type() != ValueType::kString) throw Refusal{refusals::kConditionNeedsString};
    ValueCondition condition{TakeValueConditionKind(call.args)};
    if (condition.kind == ValueCondition::Kind::kNone) throw Refusal{refusals::kInvalidCondition};
    condition.operand = call.args.Next();
    condition.CheckDigest();
    condition.IsFulfilledBy(text.entry()) ? DeleteKey(call, text) : call.reply.Integer(0);
  }
};

struct DigestCommand {
  static constexpr CommandSpec spec = {.syntax = "DIGEST key",
                                       .summary = "Returns the XXH3 hash of the string at a key.",
                                       .since = "8.4.0",
                                       .complexity = "O(N), N being the length of the string",
                                       .group = CommandGroup::kString,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const Entry* entry = call.db.ReadString(call.args.Next());
    entry == nullptr ? call.reply.Null() : call.reply.Bulk(DigestText(*entry));
  }
};

// Propagates MSETEX as a SET for each key, because replicas before Redis 8.4 have no MSETEX.
void ReplaceMSetEx(Call& call, std::span<const Bytes> pairs, const SetOptions& options, int64_t deadline_ms) {
  if (!call.effect.IsRecording()) return;
  for (size_t at = 0; at < pairs.size(); at += 2) {
    if (options.HasTime()) {
      call.effect.Replace("SET", pairs[at], pairs[at + 1], "PXAT", deadline_ms);
    } else if (options.expiry == ExpiryOption::kKeep) {
      call.effect.Replace("SET", pairs[at], pairs[at + 1], "KEEPTTL");
    } else {
      call.effect.Replace("SET", pairs[at], pairs[at + 1]);
    }
  }
}

struct MSetEx {
  static constexpr CommandSpec spec = {
      .syntax =
          "MSETEX numkeys:integer data{key value}... [condition(NX|XX)] [expiration(EX seconds:integer|PX "
          "milliseconds:integer|EXAT unix-time-seconds:unix-time|PXAT unix-time-milliseconds:unix-time|KEEPTTL)]",
      .summary = "Stores strings at several keys with a common expiry, if none or all of the keys exist.",
      .since = "8.4.0,valkey:9.1.0",
      .complexity = "O(N), N being the number of keys",
      .group = CommandGroup::kString,
      .flags = kWrite | kDenyOom,
      .keys = {CountedKeysWithValues(1, 2, kKeyOW | kKeyUpdate)},
      .tips = "request_policy:multi_shard response_policy:all_succeeded"};
  static void Run(Call& call) {
    constexpr int64_t kMostKeys = INT32_MAX;
    const DialectTraits& traits = call.services.env.dialect.traits;
    const size_t count = call.args.NextCount(1, traits.invalid_numkeys_of_msetex);
    if (count > kMostKeys) throw Refusal{traits.invalid_numkeys_of_msetex};
    const std::span<const Bytes> pairs = call.args.NextMany(count * 2, traits.too_few_pairs_of_msetex);
    const SetOptions options = ParseMSetExOptions(call);
    const int64_t deadline_ms = DeadlineOf(call, options);
    call.reply.Integer(Store(call, pairs, options, deadline_ms) ? 1 : 0);
  }

 private:
  // Returns true if all keys of MSETEX meet the condition. Stops at the first key that does not. As in Redis, expired
  // keys after that key are not removed.
  static bool MeetsCondition(Call& call, std::span<const Bytes> pairs, SetCondition condition) {
    if (condition == SetCondition::kAlways) return true;
    for (size_t at = 0; at < pairs.size(); at += 2)
      if ((call.db.Find(pairs[at]) != nullptr) != (condition == SetCondition::kIfPresent)) return false;
    return true;
  }
  static bool Store(Call& call, std::span<const Bytes> pairs, const SetOptions& options, int64_t deadline_ms) {
    const auto for_each = [&](auto&& visit) {
      for (size_t at = 0; at < pairs.size(); at += 2) visit(pairs[at], pairs[at + 1]);
    };
    if (!MeetsCondition(call, pairs, options.condition)) return false;
    for_each([&](Bytes key, Bytes value) {
      KeyEdit text = call.db.Open(key);
      const bool keeps = options.expiry == ExpiryOption::kKeep;
      const std::optional<ValueType> type_before = text ? std::optional(text->Type()) : std::nullopt;
      keeps ? text.Assign(call.Value(value)) : text.Put(call.Value(value), deadline_ms);
      if (type_before) text.ReportOverwrite(*type_before, ValueType::kString);
      const bool expire_comes_first = call.services.env.dialect.traits.msetex_reports_expire_first;
      if (options.HasTime() && expire_comes_first) text.ReportChangeUncounted("expire");
      text.ReportChange("set");
      if (options.HasTime() && !expire_comes_first) text.ReportChangeUncounted("expire");
    });
    ReplaceMSetEx(call, pairs, options, deadline_ms);
    return true;
  }
};

constexpr auto kStringConditionCommands = Family<DelEx, DelIfEq, DigestCommand, MSetEx>();

}  // namespace

std::span<const CommandCard> StringConditionCommands() { return kStringConditionCommands; }

}  // namespace respite
