#include <algorithm>
#include <span>

#include "server/commands/arrays/array_words.h"
#include "server/commands/families.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kIndexOverflow[] = "ERR array index overflow";
constexpr char kRangeTooLong[] = "ERR range exceeds maximum of 1000000 items";

}  // namespace
}  // namespace refusals

namespace {

constexpr uint64_t kMaxRange = 1'000'000;  // number of indexes that ARGETRANGE may cover

// ---------------------------------------------------------------------------------------------------------------------
// Setting elements

struct ArSet {
  static constexpr CommandSpec spec = {
      .syntax = "ARSET key index:integer value...",
      .summary = "Sets elements of an array from an index on, and returns how many of them are new.",
      .since = "8.8.0",
      .complexity = "O(N), N being the number of values",
      .group = CommandGroup::kArray,
      .flags = kWrite | kDenyOom | kFast,
      .keys = {Key(1, kKeyRW | kKeyUpdate)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const uint64_t first = TakeArrayIndex(call);
    const std::span<const Bytes> values = call.args.Rest();
    if (values.size() - 1 > ArrayTable::kMaxIndex - first) throw Refusal{refusals::kIndexOverflow};
    Edit<Array> array = call.db.OpenOrCreate<Array>(key);
    int64_t added = 0;
    for (size_t i = 0; i < values.size(); ++i) added += array->Table().Set(first + i, values[i]) ? 1 : 0;
    array.ReportChange("arset", values.size());
    call.reply.Integer(added);
  }
};

struct ArMSet {
  static constexpr CommandSpec spec = {
      .syntax = "ARMSET key data{index:integer value}...",
      .summary = "Sets elements of an array at any indexes, and returns how many of them are new.",
      .since = "8.8.0",
      .complexity = "O(N), N being the number of pairs",
      .group = CommandGroup::kArray,
      .flags = kWrite | kDenyOom | kFast,
      .keys = {Key(1, kKeyRW | kKeyUpdate)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const std::span<const Bytes> pairs = call.args.Rest();
    if (pairs.size() % 2 != 0) throw refusals::WrongArity(call.command.full_name);
    for (size_t i = 0; i < pairs.size(); i += 2) ArrayIndexOf(pairs[i]);
    Edit<Array> array = call.db.OpenOrCreate<Array>(key);
    int64_t added = 0;
    for (size_t i = 0; i < pairs.size(); i += 2) {
      added += array->Table().Set(ArrayIndexOf(pairs[i]), pairs[i + 1]) ? 1 : 0;
    }
    array.ReportChange("armset", pairs.size() / 2);
    call.reply.Integer(added);
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Reading elements

struct ArGet {
  static constexpr CommandSpec spec = {.syntax = "ARGET key index:integer",
                                       .summary = "Returns the element of an array at an index.",
                                       .since = "8.8.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kArray,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const Array array = call.db.Read<Array>(call.args.Next());
    const uint64_t index = TakeArrayIndex(call);
    ReplyElement(call.reply, array.Exists() ? array.Table().Get(index) : nullptr);
  }
};

struct ArMGet {
  static constexpr CommandSpec spec = {.syntax = "ARMGET key index:integer...",
                                       .summary = "Returns the elements of an array at several indexes.",
                                       .since = "8.8.0",
                                       .complexity = "O(N), N being the number of indexes",
                                       .group = CommandGroup::kArray,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const Array array = call.db.Read<Array>(call.args.Next());
    const std::span<const Bytes> indexes = call.args.Rest();
    for (const Bytes word : indexes) ArrayIndexOf(word);
    call.reply.Array(indexes.size());
    for (const Bytes word : indexes) {
      ReplyElement(call.reply, array.Exists() ? array.Table().Get(ArrayIndexOf(word)) : nullptr);
    }
  }
};

struct ArGetRange {
  static constexpr CommandSpec spec = {
      .syntax = "ARGETRANGE key start:integer end:integer",
      .summary = "Returns the elements of an array in a range of indexes, and nulls for indexes without an element.",
      .since = "8.8.0",
      .complexity = "O(N), N being the number of indexes in the range",
      .group = CommandGroup::kArray,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const uint64_t start = TakeArrayIndex(call);
    const uint64_t end = TakeArrayIndex(call);
    const Array array = call.db.Read<Array>(key);
    const uint64_t distance = start <= end ? end - start : start - end;
    if (distance >= kMaxRange) throw Refusal{refusals::kRangeTooLong};
    call.reply.Array(distance + 1);
    uint64_t done = 0;  // number of indexes for which the reply is written
    const auto skip_to = [&](uint64_t count) {
      for (; done < count; ++done) call.reply.Null();
    };
    if (array.Exists()) {
      array.Table().VisitRange(start, end, [&](uint64_t index, const ArrayElement& element) {
        skip_to(index > start ? index - start : start - index);
        ReplyElement(call.reply, &element);
        ++done;
        return true;
      });
    }
    skip_to(distance + 1);
  }
};

struct ArLen {
  static constexpr CommandSpec spec = {.syntax = "ARLEN key",
                                       .summary = "Returns the greatest index of an array plus one.",
                                       .since = "8.8.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kArray,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const Array array = call.db.Read<Array>(call.args.Next());
    ReplyUnsigned(call.reply, array.Exists() ? array.Table().Length() : 0);
  }
};

struct ArCount {
  static constexpr CommandSpec spec = {.syntax = "ARCOUNT key",
                                       .summary = "Counts the elements of an array.",
                                       .since = "8.8.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kArray,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const Array array = call.db.Read<Array>(call.args.Next());
    ReplyUnsigned(call.reply, array.Exists() ? array.Table().Count() : 0);
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Deleting elements

struct ArDel {
  static constexpr CommandSpec spec = {.syntax = "ARDEL key index:integer...",
                                       .summary = "Deletes elements of an array, and returns how many existed.",
                                       .since = "8.8.0",
                                       .complexity = "O(N), N being the number of indexes",
                                       .group = CommandGroup::kArray,
                                       .flags = kWrite | kFast,
                                       .keys = {Key(1, kKeyRW | kKeyDelete)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const std::span<const Bytes> indexes = call.args.Rest();
    for (const Bytes word : indexes) ArrayIndexOf(word);
    Edit<Array> array = call.db.Open<Array>(key);
    if (!array) return call.reply.Integer(0);
    uint64_t deleted = 0;
    for (const Bytes word : indexes) deleted += array->Table().Erase(ArrayIndexOf(word)) ? 1 : 0;
    if (deleted > 0) array.ReportChange("ardel", deleted);
    ReplyUnsigned(call.reply, deleted);
  }
};

struct ArDelRange {
  static constexpr CommandSpec spec = {
      .syntax = "ARDELRANGE key range{start:integer end:integer}...",
      .summary = "Deletes the elements of an array in ranges of indexes, and returns how many existed.",
      .since = "8.8.0",
      .complexity = "O(N), N being the number of elements in the ranges",
      .group = CommandGroup::kArray,
      .flags = kWrite,
      .keys = {Key(1, kKeyRW | kKeyDelete)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const std::span<const Bytes> bounds = call.args.Rest();
    if (bounds.size() % 2 != 0) throw refusals::WrongArity(call.command.full_name);
    for (const Bytes word : bounds) ArrayIndexOf(word);
    Edit<Array> array = call.db.Open<Array>(key);
    if (!array) return call.reply.Integer(0);
    uint64_t deleted = 0;
    for (size_t i = 0; i < bounds.size(); i += 2) {
      const auto [first, last] = std::minmax({ArrayIndexOf(bounds[i]), ArrayIndexOf(bounds[i + 1])});
      deleted += array->Table().EraseRange(first, last);
    }
    if (deleted > 0) array.ReportChange("ardelrange", deleted);
    ReplyUnsigned(call.reply, deleted);
  }
};

constexpr auto kArrayCommands = Family<ArCount, ArDel, ArDelRange, ArGet, ArGetRange, ArLen, ArMGet, ArMSet, ArSet>();

}  // namespace

std::span<const CommandCard> ArrayCommands() { return kArrayCommands; }

}  // namespace respite
