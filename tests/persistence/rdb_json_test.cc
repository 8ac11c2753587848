// JSON documents that are written and read back, and damaged ones.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "datatypes/json/json_document.h"
#include "datatypes/json/json_parser.h"
#include "datatypes/json/json_text.h"
#include "persistence/rdb_value_reader.h"
#include "persistence/rdb_value_writer.h"

namespace respite {
namespace {

RdbValueResult ReadDocument(Bytes value) {
  static constexpr EncodingLimits kLimits;
  RdbInput input(value);
  const uint8_t type = input.Byte();
  auto entry = ReadRdbValue(input, type, {"k", 0, kLimits, HashKey{42}});
  if (entry && input.Left() != 0) return BadValueFault("bytes are left over");
  return entry;
}

std::string TextOf(const RdbValueResult& result) {
  if (!result) return std::string("refused: ") + result.error().why;
  return JsonText(static_cast<const JsonDocument&>(*result.value()->ObjectValue()).root());
}

std::string JsonRdbValue(uint64_t module, const std::function<void(RdbOutput&)>& write) {
  RdbOutput out(RdbCompression::kOff);
  out.Type(rdb::Type::kModule2);
  out.Length(module);
  write(out);
  return out.TakeBuffer();
}

constexpr uint64_t kModule = rdb::ModuleNumber("ReJSON-RL", 3);

TEST(RdbJsonTest, WritesTheFormOfTheModule) {
  const EntryPtr entry(Entry::CreateWithObject(
      "k", ValueType::kJson, std::make_unique<JsonDocument>(ParseJson(R"({"a":[1,2.5,"x"]})").value().Clone()), 0));
  RdbOutput out(RdbCompression::kOff);
  WriteRdbValue(out, *entry);
  EXPECT_EQ(out.BufferedOutput(), JsonRdbValue(kModule, [](RdbOutput& o) {
              o.Length(rdb::kPartText);
              o.Text(R"({"a":[1,2.5,"x"]})");
              o.Length(rdb::kPartEnd);
            }));
  EXPECT_EQ(TextOf(ReadDocument(out.BufferedOutput())), R"({"a":[1,2.5,"x"]})");
}

// The bytes that Redis 8 writes for {"a":1}: type 7, the ID of "ReJSON-RL" version 3 (6 bits per character, 10 bits for
// the version), the opcode of a string, the text, the opcode of the end.
constexpr Bytes kRedisBytes("\x07\x81\x45\xe2\x52\x38\xdf\x91\x2c\x03\x05\x07{\"a\":1}\x00", 20);

TEST(RdbJsonTest, BytesOfRedisAreReadAndWrittenBack) {
  const RdbValueResult document = ReadDocument(kRedisBytes);
  ASSERT_EQ(TextOf(document), R"({"a":1})");
  RdbOutput out(RdbCompression::kOff);
  WriteRdbValue(out, *document.value());
  EXPECT_EQ(out.BufferedOutput(), kRedisBytes);
  std::string of_version_2(kRedisBytes);
  of_version_2[9] = 2;
  EXPECT_EQ(TextOf(ReadDocument(of_version_2)), R"({"a":1})");
  of_version_2[9] = 1;
  EXPECT_EQ(TextOf(ReadDocument(of_version_2)), "refused: values of this module cannot be read");
}

// Any other byte at any place: wrong opcodes and lengths, encodings of other types, damaged text.
TEST(RdbJsonTest, LiesAreRefusedOrGood) {
  size_t accepted = 0;
  for (size_t at = 0; at < kRedisBytes.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string lie(kRedisBytes);
      lie[at] = static_cast<char>(byte);
      const RdbValueResult result = ReadDocument(lie);
      if (!result || result.value() == nullptr || result.value()->Type() != ValueType::kJson) continue;
      ++accepted;
      EXPECT_TRUE(static_cast<const JsonDocument&>(*result.value()->ObjectValue()).root().IsConsistent());
    }
  }
  EXPECT_GT(accepted, kRedisBytes.size());
  for (const uint64_t size : {uint64_t{8}, uint64_t{1} << 20, uint64_t{1} << 40, UINT64_MAX}) {  // of the text
    const std::string lie = JsonRdbValue(kModule, [size](RdbOutput& o) {
      o.Length(rdb::kPartText);
      o.Length(size);
      o.Length(rdb::kPartEnd);
    });
    EXPECT_FALSE(ReadDocument(lie).ok()) << size;
  }
}

TEST(RdbJsonTest, RefusesDamage) {
  const auto with_text = [](Bytes text) {
    return JsonRdbValue(kModule, [text](RdbOutput& o) {
      o.Length(rdb::kPartText);
      o.Text(text);
      o.Length(rdb::kPartEnd);
    });
  };
  EXPECT_EQ(TextOf(ReadDocument(with_text("1"))), "1");
  for (const Bytes text : {"", "{", "[1,]", "\"\xff\"", "1 1"}) {
    EXPECT_EQ(TextOf(ReadDocument(with_text(text))), "refused: a JSON document is malformed") << text;
  }
  EXPECT_EQ(TextOf(ReadDocument(with_text(std::string(200, '[') + std::string(200, ']')))),
            "refused: a JSON document is malformed");
  EXPECT_EQ(TextOf(ReadDocument(JsonRdbValue(rdb::ModuleNumber("ReJSON-RL", 9), [](RdbOutput&) {}))),
            "refused: values of this module cannot be read");
  EXPECT_EQ(TextOf(ReadDocument(JsonRdbValue(rdb::ModuleNumber("MBbloom--", 3), [](RdbOutput&) {}))),
            "refused: values of this module cannot be read");
  EXPECT_EQ(TextOf(ReadDocument(JsonRdbValue(kModule, [](RdbOutput& o) { o.Length(rdb::kPartUnsigned); }))),
            "refused: the value is cut off, or a length in it is wrong");
  EXPECT_EQ(TextOf(ReadDocument(JsonRdbValue(kModule,
                                             [](RdbOutput& o) {
                                               o.Length(rdb::kPartText);
                                               o.Text("1");
                                               o.Length(rdb::kPartText);
                                             }))),
            "refused: the value is cut off, or a length in it is wrong");
  const std::string whole = with_text(R"({"a":"some text"})");
  for (size_t size = 1; size < whole.size(); ++size) {
    EXPECT_FALSE(ReadDocument(Bytes(whole).substr(0, size)).ok()) << size;
  }
}

}  // namespace
}  // namespace respite
