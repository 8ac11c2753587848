#include "datatypes/json/json_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "base/random.h"
#include "base/str_cat.h"
#include "datatypes/json/json_parser.h"
#include "datatypes/json/json_text.h"

namespace respite {
namespace {

JsonValue Parsed(Bytes text) {
  auto value = ParseJson(text);
  EXPECT_TRUE(value.ok()) << text << ": " << (value.ok() ? "" : value.error());
  return value.ok() ? std::move(value).value() : JsonValue();
}

std::string Reprinted(Bytes text) { return JsonText(Parsed(text)); }

std::string RefusalOf(Bytes text) {
  const auto value = ParseJson(text);
  return value.ok() ? "accepted: " + JsonText(value.value()) : value.error();
}

TEST(JsonValueTest, NumbersKeepKindAndValue) {
  for (const int64_t number : {int64_t{0}, int64_t{-1}, (int64_t{1} << 60) - 1, int64_t{1} << 60, -(int64_t{1} << 60),
                               -(int64_t{1} << 60) - 1, INT64_MAX, INT64_MIN}) {
    const JsonValue value = JsonValue::Integer(number);
    EXPECT_EQ(value.Kind(), JsonKind::kInteger);
    EXPECT_EQ(value.AsInteger(), number);
    EXPECT_EQ(value.Clone().AsInteger(), number);
  }
  for (const double number :
       {0.0, -0.0, 1.0, -1.5, 19.99, 1e30, 1e300, 1e-300, 5e-324, 1.7976931348623157e308, std::ldexp(1.0, -127),
        std::ldexp(1.0, -128), std::ldexp(1.0, 128), -std::ldexp(1.5, 127)}) {
    const JsonValue value = JsonValue::Number(number);
    EXPECT_EQ(value.Kind(), JsonKind::kNumber);
    EXPECT_EQ(value.AsNumber(), number);
    EXPECT_EQ(std::signbit(value.AsNumber()), std::signbit(number));
  }
  EXPECT_EQ(JsonValue::Unsigned(UINT64_MAX).Kind(), JsonKind::kUnsigned);
  EXPECT_EQ(JsonValue::Unsigned(UINT64_MAX).AsUnsigned(), UINT64_MAX);
  EXPECT_EQ(JsonValue::Unsigned(5).Kind(), JsonKind::kInteger);
}

TEST(JsonValueTest, NumbersHaveTheirShortestText) {
  EXPECT_EQ(Reprinted("[0, -0, 0.0, -0.0, 1.0, 1e2, 1E+2, 0.1, 19.99, 1.5e-7]"),
            "[0,-0.0,0.0,-0.0,1.0,100.0,100.0,0.1,19.99,1.5e-7]");
  EXPECT_EQ(Reprinted("[1e15, 1e16, 123456789012345680000, 0.00001, 0.000001, 1e300, 5e-324]"),
            "[1000000000000000.0,1e16,1.2345678901234568e20,0.00001,1e-6,1e300,5e-324]");
  EXPECT_EQ(Reprinted("[9223372036854775807, 9223372036854775808, 18446744073709551615, 18446744073709551616]"),
            "[9223372036854775807,9223372036854775808,18446744073709551615,1.8446744073709552e19]");
  EXPECT_EQ(Reprinted("[-9223372036854775808, -9223372036854775809]"), "[-9223372036854775808,-9.223372036854776e18]");
  EXPECT_EQ(Reprinted("[1e-400, -1e-400]"), "[0.0,-0.0]");
}

TEST(JsonValueTest, TextsOfAllLengths) {
  for (const size_t size : {0u, 1u, 6u, 7u, 8u, 127u, 128u, 16383u, 16384u, 100000u}) {
    const std::string text(size, 'x');
    const JsonValue value = JsonValue::String(text);
    EXPECT_EQ(value.AsString(), text);
    EXPECT_EQ(value.Clone().AsString(), text);
    EXPECT_EQ(value.UsedBytes(0) == 0, size <= JsonValue::kShortMax);
  }
  EXPECT_EQ(Reprinted(R"("a\"b\\c\/\b\f\n\r\t\u0001\u00e9\ud83d\ude00")"),
            "\"a\\\"b\\\\c/\\b\\f\\n\\r\\t\\u0001\xc3\xa9\xf0\x9f\x98\x80\"");
}

TEST(JsonParserTest, RefusesWhatIsNotJson) {
  for (const Bytes text : {"",    " ",           "[1,]",        "{\"a\":1,}", "{a:1}",    "NaN",          "Infinity",
                           "-",   "01",          "1.",          ".5",         "+1",       "'a'",          "[1 2]",
                           "tru", "\"\\ud800\"", "\"\\ude00\"", "\"\x01\"",   "\"\xff\"", "\"\xc0\x80\"", "// c\n1",
                           "1 1", "{\"a\"}",     "[",           "{",          "\"a"}) {
    EXPECT_FALSE(ParseJson(text).ok()) << text;
  }
  EXPECT_FALSE(ParseJson(Bytes("1\0 2", 4)).ok());
  EXPECT_EQ(RefusalOf("1e400"), "number out of range at line 1 column 5");
  EXPECT_EQ(RefusalOf("{\n \"a\": x}"), "expected value at line 2 column 7");
}

TEST(JsonParserTest, LimitsDepth) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(Parsed(nested(JsonValue::kMaxDepth)).Depth(), JsonValue::kMaxDepth);
  EXPECT_THAT(RefusalOf(nested(JsonValue::kMaxDepth + 1)), testing::StartsWith("recursion limit exceeded"));
  EXPECT_FALSE(ParseJson(std::string(1'000'000, '[')).ok());
}

TEST(JsonValueTest, OfRepeatedNamesTheLastValueCounts) {
  EXPECT_EQ(Reprinted(R"({"b":1,"a":2,"b":3})"), R"({"b":3,"a":2})");
  std::string text = "{", expected = "{";
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 100; ++i) {
      text += "\"name" + std::to_string(i) + "\":" + std::to_string(round * 1000 + i) + ",";
      if (round == 0) expected += "\"name" + std::to_string(i) + "\":" + std::to_string(1000 + i) + ",";
    }
  }
  text.back() = '}';
  expected.back() = '}';
  const JsonValue value = Parsed(text);
  EXPECT_TRUE(value.IsConsistent());
  EXPECT_EQ(JsonText(value), expected);
}

// Names with common beginnings, NUL bytes and repetitions, of many lengths.
TEST(JsonValueTest, LargeObjectsAreSortedByName) {
  Random random(44);
  for (const size_t common : {0u, 7u, 8u, 9u, 40u}) {
    std::vector<JsonValue> pairs;
    std::vector<std::pair<std::string, int64_t>> model;
    for (int i = 0; i < 3000; ++i) {
      std::string name(random.Below(4) == 0 ? 0 : common, 'p');
      for (uint64_t size = random.Below(12); size > 0; --size) name += Bytes("\0ab\xff", 4)[random.Below(4)];
      pairs.push_back(JsonValue::String(name));
      pairs.push_back(JsonValue::Integer(i));
      const auto known = std::ranges::find(model, name, &std::pair<std::string, int64_t>::first);
      if (known == model.end()) {
        model.emplace_back(name, i);
      } else {
        known->second = i;
      }
    }
    const JsonValue object = JsonValue::ObjectOf(pairs);
    ASSERT_TRUE(object.IsConsistent());
    ASSERT_TRUE(object.Clone().IsConsistent());
    ASSERT_EQ(object.Size(), model.size());
    for (size_t i = 0; i < model.size(); ++i) {
      ASSERT_EQ(object.Members()[i].name.AsString(), model[i].first);
      ASSERT_EQ(object.Members()[i].value.AsInteger(), model[i].second);
    }
  }
}

// The cost of an object must be about proportional to its size, whatever its names have in common.
TEST(JsonValueTest, HugeObjectsTakeProportionalTime) {
  for (const char* beginning : {"member:", "", "a beginning of forty bytes that is common"}) {
    std::string text = "{";
    for (uint64_t i = 0; i < 300'000; ++i) {
      text += StrCat(text.size() > 1 ? "," : "", "\"", beginning, i * 0x9e3779b97f4a7c15, "\":", i);
    }
    text += "}";
    const std::clock_t start = std::clock();  // CPU time: the machine may run other programs
    JsonValue object = Parsed(text);
    JsonValue copy = object.Clone();
    for (int i = 0; i < 50; ++i) {  // a few members for a large object: only their places are searched
      JsonMember added{JsonValue::String(StrCat("added ", i)), JsonValue::Integer(i)};
      copy.AppendMembers({&added, 1});
    }
    copy.EraseIf([](size_t i) { return i % 2 == 0; });
    const double spent_s = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    // Takes .3 s; six seconds and more with a slow sort. A sanitizer multiplies both by five.
    EXPECT_LT(spent_s, kIsSanitized ? 15 : 3) << beginning;
    EXPECT_TRUE(copy.IsConsistent());
  }
}

// Applies random changes to an object, and compares it with a list of names and values.
TEST(JsonValueTest, ObjectsAgreeWithAModel) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    JsonValue object = JsonValue::EmptyObject();
    std::vector<std::pair<std::string, int64_t>> model;
    for (int step = 0; step < 400; ++step) {
      const std::string name = "n" + std::string(random.Below(3) * 5, 'x') + std::to_string(random.Below(90));
      const auto known = std::ranges::find(model, name, &std::pair<std::string, int64_t>::first);
      if (random.Below(5) < 3) {
        object.Set(name, JsonValue::Integer(step));
        if (known == model.end()) {
          model.emplace_back(name, step);
        } else {
          known->second = step;
        }
      } else {
        const size_t erased = object.EraseIf([&](size_t i) { return object.Members()[i].name.AsString() == name; });
        EXPECT_EQ(erased, known == model.end() ? 0 : 1);
        if (known != model.end()) model.erase(known);
      }
      if (random.Below(100) == 0) {
        object.EraseIf([&](size_t i) { return i % 3 != 0; });
        size_t i = 0;
        std::erase_if(model, [&](const auto&) { return i++ % 3 != 0; });
      }
      ASSERT_TRUE(object.IsConsistent());
    }
    ASSERT_EQ(object.Size(), model.size());
    for (size_t i = 0; i < model.size(); ++i) {
      EXPECT_EQ(object.Members()[i].name.AsString(), model[i].first);
      EXPECT_EQ(object.Members()[i].value.AsInteger(), model[i].second);
    }
    EXPECT_EQ(JsonText(object.Clone()), JsonText(object));
  }
}

TEST(JsonValueTest, AppendsManyMembers) {
  for (const size_t old_size : {0u, 1u, 20u, 32u, 33u, 500u}) {
    for (const size_t added : {0u, 1u, 12u, 32u, 40u, 2000u}) {
      JsonValue object = JsonValue::EmptyObject();
      std::vector<JsonMember> members;
      std::string expected = "{";
      for (size_t i = 0; i < old_size + added; ++i) {
        const std::string name = "n" + std::to_string(i * 7919 % 10007);
        const JsonValue value = JsonValue::Integer(static_cast<int64_t>(i));
        expected += (i == 0 ? "\"" : ",\"") + name + "\":" + std::to_string(i);
        if (i < old_size) {
          object.Set(name, value.Clone());
        } else {
          members.push_back({JsonValue::String(name), value.Clone()});
        }
      }
      object.AppendMembers(members);
      EXPECT_TRUE(object.IsConsistent()) << old_size << ' ' << added;
      EXPECT_EQ(JsonText(object), expected + "}");
    }
  }
}

TEST(JsonValueTest, FindsManyMembers) {
  for (const uint64_t size : {0u, 1u, 32u, 33u, 500u, 5000u}) {
    for (const uint64_t count : {1u, 3u, 40u, 5000u}) {
      JsonValue object = JsonValue::EmptyObject(), names = JsonValue::EmptyObject();
      for (uint64_t i = 0; i < size; ++i) object.Set(StrCat("n", i * 7919 % 10007), JsonValue::Integer(1));
      for (uint64_t i = 0; i < count; ++i) names.Set(StrCat("n", i * 104729 % 20011), JsonValue::Integer(1));
      const std::vector<JsonValue*> found = object.FindEach(names.Members(), names.MembersByName());
      ASSERT_EQ(found.size(), names.Size());
      for (size_t i = 0; i < found.size(); ++i) {
        ASSERT_EQ(found[i], object.Find(names.Members()[i].name.AsString())) << size << ' ' << count << ' ' << i;
      }
    }
  }
}

TEST(JsonValueTest, ArraysAgreeWithAModel) {
  Random random(7);
  JsonValue array = JsonValue::EmptyArray();
  std::vector<int64_t> model;
  for (int step = 0; step < 2000; ++step) {
    if (model.size() < 100 && random.Below(2) == 0) {
      const size_t at = random.Below(model.size() + 1);
      std::vector<JsonValue> values;
      for (uint64_t i = random.Below(4); i > 0; --i) values.push_back(JsonValue::Integer(step));
      model.insert(model.begin() + static_cast<ptrdiff_t>(at), values.size(), step);
      array.Insert(at, values);
    } else {
      const size_t first = random.Below(model.size() + 1);
      const size_t count = random.Below(std::min<size_t>(model.size() - first, 5) + 1);
      array.EraseRange(first, count);
      model.erase(model.begin() + static_cast<ptrdiff_t>(first), model.begin() + static_cast<ptrdiff_t>(first + count));
    }
    ASSERT_TRUE(array.IsConsistent());
    ASSERT_EQ(array.Size(), model.size());
  }
  for (size_t i = 0; i < model.size(); ++i) EXPECT_EQ(array.Elements()[i]->AsInteger(), model[i]);
}

TEST(JsonValueTest, SmallDocumentsTakeLittleMemory) {
  const JsonValue value = Parsed(
      R"({"name":"Wireless earbuds","description":"Wireless Bluetooth in-ear headphones","connection":{"wireless":true,)"
      R"("type":"Bluetooth"},"price":64.99,"stock":17,"colors":["black","white"],"max_level":[80,100,120]})");
  EXPECT_LE(sizeof(JsonValue) + value.UsedBytes(0), 460u);  // as text: 219 bytes
  EXPECT_EQ(Parsed("[]").UsedBytes(0) + Parsed("{}").UsedBytes(0) + Parsed("1.25").UsedBytes(0), 0u);
}

TEST(JsonValueTest, EstimatesMemory) {
  std::string texts = "[\"a text of thirty characters 00\"";
  for (int i = 0; i < 20'000; ++i) texts += ",\"a text of thirty characters 00\"";
  std::string objects = "[{\"id\":1,\"name\":\"a longer text\",\"tags\":[\"a longer text\",2]}";
  for (int i = 0; i < 20'000; ++i) objects += ",{\"id\":1,\"name\":\"a longer text\",\"tags\":[\"a longer text\",2]}";
  for (const std::string& text :
       {texts + "]", objects + "]", "{\"a\":" + texts + "],\"b\":1,\"c\":[]}", objects + ",1]"}) {
    const JsonValue value = Parsed(text);
    const auto exact = static_cast<double>(value.UsedBytes(0));
    for (const size_t samples : {size_t{5}, size_t{100}, size_t{SIZE_MAX}}) {
      EXPECT_NEAR(static_cast<double>(value.UsedBytes(samples)), exact, exact / 20) << samples;
    }
  }
}

// The first element of each array has all arrays inside it.
TEST(JsonValueTest, EstimatesOfUnevenDocumentsAreBounded) {
  std::string text = "1";
  for (size_t level = 0; level < JsonValue::kMaxDepth; ++level) {
    text = "[" + text;
    for (int i = 0; i < 600; ++i) text += ",0";
    text += "]";
  }
  const JsonValue value = Parsed(text);
  for (const size_t samples : {1u, 5u, 1000u}) {
    EXPECT_LE(value.UsedBytes(samples), 601 * value.UsedBytes(0)) << samples;
    EXPECT_GE(value.UsedBytes(samples), 601 * sizeof(JsonValue)) << samples;
  }
}

// A document of many values is estimated without visiting them.
TEST(JsonValueTest, EstimatesVisitFewValues) {
  JsonValue value = Parsed("[0,0,0,0,0]");
  for (int level = 0; level < 7; ++level) {
    std::vector<JsonValue> elements(5);
    for (JsonValue& element : elements) element = value.Clone();
    value = JsonValue::ArrayOf(elements);
  }
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) EXPECT_GT(value.UsedBytes(5), 0u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

TEST(JsonTextTest, KnowsTheSizeOfTheLayout) {
  for (const Bytes text : {"1", "[]", "{}", "[1]", R"({"a":[1,{}],"b":[],"c":{"d":2,"e":[[{"f":null}]]}})"}) {
    const JsonValue value = Parsed(text);
    const JsonFormat format{.indent = "   ", .newline = "\r\n", .space = "\t"};
    std::string formatted;
    AppendJson(formatted, value, format, 2);
    EXPECT_EQ(JsonLayoutBytes(value, format, 2), formatted.size() - JsonText(value).size()) << text;
  }
}

TEST(JsonTextTest, StopsAtTheLimit) {
  std::string array = "[1";
  for (int i = 0; i < 1000; ++i) array += ",1";
  const JsonValue value = Parsed("{\"a\":" + array + "],\"b\":" + array + "]}");
  const std::string indent(100, ' ');
  std::string text;
  AppendJson(text, value, {.indent = indent, .max_bytes = 1000});
  EXPECT_GT(text.size(), 1000u);
  EXPECT_LT(text.size(), 2000u);
}

TEST(JsonTextTest, Formats) {
  std::string text;
  AppendJson(text, Parsed(R"({"a":[1,{}],"b":[],"c":{"d":2}})"), {.indent = "  ", .newline = "\n", .space = " "});
  EXPECT_EQ(text, "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": [],\n  \"c\": {\n    \"d\": 2\n  }\n}");
}

// The texts of Redis, and the places where it finds errors.
TEST(JsonParserTest, ErrorsOfRedis) {
  const std::vector<std::pair<Bytes, std::string>> cases = {
      {"", "EOF while parsing a value at line 1 column 0"},
      {"nul", "EOF while parsing a value at line 1 column 3"},
      {"falsy", "expected ident at line 1 column 5"},
      {"nullx", "trailing characters at line 1 column 5"},
      {"01", "invalid number at line 1 column 2"},
      {"-", "EOF while parsing a value at line 1 column 1"},
      {"1.x", "invalid number at line 1 column 3"},
      {"1e+", "EOF while parsing a value at line 1 column 3"},
      {"[1e400 ]", "number out of range at line 1 column 6"},
      {"[1", "EOF while parsing a list at line 1 column 2"},
      {"[1 2]", "expected `,` or `]` at line 1 column 4"},
      {"[1,]", "trailing comma at line 1 column 4"},
      {"{", "EOF while parsing an object at line 1 column 1"},
      {"{\"a\" 1}", "expected `:` at line 1 column 6"},
      {"{\"a\":1 2}", "expected `,` or `}` at line 1 column 8"},
      {"{1:2}", "key must be a string at line 1 column 2"},
      {"[1,\n 2,\n x]", "expected value at line 3 column 2"},
      {"\"a\nb\"", "control character (\\u0000-\\u001F) found while parsing a string at line 2 column 0"},
      {"\"a\\x\"", "invalid escape at line 1 column 4"},
      {"\"\\u12\"", "EOF while parsing a string at line 1 column 6"},
      {"\"\\u12g4\"", "invalid escape at line 1 column 7"},
      {"\"\\ude00\"", "lone leading surrogate in hex escape at line 1 column 7"},
      {"\"\\ud83dx\"", "unexpected end of hex escape at line 1 column 8"},
      {"\"\\ud83d\\u0041\"", "lone leading surrogate in hex escape at line 1 column 13"},
      {Bytes("1\0", 2), "trailing characters at line 1 column 2"},
      {"[[[[", "recursion limit exceeded at line 1 column 4"}};
  for (const auto& [text, error] : cases) {
    const auto parsed = ParseJson(text, 3);
    EXPECT_EQ(parsed.ok() ? "" : parsed.error(), error) << text;
  }
}

// Small objects, and objects with a sorted index.
TEST(JsonValueTest, RemovedMembersAreReplacedByTheLastOne) {
  for (const int size : {2, 8, 33, 200}) {
    JsonValue object = JsonValue::EmptyObject();
    std::vector<std::string> names;
    for (int i = 0; i < size; ++i) {
      names.push_back("a name " + std::to_string(i * 7 % size));
      object.Set(names.back(), JsonValue::Integer(i));
    }
    for (size_t place = 0; !names.empty(); place = (place + 5) % std::max<size_t>(names.size(), 1)) {
      object.EraseMember(place);
      names[place] = names.back();
      names.pop_back();
      ASSERT_TRUE(object.IsConsistent());
      ASSERT_EQ(object.Size(), names.size());
      for (size_t i = 0; i < names.size(); ++i) ASSERT_EQ(object.Members()[i].name.AsString(), names[i]);
    }
  }
}

TEST(JsonValueTest, ArrangeKeepsAndAddsMembers) {
  JsonValue object = Parsed(R"({"a":1,"b":2,"c":3})");
  std::vector<JsonMember> added;
  added.push_back({JsonValue::String("x"), JsonValue::Integer(4)});
  added.push_back({JsonValue::String("y"), JsonValue::Integer(5)});
  object.Arrange(std::vector<uint32_t>{2, 4, 0}, added);
  EXPECT_EQ(JsonText(object), R"({"c":3,"y":5,"a":1})");
  EXPECT_TRUE(object.IsConsistent());
  object.Arrange({}, {});
  EXPECT_EQ(JsonText(object), "{}");
}

// Objects of some sizes have a sorted index, before the change or after it.
TEST(JsonValueTest, ArrangeKeepsTheOrderOfNamesAtAnySize) {
  for (const uint32_t size : {1U, 30U, 33U, 40U, 100U, 1000U}) {
    for (const uint32_t added_count : {0U, 1U, 40U}) {
      for (const uint32_t step : {1U, 2U, 50U}) {
        JsonValue object = JsonValue::EmptyObject();
        std::vector<std::string> names;
        for (uint32_t i = 0; i < size; ++i) names.push_back(StrCat("n", i * 7919 % 10007));
        for (const std::string& name : names) object.Set(name, JsonValue::Integer(1));
        std::vector<JsonMember> added;
        for (uint32_t i = 0; i < added_count; ++i) {
          names.push_back(StrCat("m", i * 31 % 97));
          added.push_back({JsonValue::String(names.back()), JsonValue::Integer(2)});
        }
        std::vector<uint32_t> order;
        for (uint32_t i = 0; i < names.size(); i += step) order.insert(order.begin() + order.size() / 2, i);
        object.Arrange(order, added);
        ASSERT_TRUE(object.IsConsistent()) << size << " " << added_count << " " << step;
        ASSERT_EQ(object.Size(), order.size());
        for (size_t i = 0; i < order.size(); ++i) ASSERT_EQ(object.Members()[i].name.AsString(), names[order[i]]);
        const std::vector<uint32_t> by_name = object.MembersByName();
        ASSERT_EQ(by_name.size(), order.size());
        for (size_t i = 1; i < by_name.size(); ++i) {
          ASSERT_LT(object.Members()[by_name[i - 1]].name.AsString(), object.Members()[by_name[i]].name.AsString());
        }
      }
    }
  }
}

}  // namespace
}  // namespace respite
