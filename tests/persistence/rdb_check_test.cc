#include "persistence/rdb_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/str_cat.h"
#include "tests/persistence/check_support.h"
#include "tests/persistence/memory_file.h"
#include "tests/persistence/rdb_file_support.h"

namespace respite {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kNow = 1'750'000'000'000;

struct Checked {
  std::optional<uint64_t> end;
  std::string said;
};

Checked Check(const std::string& content) {
  MemoryFile file(content);
  ScriptedConsole console;
  const auto end = CheckRdb(file, "dump.rdb", kNow, console);
  return {end, console.said};
}

std::string SmallFile() {
  Keyspace keyspace = EmptyKeyspace();
  AddSmallValues(keyspace[0]);
  AddString(keyspace[3], "later", StringContent::Text("x"), kNow + 1);
  return WrittenRdb(keyspace);
}

TEST(RdbCheck, TellsWhatAGoodFileHas) {
  const std::string content = SmallFile();
  const Checked checked = Check(content);
  EXPECT_EQ(checked.end, content.size());
  EXPECT_THAT(checked.said, HasSubstr("[offset 0] Checking RDB file dump.rdb\n"));
  EXPECT_THAT(checked.said, HasSubstr("AUX FIELD redis-ver = '7.2.6'\n"));
  EXPECT_THAT(checked.said, HasSubstr("Selecting DB ID 3\n"));
  const std::string end = StrCat("[offset ", content.size(), "] ");
  EXPECT_THAT(checked.said, HasSubstr(end + "Checksum OK\n" + end + "\\o/ RDB looks OK! \\o/\n"));
  EXPECT_THAT(checked.said, HasSubstr("[info] 16 keys read\n[info] 3 expires\n[info] 2 already expired\n"));
}

TEST(RdbCheck, EveryTruncationIsFound) {
  const std::string content = SmallFile();
  for (size_t size = 0; size < content.size(); ++size) {
    const Checked checked = Check(content.substr(0, size));
    ASSERT_FALSE(checked.end) << size;
    ASSERT_THAT(checked.said, HasSubstr("--- RDB ERROR DETECTED ---\n")) << size;
    ASSERT_THAT(checked.said, HasSubstr("Unexpected EOF reading RDB file\n[additional info] While doing: ")) << size;
  }
}

TEST(RdbCheck, NamesAFileThatIsNoDump) {
  EXPECT_THAT(Check("\x1f\x8b\x08gz").said, HasSubstr("[info] The file is compressed by gzip\n"));
  EXPECT_THAT(Check("*1\r\n$4\r\nPING\r\n").said, HasSubstr("[info] The file is an append-only file\n"));
}

TEST(RdbCheck, NamesTheKeyThatIsBad) {
  std::string content("REDIS0011\xfe\x00\x00\x03key\x01v", 18);
  content += std::string("\x14\x03set\x02zz", 8);
  const Checked checked = Check(content);
  EXPECT_FALSE(checked.end);
  EXPECT_THAT(checked.said, HasSubstr("While doing: read-object-value\n[additional info] Reading key 'set'\n"
                                      "[additional info] Reading type 20 (set-listpack)\n[info] 2 keys read\n"));
}

TEST(RdbCheck, DistinguishesAWrongChecksumFromAMissingOne) {
  std::string content = SmallFile();
  content.replace(content.size() - 8, 8, "12345678");
  EXPECT_THAT(Check(content).said, HasSubstr("] RDB CRC error\n[additional info] While doing: check-sum\n[info] 16"));
  content.replace(content.size() - 8, 8, 8, '\0');
  EXPECT_TRUE(Check(content).end);
  EXPECT_THAT(Check(content).said, HasSubstr("] RDB file was saved with checksum disabled: no check performed.\n"));
}

TEST(RdbCheck, SkipsDataOfModules) {
  // An integer and a text of a module, then a string.
  const std::string content("REDIS0004\x07\x03mod\x81\0\0\0\0\0\0\0\0\x01\x02\x05\0\0\0\x01k\x01v\xff", 34);
  const Checked checked = Check(content);
  EXPECT_TRUE(checked.end) << checked.said;
  EXPECT_THAT(checked.said, HasSubstr("[info] 2 keys read\n"));
}

TEST(RdbCheck, EscapesWhatATerminalWouldObey) {
  std::string content("REDIS0004\xfa\x02\x1b[\x01\x07\xff", 16);
  EXPECT_THAT(Check(content).said, HasSubstr("AUX FIELD \\x1b[ = '\\a'\n"));
  EXPECT_THAT(Check(content).said, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace respite
