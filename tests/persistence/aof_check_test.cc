#include "persistence/aof_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "persistence/aof_reader.h"
#include "tests/persistence/check_support.h"
#include "tests/persistence/rdb_file_support.h"

namespace respite {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Action = AofCheckOptions::Action;

const std::string kSet = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n";  // 27 bytes, 7 lines
const std::string kMulti = "*1\r\n$5\r\nMULTI\r\n";
const std::string kExec = "*1\r\n$4\r\nEXEC\r\n";

class AofCheck : public ::testing::Test {
 protected:
  bool Check(const std::string& path, AofCheckOptions options = {}) {
    console_.said.clear();
    return CheckAof(files_, path, options, console_);
  }
  // Returns what the check prints for a file with this content, without the first line.
  std::string Output(const std::string& content) {
    files_.Put("f.aof", content);
    Check("f.aof");
    return console_.said.substr(console_.said.find('\n') + 1);
  }
  void ExpectFixed(const std::string& content, const std::string& good) {
    files_.Put("f.aof", content);
    EXPECT_FALSE(Check("f.aof"));
    EXPECT_EQ(files_.Content("f.aof"), content) << "a look changes nothing";
    EXPECT_TRUE(Check("f.aof", {.action = Action::kFix})) << console_.said;
    EXPECT_THAT(console_.said, HasSubstr("Successfully truncated AOF f.aof\n"));
    EXPECT_EQ(files_.Content("f.aof"), good);
    EXPECT_TRUE(Check("f.aof")) << console_.said;
  }
  void PutParts(const std::string& base, const std::string& first, const std::string& last) {
    files_.MakeDirectory("d");
    files_.Put("d/m", "# parts\nfile base seq 1 type b\nfile i1 seq 1 type i\nfile i2 seq 2 type i\n");
    files_.Put("d/base", base);
    files_.Put("d/i1", first);
    files_.Put("d/i2", last);
  }

  FaultyFiles files_;
  ScriptedConsole console_;
};

TEST_F(AofCheck, AGoodFileIsValid) {
  EXPECT_EQ(Output("#TS:1\r\n" + kSet + kMulti + kSet + kExec),
            "AOF analyzed: filename=f.aof, size=90, ok_up_to=90, ok_up_to_line=21, diff=0\nAOF f.aof is valid\n");
  EXPECT_EQ(Output(""), "AOF f.aof is empty\n");
}

TEST_F(AofCheck, CutsNothingThatItCannotRead) {
  files_.Put("f.aof", kSet);
  Check("f.aof");
  const uint64_t reads = files_.Count(FaultyFiles::Operation::kRead);
  for (uint64_t nth = 1; nth <= reads; ++nth) {
    files_.FailAt(FaultyFiles::Operation::kRead, nth, EIO);
    EXPECT_FALSE(Check("f.aof", {.action = Action::kFix})) << nth;
    EXPECT_EQ(console_.questions, 0) << nth;
    EXPECT_EQ(files_.Content("f.aof"), kSet) << nth;
    files_.Recover();
  }
  EXPECT_GE(reads, 3u);
}

TEST_F(AofCheck, ExplainsWhatIsWrong) {
  EXPECT_THAT(Output(kSet + "junk"), HasSubstr("AOF f.aof format error\nAOF analyzed: filename=f.aof, size=31, "
                                               "ok_up_to=27, ok_up_to_line=8, diff=4\n"
                                               "AOF f.aof is not valid. Use the --fix option to try fixing it.\n"));
  EXPECT_THAT(Output("*1\r\n#4"), HasSubstr("0x               4: Expected prefix '$', got: '#'\n"));
  EXPECT_THAT(Output("*1x\n"), HasSubstr("0x               0: Expected \\r\\n, got: 780a\n"));
  EXPECT_THAT(Output("*1\r\n$2\r\nabcd"), HasSubstr("0x               8: Expected \\r\\n, got: 6364\n"));
  EXPECT_THAT(Output("*1\r\n$9\r\nabcd"), HasSubstr("0x               8: Expected to read 11 bytes, got 4 bytes\n"));
  EXPECT_THAT(Output("*1\r\n$5000000000\r\na"), HasSubstr("Expected to read string of 5000000000 bytes, which is not"));
  EXPECT_THAT(Output("*0\r\n"), HasSubstr("Expected another number of arguments\n"));
  EXPECT_THAT(Output(kMulti + kMulti), HasSubstr("0x              17: Unexpected MULTI in AOF f.aof\n"));
  EXPECT_THAT(Output(kSet + kExec), HasSubstr("0x              23: Unexpected EXEC in AOF f.aof\n"));
  EXPECT_THAT(Output(kMulti + kSet), HasSubstr("0x              2a: Reached EOF before reading EXEC for MULTI\n"));
}

TEST_F(AofCheck, ExplainsErrorsAfterALargeArgument) {
  const std::string large = "*2\r\n$100000\r\n" + std::string(100000, 'x') + "\r\n";
  EXPECT_THAT(Output(large + "#4"), HasSubstr("0x           186af: Expected prefix '$', got: '#'\n"));
  EXPECT_THAT(Output(large.substr(0, 1000)), HasSubstr("0x               d: Expected to read 100002 bytes, got 987"));
  std::string no_end = large;
  no_end[100013] = '!';
  EXPECT_THAT(Output(no_end), HasSubstr("0x               d: Expected \\r\\n, got: 210a\n"));
}

TEST_F(AofCheck, FixTruncatesAfterTheLastGoodRecord) {
  ExpectFixed(kSet + "junk", kSet);
  ExpectFixed(kSet + kMulti + kSet, kSet);
  ExpectFixed(kSet + kSet.substr(0, 20), kSet);
  for (const char* annotation : {"#TS:5\r\n", "#OTHER:5\r\n", "#OTHER:5\r\n#TS:5\r\n"}) {
    ExpectFixed(kSet + annotation + kSet.substr(0, 20), kSet + annotation);
    ExpectFixed(kSet + annotation + kMulti + kSet, kSet + annotation);
    ExpectFixed(kSet + annotation + kMulti + kSet.substr(0, 20), kSet + annotation);
  }
}

// A file that is not an append-only file may be the only copy of other data.
TEST_F(AofCheck, NeverCutsAFileFromItsFirstByte) {
  struct Case {
    std::string content;
    const char* what;
  };
  for (const Case& one : {Case{"junk", "it begins with \"junk\""}, Case{"\x1f\x8b\x08", "compressed by gzip"},
                          Case{std::string(50, '\0'), "zero bytes"}, Case{"*0\r\n", "has no good record"},
                          Case{kExec, "has no good record"}, Case{"# Options\nport 6379\n", "has no good record"}}) {
    files_.Put("f.aof", one.content);
    EXPECT_FALSE(Check("f.aof", {.action = Action::kFix}));
    EXPECT_THAT(console_.said, HasSubstr(one.what));
    EXPECT_EQ(files_.Content("f.aof"), one.content);
    EXPECT_EQ(console_.questions, 0);
  }
  PutParts(kSet, kSet, "REDIS0011\xfa");
  EXPECT_FALSE(Check("d/m", {.action = Action::kFix}));
  EXPECT_THAT(console_.said, HasSubstr("AOF i2 is not valid: it is a snapshot of Redis (REDIS0011)"));
  EXPECT_EQ(files_.Content("d/i2"), "REDIS0011\xfa");
  PutParts("VALKEY080\xfa", kSet, kSet);
  EXPECT_FALSE(Check("d/m", {.action = Action::kFix}));
  EXPECT_THAT(console_.said, HasSubstr("Start to check BASE AOF (RDB format).\n"));
  EXPECT_THAT(console_.said, HasSubstr("RDB preamble of AOF file is not sane"));
  EXPECT_EQ(console_.questions, 0);
}

TEST_F(AofCheck, FixCutsNoCompleteRecord) {
  std::string longer = kSet;
  longer[longer.rfind("$1") + 1] = '9';
  const std::string missing_word = "*2" + kSet.substr(2);
  for (const std::string& damaged : {longer + kSet, missing_word + kSet, kMulti + longer + kExec, "junk\r\n" + kSet}) {
    const std::string content = kSet + damaged + kSet;
    files_.Put("f.aof", content);
    EXPECT_FALSE(Check("f.aof"));
    EXPECT_THAT(console_.said, Not(HasSubstr("Use the --fix option")));
    EXPECT_FALSE(Check("f.aof", {.action = Action::kFix})) << damaged;
    EXPECT_THAT(console_.said, HasSubstr("Make a backup."));
    EXPECT_EQ(files_.Content("f.aof"), content);
    EXPECT_EQ(console_.questions, 0);
  }
}

// The EXEC may be missing because it is damaged, or because Redis has removed a damaged end. Then acknowledged records
// may follow.
TEST_F(AofCheck, FixKeepsATransactionWithoutExec) {
  std::string exed = kExec;
  exed[exed.find('C')] = 'D';
  const std::string rest = kMulti + kSet + exed + kSet + kSet;
  for (const char* kept : {"f.aof.removed", "f.aof.removed.2"}) {
    ExpectFixed(kSet + rest, kSet);
    EXPECT_THAT(console_.said, HasSubstr("is valid"));
    EXPECT_EQ(files_.Content(kept), rest);
  }
  ExpectFixed(kSet + kMulti, kSet);
  EXPECT_EQ(files_.KindOf("f.aof.removed.3"), FileSystem::Kind::kAbsent) << "there was no complete record";
  files_.FailAt(FaultyFiles::Operation::kSync, 1, ENOSPC);
  files_.Put("f.aof", kSet + rest);
  EXPECT_FALSE(Check("f.aof", {.action = Action::kFix}));
  EXPECT_THAT(console_.said, HasSubstr("Cannot copy the end of f.aof: No space left on device"));
  EXPECT_EQ(files_.Content("f.aof"), kSet + rest);
}

// The search for later records needs the line end before them.
TEST_F(AofCheck, FixKeepsWhatMayBeARecord) {
  std::string damaged = kSet + kSet;
  damaged[kSet.size() - 1] = 'x';
  ExpectFixed(kSet + damaged, kSet);
  EXPECT_EQ(files_.Content("f.aof.removed"), damaged);
  const std::string unopened = "*1\r\n$5\r\nNULTI\r\n" + kExec + kSet;
  files_.Put("f.aof", kSet + unopened);
  if (Check("f.aof", {.action = Action::kFix})) {
    EXPECT_THAT(files_.Content("f.aof.removed.2"), testing::EndsWith(kSet));
  }
}

TEST_F(AofCheck, FixRemovesZerosAfterTheLastRecord) {
  ExpectFixed(kSet + std::string(100, '\0'), kSet);
  ExpectFixed(kSet + kSet.substr(0, 20) + std::string(100, '\0'), kSet);
}

TEST_F(AofCheck, EveryTruncationIsFixed) {
  const std::string content = kSet + kMulti + kSet + kSet + kExec;
  for (size_t size = 1; size < content.size(); ++size) {
    if (size == kSet.size()) continue;
    ExpectFixed(content.substr(0, size), size < kSet.size() ? "" : kSet);
  }
}

TEST_F(AofCheck, FixAsksBefore) {
  console_.says_yes = false;
  files_.Put("f.aof", kSet + "junk");
  EXPECT_FALSE(Check("f.aof", {.action = Action::kFix}));
  EXPECT_THAT(console_.said, HasSubstr("This will shrink the AOF f.aof from 31 bytes, with 4 bytes, to 27 bytes\n"
                                       "Continue? [y/N]: \nAborting...\n"));
  EXPECT_EQ(files_.Content("f.aof"), kSet + "junk");
}

TEST_F(AofCheck, FixLeavesAFileThatAServerWritesTo) {
  files_.Put("f.aof", kSet + "junk");
  const auto server = files_.Lock("f.aof");
  EXPECT_FALSE(Check("f.aof", {.action = Action::kFix}));
  EXPECT_THAT(console_.said, HasSubstr("A server that is running writes to f.aof\nFailed to truncate AOF f.aof\n"));
  EXPECT_EQ(files_.Content("f.aof"), kSet + "junk");
}

TEST_F(AofCheck, FixTellsWhenItFails) {
  files_.Put("f.aof", kSet + "junk");
  files_.FailAt(FaultyFiles::Operation::kTruncate, 1, EIO);
  EXPECT_FALSE(Check("f.aof", {.action = Action::kFix}));
  EXPECT_THAT(console_.said, HasSubstr("Failed to truncate AOF f.aof\n"));
}

TEST_F(AofCheck, AllPartsOfAManifestAreChecked) {
  Keyspace keyspace = EmptyKeyspace();
  AddSmallValues(keyspace[0]);
  PutParts(WrittenRdb(keyspace), kSet, "");
  EXPECT_TRUE(Check("d/m")) << console_.said;
  EXPECT_THAT(console_.said, HasSubstr("Start to check BASE AOF (RDB format).\n[offset 0] Checking RDB file d/base\n"));
  EXPECT_THAT(console_.said, HasSubstr("BASE AOF base is valid\nStart to check INCR files.\n"));
  EXPECT_THAT(console_.said, HasSubstr("INCR AOF i1 is valid\nINCR AOF i2 is empty\nAll AOF files and manifest are "));
}

TEST_F(AofCheck, OnlyTheLastPartIsCut) {
  PutParts(kSet, kSet + "junk", kSet);
  EXPECT_FALSE(Check("d/m", {.action = Action::kFix}));
  EXPECT_THAT(console_.said, HasSubstr("Failed to truncate AOF i1 because it is not the last file\n"));
  PutParts(kSet, kSet, kSet + "junk");
  EXPECT_TRUE(Check("d/m", {.action = Action::kFix}));
  EXPECT_EQ(files_.Content("d/i2"), kSet);
  EXPECT_TRUE(Check("d/m"));
}

TEST_F(AofCheck, RefusesAManifestThatIsWrong) {
  files_.Put("m", "file x seq 1 type q\n");
  EXPECT_FALSE(Check("m"));
  EXPECT_THAT(console_.said, HasSubstr("*** FATAL AOF MANIFEST FILE ERROR ***\n"));
  EXPECT_THAT(console_.said, HasSubstr(">>> 'file x seq 1 type q'\n"));
  EXPECT_THAT(console_.said, HasSubstr("Unknown AOF file type\n"));
  files_.Put("m", "file absent seq 1 type b\n");
  EXPECT_FALSE(Check("m"));
  EXPECT_THAT(console_.said, HasSubstr("Cannot open file ./absent: No such file or directory\n"));
  EXPECT_FALSE(Check("nowhere"));
  EXPECT_THAT(console_.said, HasSubstr("Cannot open file nowhere: No such file or directory\n"));
}

TEST_F(AofCheck, AnRdbPreambleMayHaveATail) {
  Keyspace keyspace = EmptyKeyspace();
  AddSmallValues(keyspace[0]);
  const std::string rdb = WrittenRdb(keyspace);
  ExpectFixed(rdb + kSet + "junk", rdb + kSet);
  std::string damaged = rdb;
  damaged.back() = static_cast<char>(damaged.back() + 1);
  files_.Put("f.aof", damaged + kSet);
  EXPECT_FALSE(Check("f.aof", {.action = Action::kFix}));
  EXPECT_THAT(console_.said, HasSubstr("RDB preamble of AOF file is not sane, aborting.\n"));
  EXPECT_EQ(console_.questions, 1);
}

class AofCut : public AofCheck {
 protected:
  bool Cut(const std::string& content, int64_t seconds) {
    files_.Put("f.aof", content);
    return Check("f.aof", {.action = Action::kTruncateToTimestamp, .timestamp_s = seconds});
  }
};

TEST_F(AofCut, RemovesLaterRecords) {
  const std::string first = "#TS:100\r\n" + kSet + "#TS:200\r\n" + kSet;
  const std::string content = first + "#TS:300\r\n" + kSet + "damaged";
  EXPECT_TRUE(Cut(content, 200));
  EXPECT_THAT(console_.said, HasSubstr("Successfully truncated AOF f.aof to timestamp 200\n"));
  EXPECT_EQ(files_.Content("f.aof"), first);
  EXPECT_TRUE(Cut(first, 200));
  EXPECT_THAT(console_.said, HasSubstr("Truncate nothing in AOF f.aof to timestamp 200\nAOF f.aof is valid\n"));
  EXPECT_FALSE(Cut(content, 99));
  EXPECT_THAT(console_.said, HasSubstr("AOF f.aof has nothing before timestamp 99, aborting...\n"));
  EXPECT_FALSE(Cut(content, 300)) << "what is before that time is damaged";
  EXPECT_FALSE(Cut("#TS:x\r\n" + kSet, 300));
  EXPECT_THAT(console_.said, HasSubstr("Invalid timestamp annotation\n"));
}

TEST_F(AofCut, LeavesNoHalfTransaction) {
  const std::string content = kSet + kMulti + "#TS:300\r\n" + kSet + kExec;
  EXPECT_TRUE(Cut(content, 200));
  EXPECT_EQ(files_.Content("f.aof"), kSet);
}

TEST_F(AofCut, CutsOnlyTheLastPart) {
  PutParts(kSet, kSet + "#TS:300\r\n" + kSet, kSet);
  EXPECT_FALSE(Check("d/m", {.action = Action::kTruncateToTimestamp, .timestamp_s = 200}));
  EXPECT_THAT(console_.said, HasSubstr("because it is not the last file.\nIf you insist, please delete all files"));
}

TEST_F(AofCut, FindsAnnotationsAfterAnyNumberOfRecords) {
  for (size_t records = 1; records < 40; ++records) {
    std::string good;
    for (size_t i = 0; i < records; ++i) good += kSet;
    EXPECT_TRUE(Cut(good + "#TS:300\r\n" + good, 200));
    ASSERT_EQ(files_.Content("f.aof"), good) << records;
  }
}

}  // namespace
}  // namespace respite
