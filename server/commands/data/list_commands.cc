#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <vector>

#include "server/catalogue/dialect.h"
#include "server/catalogue/key_finder.h"
#include "server/commands/common_arguments.h"
#include "server/commands/data/list_words.h"
#include "server/commands/families.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kIndexOutOfRange[] = "ERR index out of range";
constexpr char kCountNegative[] = "ERR COUNT can't be negative";
constexpr char kMaxLenNegative[] = "ERR MAXLEN can't be negative";
constexpr char kRankZero[] =
    "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from "
    "the end of the list";

}  // namespace
}  // namespace refusals

namespace {

// Converts an index of LINDEX or LSET, which counts from the end if negative. Returns at least `size` if the list has
// no such element.
size_t IndexOf(int64_t index, size_t size) {
  if (index < 0) index += static_cast<int64_t>(size);
  return index < 0 ? size : static_cast<size_t>(index);
}

// ---------------------------------------------------------------------------------------------------------------------
// Pushing

void PushAll(Call& call, Edit<List>& list, ListEnd end) {
  list->Push(end, call.args.Rest());
  list.ReportChange(EventOfPush(end), call.args.Left());
  call.reply.Integer(static_cast<int64_t>(list->Size()));
}

void Push(Call& call, ListEnd end) {
  const Bytes key = call.args.Next();
  size_t room = 0;
  for (const Bytes element : call.args.Rest()) room += element.size() + 2;
  constexpr size_t kMaxCapacity = 4096;
  Edit<List> list = call.db.OpenOrCreate<List>(key, std::min(room, kMaxCapacity));
  PushAll(call, list, end);
}

void PushIfExists(Call& call, ListEnd end) {
  Edit<List> list = call.db.Open<List>(call.args.Next());
  if (!list) return call.reply.Integer(0);
  PushAll(call, list, end);
}

struct LPush {
  static constexpr CommandSpec spec = {
      .syntax = "LPUSH key element...",
      .summary = "Inserts elements at the head of a list, which is created if necessary.",
      .since = "1.0.0",
      .complexity = "O(1) for each element pushed",
      .group = CommandGroup::kList,
      .flags = kWrite | kDenyOom | kFast,
      .keys = {Key(1, kKeyRW | kKeyInsert)}};
  static void Run(Call& call) { Push(call, ListEnd::kHead); }
};

struct RPush {
  static constexpr CommandSpec spec = {
      .syntax = "RPUSH key element...",
      .summary = "Inserts elements at the tail of a list, which is created if necessary.",
      .since = "1.0.0",
      .complexity = "O(1) for each element pushed",
      .group = CommandGroup::kList,
      .flags = kWrite | kDenyOom | kFast,
      .keys = {Key(1, kKeyRW | kKeyInsert)}};
  static void Run(Call& call) { Push(call, ListEnd::kTail); }
};

struct LPushX {
  static constexpr CommandSpec spec = {.syntax = "LPUSHX key element...",
                                       .summary = "Inserts elements at the head of an existing list.",
                                       .since = "2.2.0",
                                       .complexity = "O(1) for each element pushed",
                                       .group = CommandGroup::kList,
                                       .flags = kWrite | kDenyOom | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyInsert)}};
  static void Run(Call& call) { PushIfExists(call, ListEnd::kHead); }
};

struct RPushX {
  static constexpr CommandSpec spec = {.syntax = "RPUSHX key element...",
                                       .summary = "Inserts elements at the tail of an existing list.",
                                       .since = "2.2.0",
                                       .complexity = "O(1) for each element pushed",
                                       .group = CommandGroup::kList,
                                       .flags = kWrite | kDenyOom | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyInsert)}};
  static void Run(Call& call) { PushIfExists(call, ListEnd::kTail); }
};

// ---------------------------------------------------------------------------------------------------------------------
// Popping

void PopElements(Call& call, ListEnd end) {
  const Bytes key = call.args.Next();
  if (call.args.Left() > 1) throw refusals::WrongArity(EventOfPop(end).Name());
  std::optional<size_t> count;
  if (!call.args.AtEnd()) count = call.args.NextCount(0, refusals::kMustBePositive);
  Edit<List> list = call.db.Open<List>(key);
  if (!list) return count ? call.reply.NullArray() : call.reply.Null();
  if (!count) return PopOne(call, list, end);
  if (*count == 0) return call.reply.Array(0);
  PopMany(call, list, end, std::min(*count, list->Size()));
}

struct LPop {
  static constexpr CommandSpec spec = {.syntax = "LPOP key [count:integer@6.2.0]",
                                       .summary = "Removes the first elements of a list and returns them.",
                                       .since = "1.0.0",
                                       .complexity = "O(N) for N elements taken",
                                       .group = CommandGroup::kList,
                                       .flags = kWrite | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyAccess | kKeyDelete)}};
  static void Run(Call& call) { PopElements(call, ListEnd::kHead); }
};

struct RPop {
  static constexpr CommandSpec spec = {.syntax = "RPOP key [count:integer@6.2.0]",
                                       .summary = "Removes the last elements of a list and returns them.",
                                       .since = "1.0.0",
                                       .complexity = "O(N) for N elements taken",
                                       .group = CommandGroup::kList,
                                       .flags = kWrite | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyAccess | kKeyDelete)}};
  static void Run(Call& call) { PopElements(call, ListEnd::kTail); }
};

struct LMPop {
  static constexpr CommandSpec spec = {
      .syntax = "LMPOP numkeys:integer key... where(LEFT|RIGHT) [COUNT count:integer]",
      .summary = "Removes elements from the first non-empty list and returns them with its name.",
      .since = "7.0.0",
      .complexity = "O(N+M) for N keys looked at and M elements taken",
      .group = CommandGroup::kList,
      .flags = kWrite,
      .keys = {CountedKeys(1, kKeyRW | kKeyAccess | kKeyDelete)}};
  static void Run(Call& call) {
    const LMPopOptions options = ParseLMPopOptions(call.args);
    if (!PopFromFirst(call, options)) call.reply.NullArray();
  }
};

// === Moving between lists

void MoveBetweenLists(Call& call, Bytes source_key, ListEnd from, Bytes target_key, ListEnd to) {
  Edit<List> source = call.db.Open<List>(source_key);
  if (!source) return call.reply.Null();
  MoveElement(call, source, from, target_key, to);
}

struct LMove {
  static constexpr CommandSpec spec = {
      .syntax = "LMOVE source:key destination:key wherefrom(LEFT|RIGHT) whereto(LEFT|RIGHT)",
      .summary = "Moves an element from an end of one list to an end of another, and returns it.",
      .since = "6.2.0",
      .complexity = "O(1)",
      .group = CommandGroup::kList,
      .flags = kWrite | kDenyOom,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyDelete), Key(2, kKeyRW | kKeyInsert)}};
  static void Run(Call& call) {
    auto [source, target] = call.args.Take<Bytes, Bytes>();
    const ListEnd from = TakeEnd(call.args);
    const ListEnd to = TakeEnd(call.args);
    MoveBetweenLists(call, source, from, target, to);
  }
};

struct RPopLPush {
  static constexpr CommandSpec spec = {
      .syntax = "RPOPLPUSH source:key destination:key",
      .summary = "Moves the last element of one list to the head of another, and returns it.",
      .since = "1.2.0",
      .complexity = "O(1)",
      .group = CommandGroup::kList,
      .flags = kWrite | kDenyOom,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyDelete), Key(2, kKeyRW | kKeyInsert)},
      .deprecated_since = "6.2.0",
      .replaced_by = "`LMOVE` with the `RIGHT` and `LEFT` arguments"};
  static void Run(Call& call) {
    auto [source, target] = call.args.Take<Bytes, Bytes>();
    MoveBetweenLists(call, source, ListEnd::kTail, target, ListEnd::kHead);
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Reading

struct LLen {
  static constexpr CommandSpec spec = {.syntax = "LLEN key",
                                       .summary = "Counts the elements of a list.",
                                       .since = "1.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kList,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO)}};
  static void Run(Call& call) { call.reply.Integer(static_cast<int64_t>(call.db.Read<List>(call.args.Next()).Size())); }
};

struct LIndex {
  static constexpr CommandSpec spec = {.syntax = "LINDEX key index:integer",
                                       .summary = "Returns the element at an index of a list.",
                                       .since = "1.0.0",
                                       .complexity = "O(N) for N elements between the place and the nearer end",
                                       .group = CommandGroup::kList,
                                       .flags = kReadOnly,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const List list = call.db.Read<List>(call.args.Next());
    if (!list.Exists()) return call.reply.Null();
    ListCursor cursor(list, IndexOf(call.args.NextInteger(), list.Size()));
    cursor.IsValid() ? call.reply.Bulk(cursor.Element()) : call.reply.Null();
  }
};

struct LRange {
  static constexpr CommandSpec spec = {
      .syntax = "LRANGE key start:integer stop:integer",
      .summary = "Returns the elements of a list between two indexes.",
      .since = "1.0.0",
      .complexity = "O(S+N) for N elements returned, S elements away from the nearer end",
      .group = CommandGroup::kList,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    auto [key, start, stop] = call.args.Take<Bytes, int64_t, int64_t>();
    const List list = call.db.Read<List>(key);
    const IndexRange::Part part = IndexRange{start, stop}.ClampTo(list.Size());
    call.reply.Array(part.count);
    list.VisitRange(part.first, part.count, [&](Bytes element) { call.reply.Bulk(element); });
  }
};

struct LPosOptions {
  int64_t rank = 1;  // negative: from the tail
  std::optional<size_t> count;
  size_t max_looks = 0;  // 0: all elements
};

int64_t RankOf(Bytes word) {
  const int64_t rank = Args::Integer(word);
  if (rank == std::numeric_limits<int64_t>::min()) throw Refusal{refusals::kNotLong};
  if (rank == 0) throw Refusal{refusals::kRankZero};
  return rank;
}

LPosOptions ParseLPosOptions(Args& args) {
  LPosOptions options;
  while (!args.AtEnd()) {
    if (args.TakeTokenWith("RANK", 1)) {
      options.rank = RankOf(args.Next());
    } else if (args.TakeTokenWith("COUNT", 1)) {
      options.count = args.NextCount(0, refusals::kCountNegative);
    } else if (args.TakeTokenWith("MAXLEN", 1)) {
      options.max_looks = args.NextCount(0, refusals::kMaxLenNegative);
    } else {
      throw Refusal{refusals::kSyntax};
    }
  }
  return options;
}

// Returns the indexes of the elements that LPOS finds, in the order of its search.
std::vector<size_t> Positions(const List& list, Bytes element, const LPosOptions& options) {
  std::vector<size_t> found;
  const size_t size = list.Size();
  const size_t wanted = options.count.value_or(1);
  const size_t looks = options.max_looks == 0 ? size : std::min(options.max_looks, size);
  const bool forward = options.rank > 0;
  auto skipped = static_cast<size_t>(forward ? options.rank : -options.rank) - 1;
  ListCursor cursor(list, forward ? 0 : size - 1);
  for (size_t i = 0; i < looks; ++i) {
    if (cursor.Element() == element) {
      if (skipped > 0) {
        --skipped;
      } else {
        found.push_back(forward ? i : size - 1 - i);
        if (found.size() == wanted) break;
      }
    }
    forward ? cursor.Next() : cursor.Previous();
  }
  return found;
}

struct LPos {
  static constexpr CommandSpec spec = {
      .syntax = "LPOS key element [RANK rank:integer] [COUNT num-matches:integer] [MAXLEN len:integer]",
      .summary = "Finds the indexes of an element in a list.",
      .since = "6.0.6",
      .complexity = "O(N) for N elements looked at",
      .group = CommandGroup::kList,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    auto [key, element] = call.args.Take<Bytes, Bytes>();
    const LPosOptions options = ParseLPosOptions(call.args);
    const std::vector<size_t> found = Positions(call.db.Read<List>(key), element, options);
    if (!options.count) {
      return found.empty() ? call.reply.Null() : call.reply.Integer(static_cast<int64_t>(found.front()));
    }
    call.reply.Array(found.size());
    for (const size_t index : found) call.reply.Integer(static_cast<int64_t>(index));
  }
};

// === Changing elements

struct LSet {
  static constexpr CommandSpec spec = {.syntax = "LSET key index:integer element",
                                       .summary = "Replaces the element at an index of a list.",
                                       .since = "1.0.0",
                                       .complexity = "O(N) for N elements between the place and the nearer end",
                                       .group = CommandGroup::kList,
                                       .flags = kWrite | kDenyOom,
                                       .keys = {Key(1, kKeyRW | kKeyUpdate)}};
  static void Run(Call& call) {
    Edit<List> list = call.db.Open<List>(call.args.Next());
    if (!list) throw Refusal{refusals::kNoSuchKey};
    auto [index, element] = call.args.Take<int64_t, Bytes>();
    if (!list->Replace(IndexOf(index, list->Size()), element)) throw Refusal{refusals::kIndexOutOfRange};
    list.ReportChange("lset");
    call.reply.Ok();
  }
};

struct LInsert {
  static constexpr CommandSpec spec = {.syntax = "LINSERT key where(BEFORE|AFTER) pivot element",
                                       .summary = "Inserts an element before or after the first one equal to another.",
                                       .since = "2.2.0",
                                       .complexity = "O(N) for N elements before the place",
                                       .group = CommandGroup::kList,
                                       .flags = kWrite | kDenyOom,
                                       .keys = {Key(1, kKeyRW | kKeyInsert)}};
  static void Run(Call& call) {
    auto [key, where, pivot, element] = call.args.Take<Bytes, Bytes, Bytes, Bytes>();
    const bool before = EqualsIgnoreCase(where, "before");
    if (!before && !EqualsIgnoreCase(where, "after")) throw Refusal{refusals::kSyntax};
    Edit<List> list = call.db.Open<List>(key);
    if (!list) return call.reply.Integer(0);
    if (!list->Insert(pivot, before ? ListSide::kBefore : ListSide::kAfter, element)) return call.reply.Integer(-1);
    list.ReportChange("linsert");
    call.reply.Integer(static_cast<int64_t>(list->Size()));
  }
};

struct LRem {
  static constexpr CommandSpec spec = {.syntax = "LREM key count:integer element",
                                       .summary = "Removes elements equal to a given one.",
                                       .since = "1.0.0",
                                       .complexity = "O(N+M) for N elements in the list and M removed",
                                       .group = CommandGroup::kList,
                                       .flags = kWrite,
                                       .keys = {Key(1, kKeyRW | kKeyDelete)}};
  static void Run(Call& call) {
    auto [key, count, element] = call.args.Take<Bytes, int64_t, Bytes>();
    const bool is_least = count == std::numeric_limits<int64_t>::min();
    const bool takes_least = call.services.env.dialect.traits.lrem_takes_any_count || call.unit.IsReplaying();
    if (is_least && !takes_least) throw Refusal{refusals::kNotLong};
    Edit<List> list = call.db.Open<List>(key);
    if (!list) return call.reply.Integer(0);
    const auto magnitude = count < 0 ? 0 - static_cast<uint64_t>(count) : static_cast<uint64_t>(count);
    const size_t most = count == 0 ? list->Size() : magnitude;
    const size_t removed = list->EraseEqual(element, most, count < 0 ? ListEnd::kTail : ListEnd::kHead);
    if (removed > 0) list.ReportChange("lrem", removed);
    if (is_least)
      call.effect.Replace("LREM", key, count + 1, element);  // the same for any list; Redis 7.4 refuses `count`
    call.reply.Integer(static_cast<int64_t>(removed));
  }
};

struct LTrim {
  static constexpr CommandSpec spec = {.syntax = "LTRIM key start:integer stop:integer",
                                       .summary = "Keeps a range of a list and removes the rest.",
                                       .since = "1.0.0",
                                       .complexity = "O(N) for N elements removed",
                                       .group = CommandGroup::kList,
                                       .flags = kWrite,
                                       .keys = {Key(1, kKeyRW | kKeyDelete)}};
  static void Run(Call& call) {
    auto [key, start, stop] = call.args.Take<Bytes, int64_t, int64_t>();
    Edit<List> list = call.db.Open<List>(key);
    if (!list) return call.reply.Ok();
    const size_t size = list->Size();
    const IndexRange::Part kept = IndexRange{start, stop}.ClampTo(size);
    list->EraseRange(0, kept.count == 0 ? size : kept.first);
    list->EraseRange(kept.count, list->Size() - kept.count);
    list.ReportChange("ltrim", size - kept.count);
    call.reply.Ok();
  }
};

constexpr auto kListCommands = Family<LIndex, LInsert, LLen, LMove, LMPop, LPop, LPos, LPush, LPushX, LRange, LRem,
                                      LSet, LTrim, RPop, RPopLPush, RPush, RPushX>();

}  // namespace

std::span<const CommandCard> ListCommands() { return kListCommands; }

}  // namespace respite
