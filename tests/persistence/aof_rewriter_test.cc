// Data sets as commands. Tests with a server check the effect of the commands of each type:
// tests/server/commands/data/value_commands_test.cc.
#include "persistence/aof_rewriter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "persistence/aof_reader.h"
#include "protocol/request_text.h"
#include "tests/persistence/memory_file.h"

namespace respite {
namespace {

using ::testing::ElementsAre;
using Words = std::vector<std::string>;

void SetText(Database& database, Bytes key, Bytes value, int64_t deadline_ms = kNoDeadline) {
  database.Add(key, StringContent::Text(value), deadline_ms, 0);
}

std::vector<Words> Records(MemoryFile& file) {
  std::vector<Words> records;
  AofReader reader(file);
  RequestBatch batch;
  AofReader::Status status;
  while ((status = reader.Next(batch)) == AofReader::Status::kRecords) {
    for (const auto& request : batch.requests) {
      const auto words = batch.Words(request);
      records.emplace_back(words.begin(), words.end());
    }
  }
  EXPECT_EQ(status, AofReader::Status::kEnd);
  return records;
}

TEST(AofRewriter, WritesLibrariesAndDatabases) {
  Keyspace keyspace(4, {1});
  SetText(keyspace[0], "a", "text");
  SetText(keyspace[2], "b", "-12", 1700000000000);
  MemoryFile file;
  const std::vector<Bytes> libraries{"#!lua name=one\n", "#!lua name=two\n"};
  const auto saved = WriteAofBaseAsCommands(file, keyspace, libraries, {.timestamp_s = 1234567890}, nullptr);
  ASSERT_TRUE(saved);
  EXPECT_EQ(saved.value().keys, 2u);
  EXPECT_EQ(saved.value().bytes, file.content.size());
  EXPECT_TRUE(file.content.starts_with("#TS:1234567890\r\n*3\r\n$8\r\nFUNCTION\r\n"));
  EXPECT_THAT(Records(file),
              ElementsAre(Words{"FUNCTION", "LOAD", "#!lua name=one\n"}, Words{"FUNCTION", "LOAD", "#!lua name=two\n"},
                          Words{"SELECT", "0"}, Words{"SET", "a", "text"}, Words{"SELECT", "2"},
                          Words{"SET", "b", "-12"}, Words{"PEXPIREAT", "b", "1700000000000"}));
}

TEST(AofRewriter, NothingIsAnEmptyFile) {
  MemoryFile file;
  const auto saved = WriteAofBaseAsCommands(file, Keyspace(16, {1}), {}, {}, nullptr);
  ASSERT_TRUE(saved);
  EXPECT_EQ(file.content, "");
  EXPECT_EQ(file.syncs, 0);
}

TEST(AofRewriter, ReportsItsProgress) {
  Keyspace keyspace(2, {1});
  for (int i = 0; i < 25; ++i) SetText(keyspace[i % 2], std::to_string(i), "v");
  MemoryFile file;
  std::vector<uint64_t> reports;
  const auto told = [&](uint64_t keys) { reports.push_back(keys); };
  ASSERT_TRUE(WriteAofBaseAsCommands(file, keyspace, {}, {.keys_per_report = 10}, told));
  EXPECT_THAT(reports, ElementsAre(10, 20));
}

TEST(AofRewriter, SyncsPeriodicallyIfConfigured) {
  Keyspace keyspace(1, {1});
  const std::string megabyte(1 << 20, 'x');
  for (int i = 0; i < 70; ++i) SetText(keyspace[0], std::to_string(i), megabyte);
  MemoryFile gradual;
  MemoryFile at_end;
  ASSERT_TRUE(WriteAofBaseAsCommands(gradual, keyspace, {}, {}, nullptr));
  ASSERT_TRUE(WriteAofBaseAsCommands(at_end, keyspace, {}, {.sync = GradualSync::kAtEnd}, nullptr));
  EXPECT_EQ(gradual.syncs, 2);
  EXPECT_EQ(at_end.syncs, 0);
  EXPECT_TRUE(gradual.content == at_end.content);
}

TEST(AofRewriter, EndsWithTheFirstError) {
  Keyspace keyspace(1, {1});
  for (int i = 0; i < 10'000; ++i) SetText(keyspace[0], std::to_string(i), "a value of some length");
  uint64_t told = 0;
  MemoryFile full;
  full.room_bytes = 100'000;
  const auto saved =
      WriteAofBaseAsCommands(full, keyspace, {}, {.keys_per_report = 1}, [&](uint64_t keys) { told = keys; });
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error(), ENOSPC);
  EXPECT_LT(told, 5000u);
  full.content.clear();
  full.room_bytes = 0;
  const std::vector<Bytes> libraries{"code"};
  EXPECT_FALSE(WriteAofBaseAsCommands(full, Keyspace(1, {1}), libraries, {}, nullptr));
}

}  // namespace
}  // namespace respite
