// Vector sets that are written and read back, a vector set as Redis 8.6 writes it, and damaged vector sets.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "base/str_cat.h"
#include "datatypes/digest.h"
#include "datatypes/vector_set.h"
#include "persistence/rdb_module.h"
#include "persistence/rdb_value_reader.h"
#include "persistence/rdb_value_writer.h"

namespace respite {
namespace {

using namespace std::string_literals;

RdbValueResult ReadVectorSet(Bytes value) {
  static constexpr EncodingLimits kVectorLimits;
  RdbInput input(value);
  const uint8_t type = input.Byte();
  auto entry = ReadRdbValue(input, type, {"k", 0, kVectorLimits, HashKey{42}});
  if (entry && input.Left() != 0) return BadValueFault("bytes are left over");
  return entry;
}

const VectorTable& TableOf(const RdbValueResult& result) {
  return static_cast<const VectorTable&>(*result.value()->ObjectValue());
}

std::string Written(const Entry& entry, RdbCompression compression = RdbCompression::kOff) {
  RdbOutput out(compression);
  WriteRdbValue(out, entry);
  return out.TakeBuffer();
}

std::string DigestOf(const Entry& entry) {
  Digest digest;
  MixValue(digest, entry);
  return digest.Hex();
}

// A set of two elements "a" (1 2 3) and "b" with attributes, in the form of Redis 8.6.3.
constexpr char kHead[] = "\x07\x81\xbd\xe7\x2d\xa2\xbb\x1e\xb4\x00";

struct Part {  // what a test changes in a sound value
  uint64_t dimensions = 3, count = 2, links = 0x1001, flags = 2;
  uint64_t numbers = 7, id = 2, level = 1 << 24, link_count = 1, link = 1, sizes = 0x3f800000'3f800000;
  std::string vector = "\x7f\x01\x02";
  std::string name = "b";
};

std::string ValueOf(const Part& part) {
  RdbOutput out(RdbCompression::kOff);
  out.Type(rdb::Type::kModule2);
  RdbModuleOutput parts(out, rdb::kVectorSetModule);
  for (const uint64_t number : {part.dimensions, part.count, part.links, part.flags}) parts.Unsigned(number);
  parts.Text("a");
  parts.Text("");
  parts.Text("\x2a\x55\x7f");
  for (const uint64_t number : {7u, 1u, 1u << 24, 1u, 32u, 2u, 0u}) parts.Unsigned(number);
  parts.Unsigned(0x3f4d41b2'406f7751);
  parts.Text(part.name);
  parts.Text("{\"x\":1}");
  parts.Text(part.vector);
  for (const uint64_t number : {part.numbers, part.id, part.level, part.link_count, uint64_t{32}})
    parts.Unsigned(number);
  for (uint64_t i = 0; i < part.link_count && i < 40; ++i) parts.Unsigned(part.link);
  parts.Unsigned(0);
  parts.Unsigned(part.sizes);
  parts.End();
  return out.TakeBuffer();
}

TEST(RdbVectorSetTest, ReadsTheFormOfRedis) {
  const std::string value = ValueOf({});
  EXPECT_TRUE(value.starts_with(std::string(kHead, 10)));
  const RdbValueResult read = ReadVectorSet(value);
  ASSERT_TRUE(read);
  const VectorTable& table = TableOf(read);
  EXPECT_TRUE(table.IsConsistent());
  EXPECT_EQ(table.Count(), 2u);
  EXPECT_EQ(table.shape().m, 16u);
  EXPECT_EQ(table.AttributesOf(table.Find("b")), "{\"x\":1}");
  EXPECT_EQ(table.AttributesOf(table.Find("a")), std::nullopt);
  EXPECT_FLOAT_EQ(table.graph().LengthOf(table.Find("a")), 3.7416575F);
  EXPECT_EQ(table.LastId(), 2u);
  // The only difference in what this server writes is the distance of the farthest link.
  const RdbValueResult again = ReadVectorSet(Written(*read.value()));
  ASSERT_TRUE(again);
  EXPECT_EQ(DigestOf(*again.value()), DigestOf(*read.value()));
  EXPECT_EQ(Written(*again.value()), Written(*read.value()));
}

TEST(RdbVectorSetTest, RefusesWrongValues) {
  using Change = std::function<void(Part&)>;
  const std::pair<const char*, Change> changes[] = {
      {"no dimensions", [](Part& part) { part.dimensions = 0; }},
      {"many dimensions", [](Part& part) { part.dimensions = uint64_t{1} << 31; }},
      {"other dimensions", [](Part& part) { part.dimensions = 4; }},
      {"a huge count", [](Part& part) { part.count = uint64_t{1} << 60; }},
      {"one element too many", [](Part& part) { part.count = 3; }},
      {"one element too few", [](Part& part) { part.count = 1; }},
      {"an unknown encoding", [](Part& part) { part.links = 0x1003; }},
      {"few links", [](Part& part) { part.links = 0x0301; }},
      {"many links", [](Part& part) { part.links = 0xffff'ffff'ff01; }},
      {"unknown flags", [](Part& part) { part.flags = 4; }},
      {"a projection that is missing", [](Part& part) { part.flags = 3; }},
      {"few numbers", [](Part& part) { part.numbers = 5; }},
      {"many numbers", [](Part& part) { part.numbers = uint64_t{1} << 63; }},
      {"an id twice", [](Part& part) { part.id = 1; }},
      {"a huge id", [](Part& part) { part.id = uint64_t{1} << 40; }},
      {"an unknown version", [](Part& part) { part.level = 2 << 24; }},
      {"a high level", [](Part& part) { part.level = (1 << 24) + 17; }},
      {"a level without links", [](Part& part) { part.level = (1 << 24) + 1; }},
      {"too many links", [](Part& part) { part.link_count = 33, part.numbers = 39; }},
      {"a link twice", [](Part& part) { part.link_count = 2, part.numbers = 8; }},
      {"no link back", [](Part& part) { part.link_count = 0, part.numbers = 6; }},
      {"a link to nothing", [](Part& part) { part.link = 9; }},
      {"a link to itself", [](Part& part) { part.link = 2; }},
      {"a link to a huge id", [](Part& part) { part.link = uint64_t{1} << 33; }},
      {"a scale that is no number", [](Part& part) { part.sizes = 0x7fc00000'3f800000; }},
      {"a negative scale", [](Part& part) { part.sizes = 0xbf800000'3f800000; }},
      {"a short vector", [](Part& part) { part.vector = "\x7f"; }},
      {"a name twice", [](Part& part) { part.name = "a"; }},
  };
  for (const auto& [what, change] : changes) {
    Part part;
    change(part);
    EXPECT_FALSE(ReadVectorSet(ValueOf(part))) << what;
  }
  const std::string value = ValueOf({});
  for (size_t size = 1; size < value.size(); ++size) EXPECT_FALSE(ReadVectorSet(Bytes(value).substr(0, size)));
  std::string other_module = value;
  other_module[3] ^= 1;
  EXPECT_FALSE(ReadVectorSet(other_module));
}

TEST(RdbVectorSetTest, AcceptsVectorsOfOtherServers) {
  Part part;
  part.vector = "\x80\x7f\x01";      // this server never stores -128
  part.sizes = 0x3f800000'7f800000;  // a length that is not finite
  const RdbValueResult read = ReadVectorSet(ValueOf(part));
  ASSERT_TRUE(read);
  const VectorTable& table = TableOf(read);
  EXPECT_EQ(static_cast<const char*>(table.graph().VectorOf(table.Find("b")).data)[0], -127);
  EXPECT_EQ(table.graph().LengthOf(table.Find("b")), 3.4028234663852886e38F);
}

TEST(RdbVectorSetTest, LargeSetsAreReadBackExactly) {
  for (const VectorEncoding encoding : {VectorEncoding::kFloat, VectorEncoding::kInt8, VectorEncoding::kBinary}) {
    Random random(11);
    auto table = std::make_unique<VectorTable>();
    VectorSetShape shape;
    shape.encoding = encoding;
    shape.dimensions = 20;
    shape.m = 5;
    shape.input_dimensions = encoding == VectorEncoding::kFloat ? 30 : 0;
    table->SetShape(shape);
    for (int i = 0; i < 600; ++i) {
      std::vector<float> vector(20);
      for (float& x : vector) x = static_cast<float>(random.Unit()) - 0.5F;
      const float length = NormalizeVector(vector);
      std::vector<uint64_t> words(16);
      const float scale = table->graph().format().Encode(vector, words.data());
      const std::string name = i % 3 == 0 ? std::to_string(i) : StrCat("element:", i);
      table->Put(name, {words.data(), scale}, length, random, 50);
      if (i % 2 == 0) table->SetAttributes(table->Find(name), StrCat("{\"n\":", i, "}"));
      if (i % 5 == 0) table->Erase(name);
    }
    EXPECT_TRUE(table->IsConsistent());
    const EntryPtr entry(Entry::CreateWithObject("k", ValueType::kVectorSet, std::move(table), 0));
    const RdbValueResult read = ReadVectorSet(Written(*entry, RdbCompression::kOn));
    ASSERT_TRUE(read);
    EXPECT_TRUE(TableOf(read).IsConsistent());
    EXPECT_EQ(DigestOf(*read.value()), DigestOf(*entry));
    EXPECT_EQ(TableOf(read).projection(), static_cast<const VectorTable&>(*entry->ObjectValue()).projection());
  }
}

}  // namespace
}  // namespace respite
