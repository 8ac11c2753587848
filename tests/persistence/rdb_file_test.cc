// RDB files written and read again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/persistence/rdb_file_support.h"

namespace respite {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Keyspace FullKeyspace() {
  Keyspace keyspace = EmptyKeyspace();
  AddSmallValues(keyspace[0]);
  AddLargeValues(keyspace[0]);
  AddSmallValues(keyspace[9]);
  return keyspace;
}

void ExpectSame(const Keyspace& actual, const Keyspace& expected) {
  EXPECT_EQ(DigestText(actual), DigestText(expected));
  for (int db = 0; db < expected.Count(); ++db) {
    EXPECT_EQ(actual[db].Size(), expected[db].Size());
    EXPECT_EQ(actual[db].TimedSize(), expected[db].TimedSize());
    EXPECT_EQ(actual[db].TimedFields().Size(), expected[db].TimedFields().Size());
    expected[db].ForEach([&](const Entry* entry) {
      const Entry* read = actual[db].Find(entry->Key());
      ASSERT_NE(read, nullptr) << entry->Key();
      EXPECT_EQ(read->Deadline(), entry->Deadline()) << entry->Key();
      if (entry->Key() != "raw") {  // the one thing that files do not tell
        EXPECT_EQ(read->Form(), entry->Form()) << entry->Key();
      }
    });
  }
}

TEST(RdbFile, GoesBothWays) {
  const Keyspace keyspace = FullKeyspace();
  for (RdbCompression compression : {RdbCompression::kOff, RdbCompression::kOn}) {
    const std::string content = WrittenRdb(keyspace, {.compression = compression});
    EXPECT_EQ(content.substr(0, 9), "REDIS0011");
    KeyspaceSink sink;
    const auto end = ReadRdb(content, sink);
    ASSERT_EQ(Outcome(end), "good");
    EXPECT_EQ(end.value(), content.size());
    ExpectSame(sink.keyspace, keyspace);
    EXPECT_THAT(sink.aux, ElementsAre(Pair("redis-bits", "64"), Pair("redis-ver", "7.2.6")));
    EXPECT_THAT(sink.libraries, ElementsAre("#!lua name=one\nreturn 1", "#!lua name=two"));
    EXPECT_THAT(sink.sizes, ElementsAre(Pair(0, Pair(18u, 2u)), Pair(9, Pair(12u, 2u))));
    EXPECT_THAT(sink.empty_keys, testing::IsEmpty());
  }
}

TEST(RdbFile, IsOfVersion12WhenFieldsHaveDeadlines) {
  Keyspace keyspace = FullKeyspace();
  AddHash(keyspace[3], "timed", 5, Deadlines::kSome);
  AddHash(keyspace[3], "timed table", 700, Deadlines::kSome);
  const std::string content = WrittenRdb(keyspace);
  EXPECT_EQ(content.substr(0, 9), "REDIS0012");
  KeyspaceSink sink;
  ASSERT_EQ(Outcome(ReadRdb(content, sink)), "good");
  ExpectSame(sink.keyspace, keyspace);
}

TEST(RdbFile, OfNothingHasOnlyItsFrame) {
  FaultyFiles files;
  auto file = files.Open("a", FileSystem::Mode::kCreate);
  const Keyspace keyspace = EmptyKeyspace();
  const auto saved = WriteRdb(*file.value(), {keyspace, {}, {{"aof-base", "1"}}},
                              {.checksum = RdbSaveOptions::Checksum::kZero}, nullptr);
  ASSERT_TRUE(saved.ok());
  EXPECT_EQ(saved.value().keys, 0u);
  EXPECT_EQ(files.Content("a"),
            "REDIS0011\xfa\x08"
            "aof-base\xc0\x01\xff\0\0\0\0\0\0\0\0"s);
}

}  // namespace
}  // namespace respite
