// SINTER, SUNION and SDIFF: intersections, unions and differences of sets. The variants SINTERSTORE … store the result,
// and SINTERCARD … only count it.
#include <algorithm>
#include <memory>
#include <vector>

#include "datatypes/hyperloglog.h"
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

SetBuilder NewResult(Call& call, Bytes key) {
  return SetBuilder(key, call.db.Data().hash_key(), call.db.Limits(), call.db.NewKeyUsage());
}

void StoreResult(Call& call, Bytes destination, SetBuilder& result, const KeyEvent& event) {
  const size_t size = result.set().Size();
  StoreOrDelete(call, destination, size > 0 ? result.Release() : nullptr, event);
  call.reply.Integer(static_cast<int64_t>(size));
}

struct CardOptions {  // the arguments of SINTERCARD, SUNIONCARD and SDIFFCARD
  std::span<const Bytes> keys;
  size_t limit = 0;        // the count ends here; 0: there is no limit
  bool is_approx = false;  // APPROX: the count is estimated
};
enum class Approx : uint8_t { kKnown, kUnknown };  // whether the command has the option APPROX

CardOptions ParseCardOptions(Args& args, Approx approx) {
  CardOptions options;
  const size_t key_count = args.NextCount(1, refusals::kNumKeysPositive);
  options.keys = args.NextMany(key_count, refusals::kTooManyKeys);
  while (!args.AtEnd()) {
    if (approx == Approx::kKnown && args.TakeToken("APPROX")) {
      options.is_approx = true;
      continue;
    }
    if (!args.TakeTokenWith("LIMIT", 1)) throw Refusal{refusals::kSyntax};
    options.limit = args.NextCount(0, refusals::kLimitNegative);
  }
  return options;
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
    const CardOptions options = ParseCardOptions(call.args, Approx::kUnknown);
    const std::vector<Set> sets = ReadSets(call, options.keys);
    size_t count = 0;
    Intersect(sets, [&](const PackedElement&) { return ++count != options.limit; });
    call.reply.Integer(static_cast<int64_t>(count));
  }
};

// Computes the result of SINTERSTORE. As in Redis, the result begins as an intset if the smallest set is one, otherwise
// as a listpack. The result becomes an intset if all its members are integers.
void IntersectInto(Set& result, std::span<const Set> sets) {
  const Set* smallest = SmallestOf(sets);
  if (smallest == nullptr) return;
  result.SetFormWhileEmpty(smallest->slot().Form() == ValueForm::kIntset ? ValueForm::kIntset : ValueForm::kListpack);
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
    SetBuilder result = NewResult(call, destination);
    IntersectInto(result.set(), sets);
    StoreResult(call, destination, result, "sinterstore");
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Unions and differences

using SetOperation = void (*)(std::span<const Set> sets, Set& result);

void SendResult(Call& call, SetOperation operate) {
  const std::vector<Set> sets = ReadSets(call, call.args.Rest());
  SetBuilder result = NewResult(call, "");
  operate(sets, result.set());
  ReplySet(call, result.set());
}

void StoreOperation(Call& call, SetOperation operate, const KeyEvent& event) {
  const Bytes destination = call.args.Next();
  const std::vector<Set> sets = ReadSets(call, call.args.Rest());
  SetBuilder result = NewResult(call, destination);
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

// ---------------------------------------------------------------------------------------------------------------------
// Numbers of members of unions and differences

size_t CountUnion(Call& call, std::span<const Set> sets, size_t limit) {
  SetBuilder result = NewResult(call, "");
  for (const Set& set : sets) {
    const bool all = set.ForEachWhile([&](const PackedElement& member) {
      result.set().Add(member);
      return result.set().Size() != limit;
    });
    if (!all) break;
  }
  return result.set().Size();
}

// SUNIONCARD APPROX: estimates the number of members of the union with the registers of a HyperLogLog, so that no set
// must be built.
size_t EstimateUnion(std::span<const Set> sets) {
  const auto registers = std::make_unique<HllRegisters>();
  for (const Set& set : sets)
    set.ForEach([&](const PackedElement& member) { registers->Add(HllObserve(ElementText(member).View())); });
  return registers->Count();
}

struct SUnionCard {
  static constexpr CommandSpec spec = {.syntax = "SUNIONCARD numkeys:integer key... [APPROX] [LIMIT limit:integer]",
                                       .summary = "Counts the members of the union of sets, up to a limit.",
                                       .since = "8.10.0",
                                       .complexity = "O(N), N being the size of all sets together",
                                       .group = CommandGroup::kSet,
                                       .flags = kReadOnly,
                                       .keys = {CountedKeys(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const CardOptions options = ParseCardOptions(call.args, Approx::kKnown);
    const std::vector<Set> sets = ReadSets(call, options.keys);
    size_t count = options.is_approx ? EstimateUnion(sets) : CountUnion(call, sets, options.limit);
    if (options.limit != 0) count = std::min(count, options.limit);
    call.reply.Integer(static_cast<int64_t>(count));
  }
};

struct SDiffCard {
  static constexpr CommandSpec spec = {.syntax = "SDIFFCARD numkeys:integer key... [LIMIT limit:integer]",
                                       .summary = "Counts the members of the difference of sets, up to a limit.",
                                       .since = "8.10.0",
                                       .complexity = "O(N), N being the size of all sets together",
                                       .group = CommandGroup::kSet,
                                       .flags = kReadOnly,
                                       .keys = {CountedKeys(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const CardOptions options = ParseCardOptions(call.args, Approx::kUnknown);
    const std::vector<Set> sets = ReadSets(call, options.keys);
    std::vector<const Set*> others;
    for (const Set& set : std::span(sets).subspan(1)) others.push_back(&set);
    size_t count = 0;
    MemberFilter(others, MemberFilter::Keep::kIfInNone).Apply(sets[0], [&](const PackedElement&) {
      return ++count != options.limit;
    });
    call.reply.Integer(static_cast<int64_t>(count));
  }
};

constexpr auto kSetAlgebraCommands =
    Family<SDiff, SDiffCard, SDiffStore, SInter, SInterCard, SInterStore, SUnion, SUnionCard, SUnionStore>();

}  // namespace

std::span<const CommandCard> SetAlgebraCommands() { return kSetAlgebraCommands; }

}  // namespace respite
