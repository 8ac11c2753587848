// Arrays that are written and read back, arrays as Redis 8.8 writes them, and damaged arrays.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "base/str_cat.h"
#include "datatypes/array.h"
#include "datatypes/digest.h"
#include "persistence/dump_payload.h"
#include "persistence/rdb_value_reader.h"
#include "persistence/rdb_value_writer.h"

namespace respite {
namespace {

using namespace std::string_literals;

std::string DumpedArray(const Entry& entry) {
  RdbOutput out(RdbCompression::kOff);
  WriteRdbValue(out, entry);
  return out.TakeBuffer();
}

EntryPtr ArrayEntry(std::unique_ptr<ArrayTable> table) {
  return EntryPtr(Entry::CreateWithObject("k", ValueType::kArray, std::move(table), 0));
}

RdbValueResult ReadArray(Bytes value) {
  static constexpr EncodingLimits kLimits;
  RdbInput input(value);
  const uint8_t type = input.Byte();
  auto entry = ReadRdbValue(input, type, {"k", 0, kLimits, HashKey{42}});
  if (entry && input.Left() != 0) return BadValueFault("bytes are left over");
  return entry;
}

// Returns the content of an array as text: "0=a 5=b cursor 5".
std::string Described(const RdbValueResult& result) {
  if (!result) return StrCat("refused: ", result.error().why);
  const auto& table = static_cast<const ArrayTable&>(*result.value()->ObjectValue());
  EXPECT_TRUE(table.IsConsistent());
  std::string text;
  table.VisitRange(0, ArrayTable::kMaxIndex, [&](uint64_t index, const ArrayElement& element) {
    StrAppend(text, text.empty() ? "" : " ", index, "=", ArrayText(element).View());
    return true;
  });
  if (table.LastInsert()) StrAppend(text, " cursor ", *table.LastInsert());
  return text;
}

std::string ArrayValue(const std::function<void(RdbOutput&)>& write) {
  RdbOutput out(RdbCompression::kOff);
  out.Type(rdb::Type::kArray);
  write(out);
  return out.TakeBuffer();
}

constexpr char kRefusedElements[] = "refused: the elements of an array are malformed";
constexpr char kRefusedCursor[] = "refused: the cursor of an array is malformed";

TEST(RdbArrayTest, HasTheFormatOfRedis) {
  auto table = std::make_unique<ArrayTable>();
  table->Set(0, "7");
  table->Set(1, "0.5");
  table->Set(64, "short");
  table->Set(300, "longer text");
  table->SetLastInsert(1);
  const std::string value = DumpedArray(*ArrayEntry(std::move(table)));
  EXPECT_EQ(value,
            "\x1c\x04\x01\x01"
            "\x00\x01\x07\0\0\0\0\0\0\0"
            "\x01\x02\0\0\0\0\0\0\xe0\x3f"
            "\x40\x40\x03\x05short"
            "\x41\x2c\x00\x0blonger text"s);
  EXPECT_EQ(Described(ReadArray(value)), "0=7 1=0.5 64=short 300=longer text cursor 1");
}

TEST(RdbArrayTest, IsReadBackExactly) {
  auto table = std::make_unique<ArrayTable>();
  uint64_t index = 0;
  for (const char* text : {"", "-1", "0.1", "1.0", "-42.0", "1.50", "3.141592653589793", "2305843009213693951",
                           "2305843009213693952", "9223372036854775808", "-9223372036854775808", "1e5", "007", "+1"}) {
    table->Set(index, text);
    index = index * 3 + 1;
  }
  table->Set(ArrayTable::kMaxIndex, std::string(100'000, 'x'));
  table->SetLastInsert(ArrayTable::kMaxIndex);
  const EntryPtr entry = ArrayEntry(std::move(table));
  for (const RdbCompression compression : {RdbCompression::kOff, RdbCompression::kOn}) {
    RdbOutput out(compression);
    WriteRdbValue(out, *entry);
    auto again = ReadArray(out.BufferedOutput());
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(Described(again), Described(RdbValueResult(EntryPtr(Entry::Clone(*entry, "k", kNoDeadline, 0)))));
  }
}

TEST(RdbArrayTest, ReadsAnyTagOfAnElement) {
  EXPECT_EQ(Described(ReadArray(ArrayValue([](RdbOutput& out) {
              out.Length(3);
              out.Length(0);
              out.Length(2);
              out.Length(rdb::kElementText);
              out.Text("5");
              out.Length(9);
              out.Length(rdb::kElementShortText);
              out.Text("longer than seven bytes");
              out.Length(11);
              out.Length(rdb::kElementDouble);
              out.Double(3);
            }))),
            "2=5 9=longer than seven bytes 11=3.0");
}

TEST(RdbArrayTest, RefusesMalformedArrays) {
  const auto described = [](uint64_t count, uint64_t cursor_flag, const std::function<void(RdbOutput&)>& rest) {
    return Described(ReadArray(ArrayValue([&](RdbOutput& out) {
      out.Length(count);
      out.Length(cursor_flag);
      rest(out);
    })));
  };
  const auto element = [](RdbOutput& out, uint64_t index, uint64_t tag = rdb::kElementText) {
    out.Length(index);
    out.Length(tag);
    out.Text("x");
  };
  EXPECT_EQ(described(1, 0, [&](RdbOutput& out) { element(out, 5); }), "5=x");
  EXPECT_EQ(described(0, 0, [](RdbOutput& out) { out.RawBytes("....."); }), "refused: the collection is empty");
  EXPECT_EQ(described(2, 0,
                      [&](RdbOutput& out) {
                        element(out, 5);
                        element(out, 5);
                      }),
            kRefusedElements);
  EXPECT_EQ(described(2, 0,
                      [&](RdbOutput& out) {
                        element(out, 5);
                        element(out, 4);
                      }),
            kRefusedElements);
  EXPECT_EQ(described(1, 0, [&](RdbOutput& out) { element(out, UINT64_MAX); }), kRefusedElements);
  EXPECT_EQ(described(1, 0, [&](RdbOutput& out) { element(out, 1, 4); }), kRefusedElements);
  EXPECT_EQ(described(1, 0,
                      [&](RdbOutput& out) {
                        out.Length(1);
                        out.Length(rdb::kElementDouble);
                        out.Double(std::numeric_limits<double>::infinity());
                      }),
            kRefusedElements);
  EXPECT_EQ(described(1, 2, [&](RdbOutput& out) { element(out, 1); }), kRefusedCursor);
  EXPECT_EQ(described(1, 1,
                      [&](RdbOutput& out) {
                        out.Length(UINT64_MAX);
                        element(out, 1);
                      }),
            kRefusedCursor);
  EXPECT_EQ(described(UINT64_MAX, 0, [&](RdbOutput& out) { element(out, 1); }),
            "refused: the value is cut off, or a length in it is wrong");
}

TEST(RdbArrayTest, RefusesTruncatedArraysAndSurvivesDamagedOnes) {
  auto table = std::make_unique<ArrayTable>();
  for (uint64_t i = 0; i < 30; ++i)
    table->Set(i * i, StrCat(i % 3 == 0 ? "text number " : "", i, i % 2 == 0 ? ".5" : ""));
  table->SetLastInsert(29);
  const std::string value = DumpedArray(*ArrayEntry(std::move(table)));
  for (size_t cut = 1; cut < value.size(); ++cut) EXPECT_FALSE(ReadArray(Bytes(value).substr(0, cut)).ok()) << cut;
  for (size_t bit = 8; bit < value.size() * 8; ++bit) {
    std::string bad = value;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    Described(ReadArray(bad));
  }
}

TEST(RdbArrayTest, DumpPayloadsHaveTheVersionOfRedis88) {
  auto table = std::make_unique<ArrayTable>();
  table->Set(3, "x");
  const std::string payload = DumpPayload(*ArrayEntry(std::move(table)), RdbCompression::kOff);
  EXPECT_EQ(payload[payload.size() - 10], 14);
  EXPECT_TRUE(VerifyPayload(payload, PayloadCheck::kChecksum).has_value());
}

}  // namespace
}  // namespace respite
