// Streams that are written and read back, streams of older versions, and damaged streams.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "datatypes/stream.h"
#include "persistence/packed_elements.h"
#include "persistence/rdb_output.h"
#include "persistence/rdb_value_reader.h"
#include "persistence/rdb_value_writer.h"

namespace respite {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

const StreamLog& LogOf(const Entry& entry) { return static_cast<const StreamLog&>(*entry.ObjectValue()); }

std::string Written(std::unique_ptr<StreamLog> log) {
  const EntryPtr entry(Entry::CreateWithObject("k", ValueType::kStream, std::move(log), 0));
  RdbOutput out(RdbCompression::kOff);
  WriteRdbValue(out, *entry);
  return out.TakeBuffer();
}

std::string WrittenAgain(const Entry& entry) {
  RdbOutput out(RdbCompression::kOff);
  WriteRdbValue(out, entry);
  return out.TakeBuffer();
}

RdbValueResult ReadStream(Bytes value) {
  const EncodingLimits limits;
  RdbInput input(value);
  const uint8_t type = input.Byte();
  return ReadRdbValue(input, type, {"k", 0, limits, HashKey{1}});
}

// Builds entries with and without their own names, deleted entries, and two groups.
std::unique_ptr<StreamLog> SomeStream(uint64_t seed, uint64_t entries) {
  Random random(seed);
  auto log = std::make_unique<StreamLog>();
  for (uint64_t i = 1; i <= entries; ++i) {
    const std::string value = random.Below(2) == 0 ? std::to_string(random.Next()) : std::string(random.Below(90), 'v');
    std::vector<Bytes> words{"item", value};
    if (random.Below(4) == 0) words.insert(words.end(), {"more", "12"});
    log->Add({1000 + i / 3, i}, words, {4096, 30});
  }
  for (uint64_t i = 1; i <= entries; i += 5) log->Delete({1000 + i / 3, i});
  log->CreateGroup("empty", {5, 5}, StreamGroup::kUnknownCount);
  StreamGroup& group = *log->CreateGroup("group", {1100, 1}, 7);
  StreamConsumer* consumers[] = {&group.CreateConsumer("one", 111), &group.CreateConsumer("two", 222)};
  consumers[1]->active_ms = 333;
  for (uint64_t i = 1; i < entries; i += 2) group.Assign({1000 + i, i}, {consumers[i % 4 / 2], 5000, i});
  return log;
}

TEST(RdbStream, SurvivesARoundTrip) {
  for (uint64_t entries : {0u, 1u, 30u, 31u, 500u}) {
    const std::string value = Written(SomeStream(entries, entries));
    const auto entry = ReadStream(value);
    ASSERT_TRUE(entry) << entry.error().why;
    EXPECT_TRUE(LogOf(*entry.value()).IsConsistent());
    EXPECT_TRUE(WrittenAgain(*entry.value()) == value) << entries;
  }
}

TEST(RdbStream, IsRefusedWhenCutOffAndNeverHalfRead) {
  const std::string value = Written(SomeStream(7, 60));
  for (size_t cut = 1; cut < value.size(); ++cut) EXPECT_FALSE(ReadStream(Bytes(value).substr(0, cut))) << cut;
  for (size_t bit = 8; bit < value.size() * 8; ++bit) {
    std::string bad = value;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    const auto entry = ReadStream(bad);
    if (!entry) continue;
    ASSERT_TRUE(LogOf(*entry.value()).IsConsistent()) << bit;
    const std::string again = WrittenAgain(*entry.value());
    ASSERT_TRUE(WrittenAgain(*ReadStream(again).value()) == again) << bit;
  }
}

std::string Packed(const std::vector<std::string>& elements) {
  ListpackMaker maker;
  for (const std::string& element : elements) maker.Append(EncodedElement(Bytes(element)));
  return maker.Take();
}

// Builds a stream of the oldest form with one block at 5-0.
std::string OldStream(const std::vector<std::string>& elements, uint64_t length = 2) {
  RdbOutput out(RdbCompression::kOff);
  out.Type(rdb::Type::kStreamListpacks);
  out.Length(1);
  out.Text("\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0\0"s);
  out.Text(Packed(elements));
  for (const uint64_t number : {length, uint64_t{6}, uint64_t{0}, uint64_t{1}}) out.Length(number);
  out.Text("g");
  for (const uint64_t number : {5u, 0u, 0u, 0u}) out.Length(number);
  return out.TakeBuffer();
}

const std::vector<std::string> kTwoEntries = {"2", "0", "1", "f", "0",                     // the head
                                              "2", "0", "0", "v", "4",                     // 5-0
                                              "0", "1", "0", "1", "field", "value", "6"};  // 6-0

TEST(RdbStream, IsReadInItsOldForm) {
  const auto entry = ReadStream(OldStream(kTwoEntries));
  ASSERT_TRUE(entry) << entry.error().why;
  const StreamLog& log = LogOf(*entry.value());
  EXPECT_EQ(log.Length(), 2u);
  EXPECT_EQ(log.FirstId(), (StreamId{5, 0}));
  EXPECT_EQ(log.LastId(), (StreamId{6, 0}));
  EXPECT_EQ(log.EntriesAdded(), 2u);
  EXPECT_EQ(log.FindGroup("g")->entries_read, 1);
}

// Commands of Redis can produce this: XSETID, XGROUP and XCLAIM set the maximum, and the next command increments it.
TEST(RdbStream, KeepsCountsBeyondTheGreatestNumberAtIt) {
  constexpr uint64_t kBeyond = uint64_t{1} << 63;
  const std::string id = "\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0\0"s;
  const std::string now = "\1\0\0\0\0\0\0\0"s;
  RdbOutput out(RdbCompression::kOff);
  out.Type(rdb::Type::kStreamListpacks3);
  for (const uint64_t number : {0u, 0u, 5u, 0u, 0u, 0u, 0u, 0u}) out.Length(number);  // blocks, length, the three IDs
  out.Length(kBeyond);
  out.Length(1);
  out.Text("g");
  for (const uint64_t number : {uint64_t{5}, uint64_t{0}, kBeyond, uint64_t{1}}) out.Length(number);
  out.RawBytes(id + now);
  out.Length(kBeyond);
  out.Length(1);
  out.Text("c");
  out.RawBytes(now + now);
  out.Length(1);
  out.RawBytes(id);
  const auto entry = ReadStream(out.TakeBuffer());
  ASSERT_TRUE(entry) << entry.error().why;
  const StreamLog& log = LogOf(*entry.value());
  EXPECT_EQ(log.EntriesAdded(), uint64_t{INT64_MAX});
  EXPECT_EQ(log.FindGroup("g")->entries_read, INT64_MAX);
  EXPECT_EQ(log.FindGroup("g")->FindPending({5, 0})->deliveries, uint64_t{INT64_MAX});
}

TEST(RdbStream, ReadsEntriesThatRedis88HasReleased) {
  const std::string id = "\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0\0"s;
  const auto value = [&](const std::string& released) {
    RdbOutput out(RdbCompression::kOff);
    out.Type(rdb::Type::kStreamListpacks5);
    for (const uint64_t number : {0u, 0u, 5u, 0u, 0u, 0u, 0u, 0u, 5u}) out.Length(number);
    out.Length(1);  // groups
    out.Text("g");
    for (const uint64_t number : {5u, 0u, 1u, 1u}) out.Length(number);
    out.RawBytes(id + "\0\0\0\0\0\0\0\0"s);
    out.Length(3);  // deliveries
    out.Length(0);  // consumers
    out.Length(1);
    out.RawBytes(released);
    for (const uint64_t number : {100u, 100u, 0u, 0u, 0u}) out.Length(number);
    return out.TakeBuffer();
  };
  const auto entry = ReadStream(value(id));
  ASSERT_TRUE(entry) << entry.error().why;
  const StreamGroup& group = *LogOf(*entry.value()).FindGroup("g");
  EXPECT_EQ(group.ReleasedCount(), 1u);
  EXPECT_EQ(group.FindPending({5, 0})->deliveries, 3u);
  EXPECT_FALSE(ReadStream(value("\0\0\0\0\0\0\0\6\0\0\0\0\0\0\0\0"s)));
}

// XSETID of Redis 7.0 produces this.
TEST(RdbStream, LowersAGreatestDeletedIdAboveTheLastId) {
  RdbOutput out(RdbCompression::kOff);
  out.Type(rdb::Type::kStreamListpacks2);
  // Blocks, length, last ID, first ID, greatest deleted ID, entries added, groups.
  for (const uint64_t number : {0u, 0u, 3u, 1u, 0u, 0u, 5u, 1u, 2u, 0u}) out.Length(number);
  const auto entry = ReadStream(out.TakeBuffer());
  ASSERT_TRUE(entry) << entry.error().why;
  EXPECT_EQ(LogOf(*entry.value()).LastId(), (StreamId{3, 1}));
  EXPECT_EQ(LogOf(*entry.value()).MaxDeletedId(), (StreamId{3, 1}));
}

TEST(RdbStream, RefusesMalformedBlocks) {
  const auto refusal = [](size_t at, std::string element) {
    std::vector<std::string> elements = kTwoEntries;
    elements[at] = std::move(element);
    const auto entry = ReadStream(OldStream(elements));
    return entry ? "read"s : entry.error().why;
  };
  EXPECT_THAT(refusal(0, "3"), HasSubstr("integrity check failed"));    // more entries than there are
  EXPECT_THAT(refusal(2, "-1"), HasSubstr("integrity check failed"));   // a negative number of names
  EXPECT_THAT(refusal(2, "900"), HasSubstr("integrity check failed"));  // more names than elements
  EXPECT_THAT(refusal(4, "1"), HasSubstr("integrity check failed"));    // the head does not end
  EXPECT_THAT(refusal(5, "x"), HasSubstr("integrity check failed"));    // flags are a text
  EXPECT_THAT(refusal(9, "5"), HasSubstr("integrity check failed"));    // the number of elements is wrong
  EXPECT_THAT(refusal(11, "0"), HasSubstr("ascend"));                   // the ID of the previous entry
  EXPECT_THAT(refusal(11, "2"), HasSubstr("what it says"));             // above the last ID
  const auto short_of_one = ReadStream(OldStream(kTwoEntries, 3));
  EXPECT_THAT(short_of_one.error().why, HasSubstr("what it says"));
}

// Builds an empty stream of the oldest form with these groups, each with two consumers of these names.
std::string StreamOfGroups(const std::vector<Bytes>& groups, const std::vector<Bytes>& consumers) {
  RdbOutput out(RdbCompression::kOff);
  out.Type(rdb::Type::kStreamListpacks);
  for (const uint64_t number : {uint64_t{0}, uint64_t{0}, uint64_t{6}, uint64_t{0}, groups.size()}) out.Length(number);
  for (Bytes group : groups) {
    out.Text(group);
    for (const uint64_t number : {uint64_t{5}, uint64_t{0}, uint64_t{0}, consumers.size()}) out.Length(number);
    for (Bytes consumer : consumers) {
      out.Text(consumer);
      out.Millis(1);
      out.Length(0);
    }
  }
  return out.TakeBuffer();
}

TEST(RdbStream, RefusesNamesThatComeTwice) {
  EXPECT_TRUE(ReadStream(StreamOfGroups({"g", "h"}, {"a", "b"})));
  EXPECT_STREQ(ReadStream(StreamOfGroups({"g", "h"}, {"a", "a"})).error().why, "Duplicate stream consumer detected.");
  EXPECT_STREQ(ReadStream(StreamOfGroups({"g", "g"}, {"a", "b"})).error().why, "Duplicated consumer group name");
}

}  // namespace
}  // namespace respite
