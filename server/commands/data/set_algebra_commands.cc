// Intersections, unions and differences of sets, with or without storing.
#include <vector>

#include "datatypes/set_algebra.h"
#include "server/commands/data/collection_words.h"
#include "server/commands/delete_key.h"
#include "server/commands/families.h"
#include "server/execution/call.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kTooManyKeys[] = "ERR Number of keys can't be greater than number of args";

}  // namespace
}  // namespace refusals

namespace {

// Reads all sets, even if one is missing and so decides the result. Each key must count as a hit or a miss.
std::vector<Set> ReadSets(Call& call, std::span<const Bytes> keys) {
  std::vector<Set> sets;
  sets.reserve(keys.size());
  for (Bytes key : keys) sets.push_back(call.db.Read<Set>(key));
  return sets;
}

void ReplySet(Call& call, const Set& set) {
  call.reply.Set(set.Size());
  set.ForEach([&](const PackedElement& member) { ReplyMember(call.reply, member); });
}

SetResult NewResult(Call& call, Bytes key) {
  return SetResult(key, call.db.Data().hash_key(), call.db.Limits(), call.db.NewKeyUsage());
}

void StoreResult(Call& call, Bytes destination, SetResult& result, const KeyEvent& event) {
  const size_t size = result.set().Size();
  StoreOrDelete(call, destination, size > 0 ? result.Release() : nullptr, event);
  call.reply.Integer(static_cast<int64_t>(size));
}

// ---------------------------------------------------------------------------------------------------------------------
// Intersections

struct SInter {
  static constexpr CommandSpec spec = {
      .syntax = "SINTER key...",
      .summary = "Returns the intersection of sets.",
      .since = "1.0.0",
      .complexity = "O(N*M), N being the size of the smallest set, M the number of sets",
      .group = CommandGroup::kSet,
      .flags = kReadOnly,
      .keys = {KeyRange(1, -1, 1, kKeyRO | kKeyAccess)},
      .tips = "nondeterministic_output_order"};
  static void Run(Call& call) {
    const std::vector<Set> sets = ReadSets(call, call.args.Rest());
    if (sets.size() == 1) return ReplySet(call, sets[0]);
    std::vector<PackedElement> members;
    Intersect(sets, [&](const PackedElement& member) {
      members.push_back(member);
      return true;
    });
    call.reply.Set(members.size());
    for (const PackedElement& member : members) ReplyMember(call.reply, member);
  }
};

struct SInterCard {
  static constexpr CommandSpec spec = {
      .syntax = "SINTERCARD numkeys:integer key... [LIMIT limit:integer]",
      .summary = "Counts the members of the intersection of sets, up to a limit.",
      .since = "7.0.0",
      .complexity = "O(N*M), N being the size of the smallest set, M the number of sets",
      .group = CommandGroup::kSet,
      .flags = kReadOnly,
      .keys = {CountedKeys(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const size_t key_count = call.args.NextCount(1, refusals::kNumKeysPositive);
    const std::span<const Bytes> keys = call.args.NextMany(key_count, refusals::kTooManyKeys);
    const size_t limit = ParseLimit(call.args);
    const std::vector<Set> sets = ReadSets(call, keys);
    size_t count = 0;
    Intersect(sets, [&](const PackedElement&) { return ++count != limit; });
    call.reply.Integer(static_cast<int64_t>(count));
  }

 private:
  // Parses the optional argument LIMIT of SINTERCARD. Returns 0 if there is no limit.
  static size_t ParseLimit(Args& args) {
    size_t limit = 0;
    while (!args.AtEnd()) {
      if (!args.TakeTokenWith("LIMIT", 1)) throw Refusal{refusals::kSyntax};
      limit = args.NextCount(0, refusals::kLimitNegative);
    }
    return limit;
  }
};

// Computes an intersection. As in Redis, the result begins as an intset if the smallest set is one, otherwise as a
// listpack. It becomes an intset if all its members are integers.
void IntersectInto(Set& result, std::span<const Set> sets) {
  const Set* smallest = SmallestOf(sets);
  if (smallest == nullptr) return;
  result.InitializeForm(smallest->slot().Form() == ValueForm::kIntset ? ValueForm::kIntset : ValueForm::kListpack);
  bool only_integers = true;
  Intersect(sets, [&](const PackedElement& member) {
    only_integers = only_integers && (member.is_integer || ParseInteger(member.text));
    result.Add(member);
    return true;
  });
  if (only_integers) result.TryConvertToIntset();
}

struct SInterStore {
  static constexpr CommandSpec spec = {
      .syntax = "SINTERSTORE destination:key key...",
      .summary = "Stores the intersection of sets.",
      .since = "1.0.0",
      .complexity = "O(N*M), N being the size of the smallest set, M the number of sets",
      .group = CommandGroup::kSet,
      .flags = kWrite | kDenyOom,
      .keys = {Key(1, kKeyRW | kKeyUpdate), KeyRange(2, -1, 1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const Bytes destination = call.args.Next();
    const std::vector<Set> sets = ReadSets(call, call.args.Rest());
    SetResult result = NewResult(call, destination);
    IntersectInto(result.set(), sets);
    StoreResult(call, destination, result, "sinterstore");
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Unions and differences

using SetOperation = void (*)(std::span<const Set> sets, Set& result);

void SendResult(Call& call, SetOperation operate) {
  const std::vector<Set> sets = ReadSets(call, call.args.Rest());
  SetResult result = NewResult(call, "");
  operate(sets, result.set());
  ReplySet(call, result.set());
}

void StoreOperation(Call& call, SetOperation operate, const KeyEvent& event) {
  const Bytes destination = call.args.Next();
  const std::vector<Set> sets = ReadSets(call, call.args.Rest());
  SetResult result = NewResult(call, destination);
  operate(sets, result.set());
  StoreResult(call, destination, result, event);
}

struct SUnion {
  static constexpr CommandSpec spec = {.syntax = "SUNION key...",
                                       .summary = "Returns the union of sets.",
                                       .since = "1.0.0",
                                       .complexity = "O(N), N being the size of all sets together",
                                       .group = CommandGroup::kSet,
                                       .flags = kReadOnly,
                                       .keys = {KeyRange(1, -1, 1, kKeyRO | kKeyAccess)},
                                       .tips = "nondeterministic_output_order"};
  static void Run(Call& call) { SendResult(call, Unite); }
};

struct SUnionStore {
  static constexpr CommandSpec spec = {.syntax = "SUNIONSTORE destination:key key...",
                                       .summary = "Stores the union of sets.",
                                       .since = "1.0.0",
                                       .complexity = "O(N), N being the size of all sets together",
                                       .group = CommandGroup::kSet,
                                       .flags = kWrite | kDenyOom,
                                       .keys = {Key(1, kKeyOW | kKeyUpdate), KeyRange(2, -1, 1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) { StoreOperation(call, Unite, "sunionstore"); }
};

struct SDiff {
  static constexpr CommandSpec spec = {.syntax = "SDIFF key...",
                                       .summary = "Returns the difference of sets.",
                                       .since = "1.0.0",
                                       .complexity = "O(N), N being the size of all sets together",
                                       .group = CommandGroup::kSet,
                                       .flags = kReadOnly,
                                       .keys = {KeyRange(1, -1, 1, kKeyRO | kKeyAccess)},
                                       .tips = "nondeterministic_output_order"};
  static void Run(Call& call) { SendResult(call, Subtract); }
};

struct SDiffStore {
  static constexpr CommandSpec spec = {.syntax = "SDIFFSTORE destination:key key...",
                                       .summary = "Stores the difference of sets.",
                                       .since = "1.0.0",
                                       .complexity = "O(N), N being the size of all sets together",
                                       .group = CommandGroup::kSet,
                                       .flags = kWrite | kDenyOom,
                                       .keys = {Key(1, kKeyOW | kKeyUpdate), KeyRange(2, -1, 1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) { StoreOperation(call, Subtract, "sdiffstore"); }
};

constexpr auto kSetAlgebraCommands = Family<SDiff, SDiffStore, SInter, SInterCard, SInterStore, SUnion, SUnionStore>();

}  // namespace

std::span<const CommandCard> SetAlgebraCommands() { return kSetAlgebraCommands; }

}  // namespace respite
