// ARINSERT, ARRING, ARNEXT, ARSEEK and ARLASTITEMS: use the cursor of an array, which is where ARINSERT and ARRING
// insert next.
#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "server/commands/arrays/array_words.h"
#include "server/commands/families.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kInsertOverflow[] = "ERR insert index overflow";
constexpr char kBadRingSize[] = "ERR invalid size";
constexpr char kRingSizeNotPositive[] = "ERR size must be positive";
constexpr char kBadItemCount[] = "ERR invalid COUNT";

}  // namespace
}  // namespace refusals

namespace {

// Returns the index of the next insertion. ArrayTable::kMaxIndex + 1 means that no index is left.
uint64_t NextInsert(const ArrayTable& table) { return table.LastInsert() ? *table.LastInsert() + 1 : 0; }

struct ArInsert {
  static constexpr CommandSpec spec = {
      .syntax = "ARINSERT key value...",
      .summary = "Adds elements to an array at its cursor, and returns the index of the last.",
      .since = "8.8.0",
      .complexity = "O(N), N being the number of values",
      .group = CommandGroup::kArray,
      .flags = kWrite | kDenyOom | kFast,
      .keys = {Key(1, kKeyRW | kKeyUpdate)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const std::span<const Bytes> values = call.args.Rest();
    Edit<Array> array = call.db.OpenOrCreate<Array>(key);
    ArrayTable& table = array->Table();
    const uint64_t first = NextInsert(table);
    if (first > ArrayTable::kMaxIndex || values.size() - 1 > ArrayTable::kMaxIndex - first) {
      throw Refusal{refusals::kInsertOverflow};
    }
    for (size_t i = 0; i < values.size(); ++i) table.Set(first + i, values[i]);
    table.SetLastInsert(first + values.size() - 1);
    array.ReportChange("arinsert", values.size());
    ReplyUnsigned(call.reply, first + values.size() - 1);
  }
};

// Gives a ring another size. As in Redis, the length of the array counts as the old size. Moves the newest elements
// that fit to the indexes 0, 1, …, and removes all others. Changes nothing if the ring becomes larger and has not
// wrapped, that is, if the next index is the length or more, or if LastInsert() is nullopt (as after ARSEEK to 0).
void ResizeRing(ArrayTable& table, uint64_t size) {
  const uint64_t span = table.Length();
  if (span == 0 || size == span) return;
  const bool is_shrunk = size < span;
  const bool has_wrapped = table.LastInsert() && NextInsert(table) < span;
  if (!is_shrunk && !has_wrapped) return;
  const uint64_t newest = table.LastInsert() ? *table.LastInsert() % span : span - 1;
  table.UnrollRing(newest, span, std::min(size, span));
}

struct ArRing {
  static constexpr CommandSpec spec = {
      .syntax = "ARRING key size:integer value...",
      .summary = "Adds elements to an array as to a ring buffer of a given size, and returns the index of the last.",
      .since = "8.8.0",
      .complexity = "O(M), M being the number of values; O(N+M) if the size changes, N being the greater of both sizes",
      .group = CommandGroup::kArray,
      .flags = kWrite | kDenyOom,
      .keys = {Key(1, kKeyRW | kKeyUpdate)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const int64_t wanted_size = call.args.NextInteger(refusals::kBadRingSize);
    if (wanted_size <= 0) throw Refusal{refusals::kRingSizeNotPositive};
    const auto size = static_cast<uint64_t>(wanted_size);
    Edit<Array> array = call.db.OpenOrCreate<Array>(key);
    ArrayTable& table = array->Table();
    ResizeRing(table, size);
    const std::span<const Bytes> values = call.args.Rest();
    for (const Bytes value : values) {
      const uint64_t index = NextInsert(table) % size;
      table.Set(index, value);
      table.SetLastInsert(index);
    }
    array.ReportChange("arring", values.size());
    ReplyUnsigned(call.reply, *table.LastInsert());
  }
};

struct ArNext {
  static constexpr CommandSpec spec = {.syntax = "ARNEXT key",
                                       .summary = "Returns the index where ARINSERT would add an element.",
                                       .since = "8.8.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kArray,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const Array array = call.db.Read<Array>(call.args.Next());
    const uint64_t next = array.Exists() ? NextInsert(array.Table()) : 0;
    if (next > ArrayTable::kMaxIndex) return call.reply.Null();
    ReplyUnsigned(call.reply, next);
  }
};

struct ArSeek {
  static constexpr CommandSpec spec = {.syntax = "ARSEEK key index:integer",
                                       .summary = "Sets the index where ARINSERT and ARRING add the next element.",
                                       .since = "8.8.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kArray,
                                       .flags = kWrite | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyUpdate)}};
  static void Run(Call& call) {
    auto [key, word] = call.args.Take<Bytes, Bytes>();
    // Every uint64 is accepted. The greatest one, kMaxIndex + 1, puts the cursor after the last index, so that ARNEXT
    // replies null.
    const auto index = ParseUnsigned(word);
    if (!index) throw Refusal{refusals::kBadArrayIndex};
    Edit<Array> array = call.db.Open<Array>(key);
    if (!array) return call.reply.Integer(0);
    array->Table().SetLastInsert(*index == 0 ? std::nullopt : std::optional<uint64_t>(*index - 1));
    array.ReportChange("arseek");
    call.reply.Integer(1);
  }
};

// Returns for ARLASTITEMS the elements at the last `count` indexes, the newest first. The newest is at LastInsert or,
// if there is none, at the last index of the array. An index without an element counts, and gives null. After index 0,
// continues with the last index of the array.
std::vector<const ArrayElement*> NewestElements(const ArrayTable& table, uint64_t count) {
  std::vector<const ArrayElement*> newest(count, nullptr);
  const uint64_t anchor = table.LastInsert().value_or(table.Length() - 1);
  const uint64_t before_wrap = anchor < count ? anchor + 1 : count;  // indexes from the anchor down to 0
  table.VisitRange(anchor, anchor - (before_wrap - 1), [&](uint64_t index, const ArrayElement& element) {
    newest[anchor - index] = &element;
    return true;
  });
  if (before_wrap == count) return newest;
  const uint64_t last = table.Length() - 1;
  const uint64_t lowest = last - std::min(last, count - before_wrap - 1);
  table.VisitRange(last, lowest, [&](uint64_t index, const ArrayElement& element) {
    newest[before_wrap + last - index] = &element;
    return true;
  });
  return newest;
}

struct ArLastItems {
  static constexpr CommandSpec spec = {
      .syntax = "ARLASTITEMS key count:integer [REV]",
      .summary = "Returns the elements that were added last, the oldest of them first.",
      .since = "8.8.0",
      .complexity = "O(N), N being the count",
      .group = CommandGroup::kArray,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const int64_t wanted = call.args.NextInteger(refusals::kBadItemCount);
    if (wanted <= 0) return call.reply.Array(0);  // as in Redis, before all other checks
    if (call.args.Left() > 1) throw refusals::WrongArity(call.command.full_name);
    const bool is_reverse = call.args.TakeToken("REV");
    call.args.ExpectEnd();
    const Array array = call.db.Read<Array>(key);
    if (!array.Exists()) return call.reply.Array(0);
    auto newest = NewestElements(array.Table(), std::min(static_cast<uint64_t>(wanted), array.Table().Count()));
    if (!is_reverse) std::ranges::reverse(newest);
    call.reply.Array(newest.size());
    for (const ArrayElement* element : newest) ReplyElement(call.reply, element);
  }
};

constexpr auto kArrayRingCommands = Family<ArInsert, ArLastItems, ArNext, ArRing, ArSeek>();

}  // namespace

std::span<const CommandCard> ArrayRingCommands() { return kArrayRingCommands; }

}  // namespace respite
