// Arrays of numbers, which take 1, 2 or 4 bytes per number if this loses nothing.
#include "datatypes/json/json_block.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "datatypes/json/json_parser.h"
#include "datatypes/json/json_path.h"
#include "datatypes/json/json_text.h"

namespace respite {
namespace {

JsonValue ParsedArray(Bytes text) {
  auto value = ParseJson(text);
  EXPECT_TRUE(value.ok()) << text;
  return std::move(value).value();
}

// Returns the bytes per element of an array that repeats `numbers`; 8: the array is not packed.
double WidthOf(const std::string& numbers) {
  std::string text = "[" + numbers;
  for (int i = 0; i < 2000; ++i) text += "," + numbers;
  const JsonValue array = ParsedArray(text + "]");
  EXPECT_EQ(JsonText(array), JsonText(ParsedArray(JsonText(array))));
  EXPECT_TRUE(array.IsConsistent());
  if (!array.IsPacked()) return 8;
  const double bytes = static_cast<double>(array.UsedBytes(0)) / static_cast<double>(array.Size());
  return bytes < 1.4 ? 1 : bytes < 2.7 ? 2 : bytes < 5.4 ? 4 : 8;
}

TEST(JsonBlockTest, NumbersTakeAsManyBytesAsTheyNeed) {
  EXPECT_EQ(WidthOf("0,127,-128"), 1);
  EXPECT_EQ(WidthOf("0,255"), 1);
  EXPECT_EQ(WidthOf("-1,255"), 2);
  EXPECT_EQ(WidthOf("0,65535"), 2);
  EXPECT_EQ(WidthOf("-32768,32767"), 2);
  EXPECT_EQ(WidthOf("-32769"), 4);
  EXPECT_EQ(WidthOf("4294967295,0"), 4);
  EXPECT_EQ(WidthOf("-2147483648,2147483647"), 4);
  EXPECT_EQ(WidthOf("4294967296,0"), 8);
  EXPECT_EQ(WidthOf("4294967295,-1"), 8);
  EXPECT_EQ(WidthOf("0.5,-0.0,65504.0,0.00006103515625,5.9604644775390625e-8"), 2);  // half precision
  EXPECT_EQ(WidthOf("16777215.0,0.1"), 4);
  EXPECT_EQ(WidthOf("1.329227995784916e36,1.0"), 2);                  // 2^120, for which 8 bits of mantissa are enough
  EXPECT_EQ(WidthOf("0.1,0.25,19.98,-7.3"), 2);                       // decimal
  EXPECT_EQ(WidthOf("0.47890135645866394,-0.12345679104328156"), 4);  // all digits of a float
  EXPECT_EQ(WidthOf("0.47890136,-0.12345679,0.1"), 4);                // only its necessary digits
  EXPECT_EQ(WidthOf("0.47890134512093457"), 8);
  EXPECT_EQ(WidthOf("1e-320"), 8);
  EXPECT_EQ(WidthOf("1e300,0.5"), 8);
}

TEST(JsonBlockTest, OtherArraysAreNotPacked) {
  for (const Bytes text : {"[]", "[1]", "[1,2.5]", "[1,\"1\"]", "[1,null]", "[true,false]", "[[1,2],[3]]", "[{},{}]",
                           "[1,9223372036854775807]", "[18446744073709551615,18446744073709551615]"}) {
    EXPECT_FALSE(ParsedArray(text).IsPacked()) << text;
    EXPECT_EQ(JsonText(ParsedArray(text)), text);
  }
}

// Each number of 16 bits is read back as it was, also those whose decimal number takes part in a type.
TEST(JsonBlockTest, AllNumbersOf16BitsAreReadBack) {
  for (const JsonPackedType type :
       {JsonPackedType::kFloat16, JsonPackedType::kBfloat16, JsonPackedType::kDecimal16, JsonPackedType::kBdecimal16}) {
    struct {
      JsonPacked head;
      uint16_t bits;
    } one{{JsonKind::kArray, type, 1}, 0};
    size_t wrong = 0;
    const bool is_half = type == JsonPackedType::kFloat16 || type == JsonPackedType::kDecimal16;
    const uint32_t infinity = is_half ? 0x7c00 : 0x7f80;
    for (uint32_t bits = 0; bits < 65536; ++bits) {
      if ((bits & 0x7fff) >= infinity) continue;
      one.bits = static_cast<uint16_t>(bits);
      const JsonValue number = one.head.At(0);
      one.bits = 0x1234;
      if (!one.head.Put(0, number) || one.bits != bits) ++wrong;
    }
    EXPECT_EQ(wrong, 0u) << static_cast<int>(type);
  }
}

// Random changes of an array, which is compared with a list of texts.
TEST(JsonBlockTest, ArraysAgreeWithAModel) {
  const std::vector<std::vector<std::string>> kinds = {{"1", "-7", "100"},
                                                       {"1", "300", "70000"},
                                                       {"0.5", "0.25"},
                                                       {"0.1", "0.7"},
                                                       {"0.47890136"},
                                                       {"1", "0.5", "1e300"},
                                                       {"null", "\"a longer text\"", "5000000000"}};
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    JsonValue array = JsonValue::EmptyArray();
    std::vector<std::string> model;
    for (int step = 0; step < 600; ++step) {
      const auto& texts = kinds[random.Below(20) == 0 ? random.Below(kinds.size()) : seed % kinds.size()];
      const size_t at = random.Below(model.size() + 1);
      if (random.Below(5) < 3) {
        std::vector<JsonValue> values;
        for (uint64_t i = random.Below(5); i > 0; --i) {
          const std::string& text = texts[random.Below(texts.size())];
          values.push_back(ParsedArray(text));
          model.insert(model.begin() + static_cast<ptrdiff_t>(at + values.size() - 1), text);
        }
        array.Insert(at, values);
      } else if (random.Below(20) == 0) {
        array.EraseIf([](size_t i) { return i % 2 == 0; });
        size_t i = 0;
        std::erase_if(model, [&](const std::string&) { return i++ % 2 == 0; });
      } else {
        const size_t count = random.Below(std::min<size_t>(model.size() - at, 7) + 1);
        array.EraseRange(at, count);
        model.erase(model.begin() + static_cast<ptrdiff_t>(at), model.begin() + static_cast<ptrdiff_t>(at + count));
      }
      ASSERT_TRUE(array.IsConsistent());
      ASSERT_EQ(array.Size(), model.size());
    }
    std::string expected = "[";
    for (const std::string& text : model) expected += (expected.size() > 1 ? "," : "") + text;
    EXPECT_EQ(JsonText(array), expected + "]");
    EXPECT_EQ(JsonText(array.Clone()), expected + "]");
  }
}

// An array that grows by one element at a time is also packed.
TEST(JsonBlockTest, AppendedNumbersArePacked) {
  JsonValue array = JsonValue::EmptyArray();
  for (int i = 0; i < 10'000; ++i) {
    JsonValue number = JsonValue::Integer(i % 100);
    array.Insert(array.Size(), {&number, 1});
  }
  EXPECT_TRUE(array.IsPacked());
  EXPECT_LE(array.UsedBytes(0), 13'000u);
  array.ElementsToChange()[5] = JsonValue::String("x");
  EXPECT_FALSE(array.IsPacked());
  EXPECT_EQ(array.Elements()[4]->AsInteger(), 4);
}

// A path that reads selects copies; one that changes values unpacks only the arrays in which it selects elements.
TEST(JsonBlockTest, OnlyChangesUnpackArrays) {
  for (const Bytes path_text : {"$.a[0]", "$.a[-1,0]", "$.a[1:]", "$.a[*]", "$.a[?(@>1)]", "$..[0]", "$.a.*"}) {
    JsonValue root = ParsedArray(R"({"a":[1,2,3],"b":{"c":[4,5]}})");
    const auto is_packed = [&](Bytes name) { return root.Find(name)->IsPacked(); };
    const auto path = JsonPath::Parse(path_text);
    JsonBudget budget;
    std::string read, changed;
    for (const JsonMatch& match : path.value().Select(root, budget)) read += JsonText(match.Value()) + " ";
    EXPECT_TRUE(is_packed("a")) << path_text;
    for (const JsonMatch& match : path.value().SelectToChange(root, budget)) {
      ASSERT_NE(match.InMemory(), nullptr);
      changed += JsonText(*match.InMemory()) + " ";
    }
    EXPECT_EQ(read, changed) << path_text;
    EXPECT_NE(read, "");
    EXPECT_FALSE(is_packed("a")) << path_text;
    EXPECT_EQ(JsonText(root), R"({"a":[1,2,3],"b":{"c":[4,5]}})");
  }
  JsonValue root = ParsedArray(R"({"a":[1,2,3]})");
  JsonBudget budget;
  EXPECT_EQ(JsonPath::Parse("$..b").value().SelectToChange(root, budget).size(), 0u);
  EXPECT_EQ(JsonPath::Parse("$.a").value().SelectToChange(root, budget).size(), 1u);
  EXPECT_EQ(JsonPath::Parse("$.a[9]").value().SelectToChange(root, budget).size(), 0u);
  EXPECT_TRUE(root.Find("a")->IsPacked());
}

}  // namespace
}  // namespace respite
