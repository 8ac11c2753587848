// BITCOUNT, BITFIELD, BITFIELD_RO, BITOP, BITPOS, GETBIT and SETBIT: read and write the bits of strings, or integers of
// several bits. datatypes/bitmap.h does the work on bits.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "datatypes/bitmap.h"
#include "server/catalogue/dialect.h"
#include "server/catalogue/key_finder.h"
#include "server/catalogue/refusals.h"
#include "server/commands/families.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kBitOffset[] = "ERR bit offset is not an integer or out of range";
constexpr char kBitValue[] = "ERR bit is not an integer or out of range";
constexpr char kBitWanted[] = "ERR The bit argument must be 1 or 0.";
constexpr char kBitOpNotKeys[] = "ERR BITOP NOT must be called with a single source key.";
Refusal BitOpNeedsTwo(Bytes operation) {
  return {"ERR BITOP " + ToUpper(operation) + " must be called with at least two source keys."};
}
constexpr char kFieldType[] =
    "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.";
constexpr char kFieldOverflow[] = "ERR Invalid OVERFLOW type specified";
constexpr char kFieldReadOnly[] = "ERR BITFIELD_RO only supports the GET subcommand";

}  // namespace
}  // namespace refusals

namespace {

// Returns an offset in bits that a client gave. Throws a Refusal if the offset is negative or beyond the longest
// possible string.
uint64_t CheckedOffset(const Call& call, int64_t offset) {
  if (offset < 0 || static_cast<uint64_t>(offset) / 8 >= call.MaxStringBytes()) throw Refusal{refusals::kBitOffset};
  return static_cast<uint64_t>(offset);
}

Bit BitOf(int64_t value) { return value == 0 ? Bit::kClear : Bit::kSet; }

// Creates the string or extends it, so that it has the bit `last_bit`. Returns its bytes for writing.
std::span<char> WithCapacityFor(KeyEdit& bitmap, uint64_t last_bit) {
  if (!bitmap) bitmap.Put(StringContent::Raw(""));
  return bitmap.Grow(std::max<size_t>(bitmap->TextSize(), last_bit / 8 + 1));
}

// ---------------------------------------------------------------------------------------------------------------------
// Single bits

struct SetBit {
  static constexpr CommandSpec spec = {.syntax = "SETBIT key offset:integer value:integer",
                                       .summary = "Sets or clears one bit of a string, which grows if necessary.",
                                       .since = "2.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kBitmap,
                                       .flags = kWrite | kDenyOom,
                                       .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const uint64_t offset = CheckedOffset(call, call.args.NextInteger(refusals::kBitOffset));
    const int64_t value = call.args.NextInteger(refusals::kBitValue);
    if (value != 0 && value != 1) throw Refusal{refusals::kBitValue};
    KeyEdit bitmap = call.db.OpenString(key);
    const size_t old_size = bitmap ? bitmap->TextSize() : 0;
    const std::span<char> text = WithCapacityFor(bitmap, offset);
    const Bit old = BitAt({text.data(), text.size()}, offset);
    if (offset / 8 >= old_size || old != BitOf(value)) {
      PutBit(text.data(), offset, BitOf(value));
      bitmap.ReportChange("setbit");
    }
    call.reply.Integer(old == Bit::kSet ? 1 : 0);
  }
};

struct GetBit {
  static constexpr CommandSpec spec = {.syntax = "GETBIT key offset:integer",
                                       .summary = "Returns one bit of a string.",
                                       .since = "2.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kBitmap,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const uint64_t offset = CheckedOffset(call, call.args.NextInteger(refusals::kBitOffset));
    const Entry* entry = call.db.ReadString(key);
    if (entry == nullptr) return call.reply.Integer(0);
    call.reply.Integer(BitAt(StringText(*entry).View(), offset) == Bit::kSet ? 1 : 0);
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Ranges of bits

enum class RangeUnit : uint8_t { kByte, kBit };

RangeUnit TakeRangeUnit(Args& args) {
  if (args.TakeToken("BIT")) return RangeUnit::kBit;
  if (args.TakeToken("BYTE")) return RangeUnit::kByte;
  throw Refusal{refusals::kSyntax};
}

// A range of BITCOUNT or BITPOS as the client wrote it. Each end may be negative (counted from the end of the string)
// or beyond the string.
struct GivenRange {
  int64_t first = 0;
  std::optional<int64_t> last = {};  // nullopt: the end of the string
  RangeUnit unit = RangeUnit::kByte;

  // Returns whether both ends are negative and in the wrong order. Such a range contains no bit, whatever the string's
  // length is.
  bool RunsBackwards() const { return first < 0 && last && *last < 0 && first > *last; }
};

// Takes the end of a range of BITPOS or BITCOUNT and its optional unit. As Redis does, checks the unit before the end.
GivenRange TakeEndAfterUnit(Args& args, GivenRange words) {
  const Bytes last = args.Next();
  if (!args.AtEnd()) words.unit = TakeRangeUnit(args);
  words.last = Args::Integer(last);
  return words;
}

// Converts the client's range for a string of this size. Returns nullopt if the range contains no bit of the string.
std::optional<BitRange> BitRangeOf(const GivenRange& words, size_t text_size) {
  const auto size = static_cast<int64_t>(words.unit == RangeUnit::kBit ? text_size * 8 : text_size);
  int64_t first = words.first;
  int64_t last = words.last.value_or(-1);
  if (first < 0) first = std::max<int64_t>(size + first, 0);
  if (last < 0) last = std::max<int64_t>(size + last, 0);
  last = std::min(last, size - 1);
  if (first > last) return std::nullopt;
  const auto from = static_cast<uint64_t>(first);
  const auto to = static_cast<uint64_t>(last);
  return words.unit == RangeUnit::kBit ? BitRange{from, to} : BitRange{from * 8, to * 8 + 7};
}

struct BitCount {
  static constexpr CommandSpec spec = {
      .syntax = "BITCOUNT key [range{start:integer end:integer [unit(BYTE|BIT)@7.0.0]}]",
      .summary = "Counts the bits that are set in a string or in part of it.",
      .since = "2.6.0",
      .complexity = "O(N)",
      .group = CommandGroup::kBitmap,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    std::optional<GivenRange> words;
    if (call.services.env.dialect.traits.checks_bit_ranges_first) words = TakeWords(call);
    const Entry* entry = call.db.ReadString(key);
    if (entry == nullptr) return call.reply.Integer(0);  // Redis 7.2: without checking the other arguments
    if (!words) words = TakeWords(call);
    call.reply.Integer(static_cast<int64_t>(Count(*words, StringText(*entry).View())));
  }

 private:
  static GivenRange TakeWords(Call& call) {
    Args& args = call.args;
    const DialectTraits& traits = call.services.env.dialect.traits;
    if (args.AtEnd()) return {};
    const bool is_open = args.Left() == 1 && traits.bitcount_takes_start_alone;
    if (!is_open && args.Left() != 2 && args.Left() != 3) throw Refusal{refusals::kSyntax};
    GivenRange words{.first = args.NextInteger()};
    if (is_open) return words;
    if (traits.bitcount_reads_unit_before_end) return TakeEndAfterUnit(args, words);
    words.last = args.NextInteger();
    if (words.RunsBackwards() && !traits.checks_bit_ranges_first) return words;  // Redis 7.2: without checking the unit
    if (!args.AtEnd()) words.unit = TakeRangeUnit(args);
    return words;
  }
  static uint64_t Count(const GivenRange& words, Bytes text) {
    if (words.RunsBackwards()) return 0;
    const auto range = BitRangeOf(words, text.size());
    return range ? CountSetBits(text, *range) : 0;
  }
};

struct BitPos {
  static constexpr CommandSpec spec = {
      .syntax = "BITPOS key bit:integer [range{start:integer [end-unit-block{end:integer [unit(BYTE|BIT)@7.0.0]}]}]",
      .summary = "Finds the first bit that is set, or clear, in a string or in part of it.",
      .since = "2.8.7",
      .complexity = "O(N)",
      .group = CommandGroup::kBitmap,
      .flags = kReadOnly,
      .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    auto [key, bit] = call.args.Take<Bytes, int64_t>();
    if (bit != 0 && bit != 1) throw Refusal{refusals::kBitWanted};
    std::optional<GivenRange> words;
    if (call.services.env.dialect.traits.checks_bit_ranges_first) words = TakeWords(call.args);
    const Entry* entry = call.db.ReadString(key);
    if (entry == nullptr)
      return call.reply.Integer(bit == 0 ? 0 : -1);  // Redis 7.2: without checking the other arguments
    if (!words) words = TakeWords(call.args);
    call.reply.Integer(Position(*words, StringText(*entry).View(), BitOf(bit)));
  }

 private:
  static GivenRange TakeWords(Args& args) {
    if (args.Left() > 3) throw Refusal{refusals::kSyntax};
    GivenRange words;
    if (!args.AtEnd()) words.first = args.NextInteger();
    return args.AtEnd() ? words : TakeEndAfterUnit(args, words);
  }
  static int64_t Position(const GivenRange& words, Bytes text, Bit wanted) {
    const auto range = BitRangeOf(words, text.size());
    if (!range) return -1;
    if (const auto found = FindBit(text, *range, wanted)) return static_cast<int64_t>(*found);
    // BITPOS returns the first bit after the string if a clear bit is wanted and the client gave no end: clear bits
    // follow the string. Otherwise it returns -1.
    return wanted == Bit::kSet || words.last ? -1 : static_cast<int64_t>(range->last + 1);
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Combining strings

BitOperation TakeOperation(Args& args) {
  if (args.TakeToken("AND")) return BitOperation::kAnd;
  if (args.TakeToken("OR")) return BitOperation::kOr;
  if (args.TakeToken("XOR")) return BitOperation::kXor;
  if (args.TakeToken("NOT")) return BitOperation::kNot;
  if (args.TakeToken("DIFF")) return BitOperation::kDiff;
  if (args.TakeToken("DIFF1")) return BitOperation::kDiff1;
  if (args.TakeToken("ANDOR")) return BitOperation::kAndOr;
  if (args.TakeToken("ONE")) return BitOperation::kOne;
  throw Refusal{refusals::kSyntax};
}

bool IsNewOperation(BitOperation operation) {  // since Redis 8.2
  return operation == BitOperation::kDiff || operation == BitOperation::kDiff1 || operation == BitOperation::kAndOr ||
         operation == BitOperation::kOne;
}

void CheckSources(BitOperation operation, Bytes name, size_t sources) {
  if (operation == BitOperation::kNot && sources != 1) throw Refusal{refusals::kBitOpNotKeys};
  const bool compares =
      operation == BitOperation::kDiff || operation == BitOperation::kDiff1 || operation == BitOperation::kAndOr;
  if (compares && sources < 2) throw refusals::BitOpNeedsTwo(name);
}

struct BitOp {
  static constexpr CommandSpec spec = {.syntax =
                                           "BITOP operation(AND|OR|XOR|NOT|DIFF@~8.2.0|DIFF1@~8.2.0|ANDOR@~8.2.0|"
                                           "ONE@~8.2.0) destkey:key key...",
                                       .summary = "Combines strings bit by bit and stores the result.",
                                       .since = "2.6.0",
                                       .complexity = "O(N)",
                                       .group = CommandGroup::kBitmap,
                                       .flags = kWrite | kDenyOom,
                                       .keys = {Key(2, kKeyOW | kKeyUpdate), KeyRange(3, -1, 1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const BitOperation operation = TakeOperation(call.args);
    const Bytes target = call.args.Next();
    CheckSources(operation, call.args[1], call.args.Left());
    // Finds all source keys of BITOP before reading their texts. Looking up an expired key frees its entry and may move
    // others, which would invalidate a view of a text.
    std::vector<const Entry*> entries;
    for (Bytes key : call.args.Rest()) entries.push_back(call.db.FindStringAndCountLookup(key));
    KeyEdit edit = call.db.Open(target);
    const Sources sources(entries);
    const size_t size = sources.LongestSize();
    if (size == 0) {
      Delete(call, edit);
    } else {
      const std::optional<ValueType> type_before = edit ? std::optional(edit->Type()) : std::nullopt;
      Store(edit, operation, sources);
      if (type_before) edit.ReportOverwrite(*type_before, ValueType::kString);
      edit.ReportChange("set");
      // Propagates a newer operation of BITOP as SET with the result, because replicas before Redis 8.2 know only AND,
      // OR, XOR and NOT.
      if (IsNewOperation(operation) && call.effect.IsRecording())
        call.effect.Replace("SET", target, StringText(*edit).View());
    }
    call.reply.Integer(static_cast<int64_t>(size));
  }

 private:
  // The texts of the source keys of BITOP. A missing key has an empty text.
  class Sources {
   public:
    explicit Sources(const std::vector<const Entry*>& entries) {
      texts_.reserve(entries.size());
      for (const Entry* entry : entries)
        if (entry != nullptr) texts_.emplace_back(*entry);
      size_t next = 0;
      for (const Entry* entry : entries) views_.push_back(entry == nullptr ? Bytes() : texts_[next++].View());
    }
    std::span<const Bytes> Views() const { return views_; }
    size_t LongestSize() const {
      return std::ranges::max(views_, {}, [](Bytes view) { return view.size(); }).size();
    }

   private:
    std::vector<StringText> texts_;  // integers are formatted here
    std::vector<Bytes> views_;
  };

  static void Delete(Call& call, KeyEdit& target) {
    if (!target) return;
    target.Take();
    target.ReportChange("del");
    call.effect.Replace("DEL", target.Key());
  }
  // Returns the bytes of the target's old value if the result of BITOP can be written over them: a string of this size.
  // Otherwise returns an empty span.
  static std::span<char> ReusableText(KeyEdit& target, size_t size) {
    if (!target || target->Type() != ValueType::kString || target->TextSize() != size) return {};
    return target.TryGrow(size);
  }
  static void Store(KeyEdit& target, BitOperation operation, const Sources& sources) {
    const size_t size = sources.LongestSize();
    // BITOP overwrites the old value if it has the same length, because memory that is new from the kernel would take
    // longer.
    if (const std::span<char> old = ReusableText(target, size); !old.empty()) {
      CombineBits(operation, sources.Views(), old);
      target.SetDeadline(kNoDeadline);
    } else if (size <= StringContent::kInlineMax) {
      std::string result(size, '\0');
      CombineBits(operation, sources.Views(), result);
      target.Put(StringContent::Raw(result));
    } else {
      BlobRef result = BlobRef::OfSize(size, size);
      CombineBits(operation, sources.Views(), {result.Data(), size});
      target.Put(StringContent::FromBlob(std::move(result)));
    }
  }
};

// ---------------------------------------------------------------------------------------------------------------------
//
// Integer fields of bits (BITFIELD)

struct FieldOperation {
  enum class Kind : uint8_t { kGet, kSet, kIncrBy };

  Kind kind = Kind::kGet;
  FieldOverflow overflow = FieldOverflow::kWrap;
  BitField field = {};
  int64_t value = 0;  // value to set or to add
};

FieldOverflow TakeOverflow(Args& args) {
  if (args.TakeToken("WRAP")) return FieldOverflow::kWrap;
  if (args.TakeToken("SAT")) return FieldOverflow::kSaturate;
  if (args.TakeToken("FAIL")) return FieldOverflow::kFail;
  throw Refusal{refusals::kFieldOverflow};
}

BitField TakeFieldType(Args& args) {
  const Bytes word = args.Next();
  const bool is_signed = word.starts_with('i');
  if (!is_signed && !word.starts_with('u')) throw Refusal{refusals::kFieldType};
  const int64_t bits = Args::Integer(word.substr(1), refusals::kFieldType);
  if (bits < 1 || bits > (is_signed ? 64 : 63)) throw Refusal{refusals::kFieldType};
  return {.bits = static_cast<int>(bits), .sign = is_signed ? FieldSign::kSigned : FieldSign::kUnsigned};
}

// Takes the offset of a field of BITFIELD, in bits. A number after `#` counts fields of this width: `#7` is the eighth
// field.
uint64_t TakeFieldOffset(Call& call, const BitField& field) {
  const Bytes word = call.args.Next();
  if (!word.starts_with('#')) return CheckedOffset(call, Args::Integer(word, refusals::kBitOffset));
  const auto number = static_cast<uint64_t>(Args::Integer(word.substr(1), refusals::kBitOffset));
  // As in Redis, the product of a BITFIELD offset may overflow, and a very large number then becomes a small offset.
  return CheckedOffset(call, static_cast<int64_t>(number * static_cast<uint64_t>(field.bits)));
}

FieldOperation TakeFieldOperation(Call& call, FieldOverflow overflow) {
  using Kind = FieldOperation::Kind;
  FieldOperation operation{.overflow = overflow};
  if (call.args.TakeTokenWith("GET", 2)) {
    operation.kind = Kind::kGet;
  } else if (call.args.TakeTokenWith("SET", 3)) {
    operation.kind = Kind::kSet;
  } else if (call.args.TakeTokenWith("INCRBY", 3)) {
    operation.kind = Kind::kIncrBy;
  } else {
    throw Refusal{refusals::kSyntax};
  }
  operation.field = TakeFieldType(call.args);
  operation.field.offset = TakeFieldOffset(call, operation.field);
  if (operation.kind != Kind::kGet) operation.value = call.args.NextInteger();
  return operation;
}

std::vector<FieldOperation> TakeFieldOperations(Call& call) {
  std::vector<FieldOperation> operations;
  FieldOverflow overflow = FieldOverflow::kWrap;
  while (!call.args.AtEnd()) {
    if (call.args.TakeTokenWith("OVERFLOW", 1)) {
      overflow = TakeOverflow(call.args);
    } else {
      operations.push_back(TakeFieldOperation(call, overflow));
    }
  }
  return operations;
}

bool OnlyReads(const std::vector<FieldOperation>& operations) {
  return std::ranges::all_of(operations, [](const auto& each) { return each.kind == FieldOperation::Kind::kGet; });
}

void ReplyBitFields(Call& call, Bytes key, const std::vector<FieldOperation>& operations) {
  const Entry* entry = call.db.ReadString(key);
  std::optional<StringText> text;
  if (entry != nullptr) text.emplace(*entry);
  call.reply.Array(operations.size());
  for (const FieldOperation& operation : operations)
    call.reply.Integer(ReadField(text ? text->View() : Bytes(), operation.field));
}

// kNotWritten: GET, or OVERFLOW FAIL has refused the value. kSame: the written value equals the old one.
enum class FieldOutcome : uint8_t { kNotWritten, kSame, kChanged };

// Executes one operation of BITFIELD, and writes its result to the reply.
FieldOutcome Execute(const FieldOperation& operation, std::span<char> text, Reply& reply) {
  const BitField& field = operation.field;
  const int64_t old_value = ReadField({text.data(), text.size()}, field);
  if (operation.kind == FieldOperation::Kind::kGet) {
    reply.Integer(old_value);
    return FieldOutcome::kNotWritten;
  }
  const bool adds = operation.kind == FieldOperation::Kind::kIncrBy;
  const auto new_value = adds ? AddToField(field, old_value, operation.value, operation.overflow)
                              : ApplyOverflow(field, operation.value, operation.overflow);
  if (!new_value) {
    reply.Null();
    return FieldOutcome::kNotWritten;
  }
  reply.Integer(adds ? *new_value : old_value);
  WriteField(text.data(), field, *new_value);
  return *new_value == old_value ? FieldOutcome::kSame : FieldOutcome::kChanged;
}

void WriteBitFields(Call& call, Bytes key, const std::vector<FieldOperation>& operations) {
  uint64_t last_bit = 0;
  for (const FieldOperation& operation : operations)
    if (operation.kind != FieldOperation::Kind::kGet) last_bit = std::max(last_bit, operation.field.LastBit());
  KeyEdit bitmap = call.db.OpenString(key);
  const size_t old_size = bitmap ? bitmap->TextSize() : 0;
  const std::span<char> text = WithCapacityFor(bitmap, last_bit);
  const bool grew = text.size() != old_size;

  call.reply.Array(operations.size());
  uint64_t changes = 0;
  for (const FieldOperation& operation : operations) {
    const FieldOutcome outcome = Execute(operation, text, call.reply);
    // As in Redis, a write of BITFIELD that leaves its field as it was counts as a change if the string grew.
    if (outcome == FieldOutcome::kChanged || (grew && outcome == FieldOutcome::kSame)) ++changes;
  }
  if (changes == 0 && !grew) return;
  bitmap.ReportChange("setbit", std::max<uint64_t>(changes, 1));
}

struct BitFieldCommand {
  static constexpr CommandSpec spec = {
      .syntax =
          "BITFIELD key [operation(GET get-block{encoding offset:integer}|write{[OVERFLOW "
          "overflow-block(WRAP|SAT|FAIL)] write-operation(SET set-block{encoding offset:integer "
          "value:integer}|INCRBY incrby-block{encoding offset:integer increment:integer})})...]",
      .summary = "Reads, sets and adds to integers of any width at any bit of a string.",
      .since = "3.2.0",
      .complexity = "O(1), for each integer",
      .group = CommandGroup::kBitmap,
      .flags = kWrite | kDenyOom,
      .keys = {Key(1, kKeyRW | kKeyAccess | kKeyUpdate | kKeyVariableFlags)},
      .find_keys = KeysOfBitField};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const std::vector<FieldOperation> operations = TakeFieldOperations(call);
    OnlyReads(operations) ? ReplyBitFields(call, key, operations) : WriteBitFields(call, key, operations);
  }
};

struct BitFieldRo {
  static constexpr CommandSpec spec = {.syntax = "BITFIELD_RO key [GET... get-block{encoding offset:integer}]",
                                       .summary = "Reads integers of any width at any bit of a string.",
                                       .since = "6.0.0",
                                       .complexity = "O(1), for each integer",
                                       .group = CommandGroup::kBitmap,
                                       .flags = kReadOnly | kFast,
                                       .keys = {Key(1, kKeyRO | kKeyAccess)}};
  static void Run(Call& call) {
    const Bytes key = call.args.Next();
    const std::vector<FieldOperation> operations = TakeFieldOperations(call);
    if (!OnlyReads(operations)) throw Refusal{refusals::kFieldReadOnly};
    ReplyBitFields(call, key, operations);
  }
};

constexpr auto kBitmapCommands = Family<BitCount, BitFieldCommand, BitFieldRo, BitOp, BitPos, GetBit, SetBit>();

}  // namespace

std::span<const CommandCard> BitmapCommands() { return kBitmapCommands; }

}  // namespace respite
