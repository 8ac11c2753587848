// ARSCAN and AROP, which go through the elements of a range, and ARINFO. (ARGREP is in array_grep_command.cc.)
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>

#include "server/commands/arrays/array_words.h"
#include "server/commands/families.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kUnknownOperation[] = "ERR unknown operation";
constexpr char kMatchNeedsValue[] = "ERR MATCH requires a value argument";

}  // namespace
}  // namespace refusals

namespace {

struct ArScan {
  static constexpr CommandSpec spec = {
      .syntax = "ARSCAN key start:integer end:integer [LIMIT limit:integer]",
      .summary = "Returns the elements of an array in a range of indexes, with their indexes.",
      .since = "8.8.0",
      .complexity = "O(N), N being the number of elements in the range",
      .group = CommandGroup::kArray,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const uint64_t start = TakeArrayIndex(call);
    const uint64_t end = TakeArrayIndex(call);
    uint64_t limit = UINT64_MAX;
    if (call.args.Left() == 2) {
      if (!call.args.TakeToken("LIMIT")) throw Refusal{refusals::kSyntax};
      limit = TakeArrayLimit(call.args);
    }
    if (!call.args.AtEnd()) throw refusals::WrongArity(call.command.full_name);
    const Array array = call.db.Read<Array>(key);
    if (!array.Exists()) return call.reply.Array(0);
    uint64_t left = std::min(limit, array.Table().CountRange(start, end));
    call.reply.Array(left);
    if (left == 0) return;
    array.Table().VisitRange(start, end, [&](uint64_t index, const ArrayElement& element) {
      ReplyPair(call.reply, index, element);
      return --left > 0;
    });
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Aggregation

// The operations of AROP. kMatch: counts the elements that equal a value. kUsed: counts all elements.
enum class ArrayOperation : uint8_t { kSum, kMin, kMax, kAnd, kOr, kXor, kMatch, kUsed };

// Combines the numbers of an array for AROP. Ignores elements that are no numbers.
class ArrayNumbers {
 public:
  explicit ArrayNumbers(ArrayOperation operation) : operation_(operation) {}

  void Add(const ArrayElement& element) {
    const ArrayText text(element);
    if (const auto integer = element.IsInteger() ? element.Integer() : ParseInteger(text.View())) {
      return IsBitwise() ? AddBits(*integer) : AddNumber(static_cast<long double>(*integer));
    }
    if (const auto stored = StoredDoubleOf(text.View())) return AddFraction(*stored);
    if (const auto number = ParseLongDouble(text.View())) AddFraction(*number);
  }

  void WriteResult(Reply& reply) const {
    if (!has_number_) return reply.Null();
    if (IsBitwise()) return reply.Integer(bits_);
    reply.Bulk(NumberText());
  }

 private:
  bool IsBitwise() const {
    return operation_ == ArrayOperation::kAnd || operation_ == ArrayOperation::kOr ||
           operation_ == ArrayOperation::kXor;
  }

  // Adds a number with a fraction. As in Redis, the bitwise operations of AROP use only its integral part, and ignore
  // numbers that do not fit into 64 bits.
  void AddFraction(long double number) {
    if (!IsBitwise()) return AddNumber(number);
    constexpr auto kMin = static_cast<long double>(std::numeric_limits<int64_t>::min());
    constexpr auto kMax = static_cast<long double>(std::numeric_limits<int64_t>::max());
    if (number >= kMin && number <= kMax && number < -kMin) AddBits(static_cast<int64_t>(number));
  }

  void AddBits(int64_t bits) {
    if (!std::exchange(has_number_, true)) {
      bits_ = bits;
    } else if (operation_ == ArrayOperation::kAnd) {
      bits_ &= bits;
    } else if (operation_ == ArrayOperation::kOr) {
      bits_ |= bits;
    } else {
      bits_ ^= bits;
    }
  }

  void AddNumber(long double number) {
    if (!std::exchange(has_number_, true)) {
      number_ = number;
    } else if (operation_ == ArrayOperation::kSum) {
      number_ += number;
    } else if (operation_ == ArrayOperation::kMin ? number < number_ : number > number_) {
      number_ = number;
    }
  }

  // Returns the result of AROP as text: at most 17 significant digits, with an exponent if the number is very large or
  // very small.
  std::string NumberText() const {
    if (std::isnan(number_)) return "nan";
    if (std::isinf(number_)) return number_ > 0 ? "inf" : "-inf";
    std::array<char, 64> text;
    const int size = std::snprintf(text.data(), text.size(), "%.17Lg", number_);
    return {text.data(), static_cast<size_t>(size)};
  }

  const ArrayOperation operation_;
  bool has_number_ = false;  // false: no element so far is a number
  int64_t bits_ = 0;         // result of a bitwise operation
  long double number_ = 0;   // result of another operation
};

ArrayOperation TakeOperation(Call& call) {
  constexpr std::array<Bytes, 8> kNames = {"SUM", "MIN", "MAX", "AND", "OR", "XOR", "MATCH", "USED"};
  const Bytes word = call.args.Next();
  for (size_t i = 0; i < kNames.size(); ++i)
    if (EqualsIgnoreCase(word, kNames[i])) return static_cast<ArrayOperation>(i);
  throw Refusal{refusals::kUnknownOperation};
}

struct ArOp {
  static constexpr CommandSpec spec = {
      .syntax = "AROP key start:integer end:integer operation(SUM|MIN|MAX|AND|OR|XOR|match{MATCH value}|USED)",
      .summary = "Combines the elements of an array in a range of indexes, or counts them.",
      .since = "8.8.0",
      .complexity = "O(N), N being the number of elements in the range",
      .group = CommandGroup::kArray,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)}};

  static int64_t CountEqual(const ArrayTable& table, uint64_t start, uint64_t end, Bytes text) {
    int64_t count = 0;
    table.VisitRange(start, end, [&](uint64_t, const ArrayElement& element) {
      count += ArrayText(element).View() == text ? 1 : 0;
      return true;
    });
    return count;
  }

  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const uint64_t start = TakeArrayIndex(call);
    const uint64_t end = TakeArrayIndex(call);
    const ArrayOperation operation = TakeOperation(call);
    const bool is_match = operation == ArrayOperation::kMatch;
    if (is_match && call.args.Left() != 1) throw Refusal{refusals::kMatchNeedsValue};
    if (!is_match && !call.args.AtEnd()) throw refusals::WrongArity(call.command.full_name);
    const Array array = call.db.Read<Array>(key);
    const ArrayTable none;
    const ArrayTable& table = array.Exists() ? array.Table() : none;
    if (is_match) return call.reply.Integer(CountEqual(table, start, end, call.args.Next()));
    if (operation == ArrayOperation::kUsed) return ReplyUnsigned(call.reply, table.CountRange(start, end));
    ArrayNumbers numbers(operation);
    table.VisitRange(start, end, [&](uint64_t, const ArrayElement& element) {
      numbers.Add(element);
      return true;
    });
    numbers.WriteResult(call.reply);
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// ARINFO

// ARINFO counts slices, which are pieces of an array in Redis. This server stores arrays differently, so it counts each
// range of 4096 indexes that has elements as a slice, and a slice with more than 10 elements as dense.
struct ArInfo {
  static constexpr CommandSpec spec = {.syntax = "ARINFO key [FULL]",
                                       .summary = "Describes an array.",
                                       .since = "8.8.0",
                                       .complexity = "O(1); O(N) with FULL, N being the number of slices",
                                       .group = CommandGroup::kArray,
                                       .flags = kReadOnly,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};

  static double Ratio(uint64_t part, uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  }
  static void Field(Reply& reply, Bytes name, uint64_t value) {
    reply.Bulk(name);
    ReplyUnsigned(reply, value);
  }
  static void Field(Reply& reply, Bytes name, double value) {
    reply.Bulk(name);
    reply.Double(value);
  }
  static void WriteSliceStats(Reply& reply, const ArrayTable::SliceStats& stats) {
    Field(reply, "dense-slices", stats.dense);
    Field(reply, "sparse-slices", stats.sparse);
    Field(reply, "avg-dense-size", Ratio(stats.dense_span, stats.dense));
    Field(reply, "avg-dense-fill", Ratio(stats.dense_elements, stats.dense_span));
    Field(reply, "avg-sparse-size", Ratio(stats.sparse_elements, stats.sparse));
  }

  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const bool is_full = call.args.TakeToken("FULL");
    call.args.ExpectEnd();
    const Array array = call.db.Read<Array>(key);
    if (!array.Exists()) throw Refusal{refusals::kNoSuchKey};
    const ArrayTable& table = array.Table();
    const bool has_next = table.LastInsert() && *table.LastInsert() < ArrayTable::kMaxIndex;
    call.reply.Map(is_full ? 12 : 7);
    Field(call.reply, "count", table.Count());
    Field(call.reply, "len", table.Length());
    Field(call.reply, "next-insert-index", has_next ? *table.LastInsert() + 1 : 0);
    Field(call.reply, "slices", table.Slices());
    Field(call.reply, "directory-size", table.Slices());
    Field(call.reply, "super-dir-entries", uint64_t{0});
    Field(call.reply, "slice-size", ArrayTable::kSliceIndexes);
    if (is_full) WriteSliceStats(call.reply, table.MeasureSlices());
  }
};

constexpr auto kArraySearchCommands = Family<ArInfo, ArOp, ArScan>();

}  // namespace

std::span<const CommandCard> ArraySearchCommands() { return kArraySearchCommands; }

}  // namespace respite
