#include "datatypes/bitmap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/memory.h"
#include "base/random.h"
#include "base/str_cat.h"

namespace respite {
namespace {

std::string RandomText(Random& random, size_t size) {
  // Generates long runs of equal bytes, where searches skip ahead, as well as random bytes.
  const uint64_t kind = random.Below(4);
  std::string text(size, kind == 0 ? '\0' : '\xff');
  for (char& c : text)
    if (kind > 1 || random.Below(size) == 0) c = static_cast<char>(random.Next());
  return text;
}

// The models process one bit at a time.
bool ModelBit(Bytes text, uint64_t at) {
  return at / 8 < text.size() && (static_cast<uint8_t>(text[at / 8]) >> (7 - at % 8) & 1) != 0;
}

uint64_t ModelCount(Bytes text, BitRange range) {
  uint64_t count = 0;
  for (uint64_t at = range.first; at <= range.last; ++at) count += ModelBit(text, at) ? 1 : 0;
  return count;
}

std::optional<uint64_t> ModelFind(Bytes text, BitRange range, Bit wanted) {
  for (uint64_t at = range.first; at <= range.last; ++at)
    if (ModelBit(text, at) == (wanted == Bit::kSet)) return at;
  return std::nullopt;
}

BitRange RandomRange(Random& random, size_t text_size) {
  const uint64_t a = random.Below(text_size * 8);
  const uint64_t b = random.Below(text_size * 8);
  return {std::min(a, b), std::max(a, b)};
}

TEST(BitmapTest, BitsAreCountedFromTheTopOfEachByte) {
  std::string text(3, '\0');
  PutBit(text.data(), 0, Bit::kSet);
  PutBit(text.data(), 15, Bit::kSet);
  PutBit(text.data(), 17, Bit::kSet);
  EXPECT_EQ(text, "\x80\x01\x40");
  PutBit(text.data(), 15, Bit::kClear);
  EXPECT_EQ(text, std::string("\x80\0\x40", 3));
  EXPECT_EQ(BitAt(text, 17), Bit::kSet);
  EXPECT_EQ(BitAt(text, 18), Bit::kClear);
  EXPECT_EQ(BitAt(text, 24), Bit::kClear);
  EXPECT_EQ(BitAt(text, UINT64_MAX), Bit::kClear);
}

TEST(BitmapTest, CountsEveryLength) {
  for (size_t size = 0; size <= 200; ++size) {
    EXPECT_EQ(CountSetBits(std::string(size, '\xff')), size * 8);
    EXPECT_EQ(CountSetBits(std::string(size, '\x10')), size);
    EXPECT_EQ(CountSetBits(std::string(size, '\0')), 0u);
  }
}

TEST(BitmapTest, CountsAndFindsAsTheModelDoes) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  for (int round = 0; round < 20'000; ++round) {
    const std::string text = RandomText(random, 1 + random.Below(80));
    const BitRange range = RandomRange(random, text.size());
    ASSERT_EQ(CountSetBits(text, range), ModelCount(text, range)) << round;
    ASSERT_EQ(CountSetBits(text), ModelCount(text, {0, text.size() * 8 - 1})) << round;
    for (Bit wanted : {Bit::kClear, Bit::kSet})
      ASSERT_EQ(FindBit(text, range, wanted), ModelFind(text, range, wanted))
          << round << ": " << range.first << " to " << range.last << " in " << Quoted(text);
  }
}

char ModelByte(BitOperation operation, char a, char b) {
  switch (operation) {
    case BitOperation::kAnd:
      return static_cast<char>(a & b);
    case BitOperation::kOr:
      return static_cast<char>(a | b);
    default:
      return static_cast<char>(a ^ b);
  }
}

// Returns one bit of the result, computed from the bits of the sources.
bool ModelBit(BitOperation operation, const std::vector<bool>& bits) {
  const auto set = std::ranges::count(bits, true);
  const auto set_in_others = set - (bits[0] ? 1 : 0);
  if (operation == BitOperation::kDiff) return bits[0] && set_in_others == 0;
  if (operation == BitOperation::kDiff1) return !bits[0] && set_in_others > 0;
  if (operation == BitOperation::kAndOr) return bits[0] && set_in_others > 0;
  return set == 1;
}

std::string ModelCompared(BitOperation operation, const std::vector<std::string>& sources, size_t size) {
  std::string result(size, '\0');
  for (uint64_t at = 0; at < size * 8; ++at) {
    std::vector<bool> bits;
    bits.reserve(sources.size());
    for (const std::string& source : sources) bits.push_back(BitAt(source, at) == Bit::kSet);
    if (ModelBit(operation, bits)) PutBit(result.data(), at, Bit::kSet);
  }
  return result;
}

std::string ModelCombined(BitOperation operation, const std::vector<std::string>& sources, size_t size) {
  if (operation >= BitOperation::kDiff) return ModelCompared(operation, sources, size);
  std::string result = sources[0];
  result.resize(size);
  if (operation == BitOperation::kNot)
    for (char& c : result) c = static_cast<char>(~c);
  for (size_t i = 1; i < sources.size(); ++i) {
    std::string source = sources[i];
    source.resize(size);
    for (size_t at = 0; at < size; ++at) result[at] = ModelByte(operation, result[at], source[at]);
  }
  return result;
}

class CombineTest : public testing::TestWithParam<BitOperation> {
 protected:
  // Returns the longest source; there may be several.
  static size_t LongestOf(const std::vector<std::string>& sources) {
    return std::ranges::max_element(sources, {}, &std::string::size)->size();
  }
};
INSTANTIATE_TEST_SUITE_P(Operations, CombineTest,
                         testing::Values(BitOperation::kAnd, BitOperation::kOr, BitOperation::kXor, BitOperation::kNot,
                                         BitOperation::kDiff, BitOperation::kDiff1, BitOperation::kAndOr,
                                         BitOperation::kOne));

TEST_P(CombineTest, AgreesWithTheModelAlsoInPlace) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  for (int round = 0; round < (kIsSanitized ? 100 : 500); ++round) {
    const size_t least = GetParam() >= BitOperation::kDiff ? 2 : 1;
    std::vector<std::string> sources(GetParam() == BitOperation::kNot ? 1 : least + random.Below(4));
    for (std::string& source : sources)
      source = RandomText(random, random.Below(3) == 0 ? random.Below(9000) : random.Below(40));
    const size_t size = LongestOf(sources);
    const std::string expected = ModelCombined(GetParam(), sources, size);

    const std::vector<Bytes> views(sources.begin(), sources.end());
    std::string result(size, '?');
    CombineBits(GetParam(), views, result);
    ASSERT_EQ(result, expected) << round;

    auto longest = std::ranges::max_element(sources, {}, &std::string::size);
    CombineBits(GetParam(), views, *longest);
    ASSERT_EQ(*longest, expected) << round << " in place";
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Fields

BitField Field(char sign, int bits, uint64_t offset) {
  return {.offset = offset, .bits = bits, .sign = sign == 'i' ? FieldSign::kSigned : FieldSign::kUnsigned};
}

TEST(BitFieldTest, LimitsFollowFromTheWidth) {
  EXPECT_EQ(Field('i', 1, 0).Min(), -1);
  EXPECT_EQ(Field('i', 1, 0).Max(), 0);
  EXPECT_EQ(Field('i', 64, 0).Min(), INT64_MIN);
  EXPECT_EQ(Field('i', 64, 0).Max(), INT64_MAX);
  EXPECT_EQ(Field('u', 1, 0).Min(), 0);
  EXPECT_EQ(Field('u', 1, 0).Max(), 1);
  EXPECT_EQ(Field('u', 63, 0).Max(), INT64_MAX);
  EXPECT_EQ(Field('u', 8, 10).LastBit(), 17u);
}

TEST(BitFieldTest, WritesTheHighestBitFirst) {
  std::string text(2, '\0');
  WriteField(text.data(), Field('u', 5, 7), 23);
  EXPECT_EQ(text, "\x01\x70");
  EXPECT_EQ(ReadField(text, Field('u', 5, 7)), 23);
  EXPECT_EQ(ReadField(text, Field('i', 5, 7)), -9);
  EXPECT_EQ(ReadField(text, Field('u', 63, 1000)), 0);
}

TEST(BitFieldTest, ReadsBackWhatWasWrittenAndTouchesNothingElse) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  for (int round = 0; round < 50'000; ++round) {
    const char sign = random.Below(2) == 0 ? 'i' : 'u';
    const int bits = static_cast<int>(1 + random.Below(sign == 'i' ? 64 : 63));
    std::string text = RandomText(random, 20);
    const BitField field = Field(sign, bits, random.Below(160 - static_cast<uint64_t>(bits) + 1));
    const std::string before = text;
    const auto value = static_cast<int64_t>(random.Next());
    WriteField(text.data(), field, value);
    for (uint64_t at = 0; at < 160; ++at) {
      const bool inside = at >= field.offset && at <= field.LastBit();
      const bool expected =
          inside ? (static_cast<uint64_t>(value) >> (field.LastBit() - at) & 1) != 0 : ModelBit(before, at);
      ASSERT_EQ(ModelBit(text, at), expected) << round;
    }
    ASSERT_EQ(ReadField(text, field), ApplyOverflow(field, value, FieldOverflow::kWrap)) << round;
    // Bits after the end are clear.
    const size_t kept = random.Below(21);
    std::string padded = text.substr(0, kept);
    padded.resize(40);
    ASSERT_EQ(ReadField(Bytes(text).substr(0, kept), field), ReadField(padded, field)) << round;
  }
}

TEST(BitFieldTest, OverflowWrapsSaturatesOrFails) {
  const BitField u8 = Field('u', 8, 0);
  const BitField i8 = Field('i', 8, 0);
  EXPECT_EQ(AddToField(u8, 250, 10, FieldOverflow::kWrap), 4);
  EXPECT_EQ(AddToField(u8, 250, 10, FieldOverflow::kSaturate), 255);
  EXPECT_EQ(AddToField(u8, 250, 10, FieldOverflow::kFail), std::nullopt);
  EXPECT_EQ(AddToField(u8, 250, 5, FieldOverflow::kFail), 255);
  EXPECT_EQ(AddToField(u8, 5, -10, FieldOverflow::kWrap), 251);
  EXPECT_EQ(AddToField(u8, 5, -10, FieldOverflow::kSaturate), 0);
  EXPECT_EQ(AddToField(i8, 127, 1, FieldOverflow::kWrap), -128);
  EXPECT_EQ(AddToField(i8, -128, -1, FieldOverflow::kWrap), 127);
  EXPECT_EQ(AddToField(i8, -128, INT64_MIN, FieldOverflow::kSaturate), -128);
  EXPECT_EQ(AddToField(Field('i', 64, 0), INT64_MAX, 1, FieldOverflow::kWrap), INT64_MIN);
  EXPECT_EQ(AddToField(Field('i', 64, 0), INT64_MIN, -1, FieldOverflow::kSaturate), INT64_MIN);
  EXPECT_EQ(AddToField(Field('u', 63, 0), INT64_MAX, INT64_MAX, FieldOverflow::kWrap), INT64_MAX - 1);
  EXPECT_EQ(ApplyOverflow(u8, 256, FieldOverflow::kWrap), 0);
  EXPECT_EQ(ApplyOverflow(u8, -1, FieldOverflow::kSaturate), 255);
  EXPECT_EQ(ApplyOverflow(u8, -1, FieldOverflow::kFail), std::nullopt);
  EXPECT_EQ(ApplyOverflow(i8, -129, FieldOverflow::kSaturate), -128);
  EXPECT_EQ(ApplyOverflow(i8, INT64_MIN, FieldOverflow::kSaturate), 127);
}

}  // namespace
}  // namespace respite
