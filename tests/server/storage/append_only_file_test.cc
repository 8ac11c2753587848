// The append-only file of whole servers, on files that fail and crash: acknowledged writes survive a restart.
#include "server/storage/append_only_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "server/storage/data_set.h"
#include "tests/support/faulty_files.h"
#include "tests/support/reply_matchers.h"
#include "tests/support/server_life.h"
#include "tests/support/test_client.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

using Operation = FaultyFiles::Operation;

constexpr char kManifest[] = "appendonlydir/appendonly.aof.manifest";
constexpr char kBase[] = "appendonlydir/appendonly.aof.1.base.rdb";
constexpr char kIncremental[] = "appendonlydir/appendonly.aof.1.incr.aof";

class AppendOnlyFileTest : public testing::Test {
 protected:
  using Life = ServerLife;

  std::unique_ptr<Life> Start(std::vector<std::string> more = {}) {
    std::vector<std::string> directives = {"appendonly yes", "appendfsync always"};
    directives.insert(directives.end(), more.begin(), more.end());
    return std::make_unique<Life>(files_, directives);
  }
  // Returns the data set after the next start.
  Snapshot DataAfterRestart() {
    auto life = Start();
    EXPECT_NE(life->outcome(), LoadOutcome::kFailed);
    return life->Data();
  }

  FaultyFiles files_;
};

TEST_F(AppendOnlyFileTest, BeginsWithABaseAndAnIncremental) {
  auto life = Start();
  EXPECT_EQ(life->outcome(), LoadOutcome::kAbsent);
  EXPECT_EQ(files_.Content(kManifest),
            "file appendonly.aof.1.base.rdb seq 1 type b\nfile appendonly.aof.1.incr.aof seq 1 type i\n");
  EXPECT_TRUE(files_.Has(kBase));
  EXPECT_EQ(files_.Content(kIncremental), "");
}

TEST_F(AppendOnlyFileTest, WhatWasAcknowledgedIsThereAfterACrash) {
  auto life = Start();
  life->Run("SET k v");
  life->Run("HSET h f 1 g 2");
  life->Run("MULTI");
  life->Run("RPUSH l a b");
  life->Run("SELECT 2");
  life->Run("INCRBYFLOAT n 1.5");
  life->Run("EXEC");
  life->Run("EVAL \"redis.call('SADD', 's', 'x'); redis.call('ZADD', 'z', 1, 'y')\" 0");
  const Snapshot before = life->Data();
  EXPECT_EQ(before.size(), 6u);
  files_.Crash();
  life.reset();
  EXPECT_EQ(SnapshotDifference(before, DataAfterRestart()), "");
}

TEST_F(AppendOnlyFileTest, SeveralStartsAppendToOneFile) {
  for (int i = 0; i < 3; ++i) {
    auto life = Start();
    life->Run("INCR lives");
    files_.Crash();
  }
  auto life = Start();
  EXPECT_THAT(life->Run("GET lives"), Bulk("3"));
}

TEST_F(AppendOnlyFileTest, SlowDiskOperationsAreLatencyEvents) {
  auto life = Start({"latency-monitor-threshold 1"});
  life->Run("SET k v");
  life->server().clock().AdvanceWithEachReading(1000);
  life->Run("BGREWRITEAOF");
  life->server().Cron();
  life->Run("SET k w");
  life->server().clock().AdvanceWithEachReading(0);
  for (const char* event : {"aof-rename", "aof-fstat", "aof-write", "aof-write-alone", "aof-fsync-always", "fork"}) {
    EXPECT_EQ(life->Run("LATENCY HISTORY " + std::string(event)).Size(), 1u) << event;
  }
}

TEST_F(AppendOnlyFileTest, ARewriteReplacesWhatCameBefore) {
  auto life = Start();
  for (int i = 0; i < 100; ++i) life->Run("INCR counter");
  EXPECT_THAT(life->Run("BGREWRITEAOF"), Simple("Background append only file rewriting started"));
  life->Run("SET later 1");
  life->server().Cron();
  EXPECT_EQ(files_.Content(kManifest),
            "file appendonly.aof.2.base.rdb seq 2 type b\nfile appendonly.aof.2.incr.aof seq 2 type i\n");
  EXPECT_FALSE(files_.Has(kBase));
  EXPECT_FALSE(files_.Has(kIncremental));
  const Snapshot before = life->Data();
  files_.Crash();
  life.reset();
  EXPECT_EQ(SnapshotDifference(before, DataAfterRestart()), "");
}

TEST_F(AppendOnlyFileTest, ARewriteAsCommands) {
  auto life = Start({"aof-use-rdb-preamble no"});
  life->Run("RPUSH l a b c");
  life->Run("SET t v PX 100000");
  life->Run("BGREWRITEAOF");
  life->server().Cron();
  EXPECT_TRUE(files_.Has("appendonlydir/appendonly.aof.2.base.aof"));
  const Snapshot before = life->Data();
  life.reset();
  EXPECT_EQ(SnapshotDifference(before, DataAfterRestart()), "");
}

TEST_F(AppendOnlyFileTest, ARewriteThatFailsLosesNothing) {
  auto life = Start();
  life->Run("SET a 1");
  life->server().forker().FailNext(ENOMEM);
  EXPECT_THAT(life->Run("BGREWRITEAOF"), ErrorStartsWith("ERR Can't execute an AOF background rewriting"));
  life->server().forker().Hold();
  life->Run("BGREWRITEAOF");
  life->Run("SET b 2");
  life->server().forker().Crash(9);
  life->server().Cron();
  EXPECT_THAT(life->Run("SET c 3"), Ok());
  const Snapshot before = life->Data();
  files_.Crash();
  life.reset();
  auto next = Start();
  EXPECT_EQ(SnapshotDifference(before, next->Data()), "");
  next->Run("BGREWRITEAOF");
  next->server().Cron();
  EXPECT_EQ(next->server()->services().storage.aof.directory().manifest().incrementals().size(), 1u);
  next.reset();
  EXPECT_EQ(SnapshotDifference(before, DataAfterRestart()), "");
}

// Some file operations fail; acknowledged writes must survive, and no data may appear that was not sent.
TEST_F(AppendOnlyFileTest, NothingAcknowledgedIsLostWhateverFails) {
  const std::vector<Operation> kinds = {Operation::kOpen,         Operation::kWrite,         Operation::kSync,
                                        Operation::kRename,       Operation::kSyncDirectory, Operation::kTruncate,
                                        Operation::kMakeDirectory};
  for (Operation kind : kinds) {
    for (uint64_t nth = 1; nth <= 14; ++nth) {
      FaultyFiles files;
      std::map<std::string, bool> sent;  // maps a write to whether it was acknowledged
      {
        files.FailAt(kind, nth, EIO);
        Life life(files, {"appendonly yes", "appendfsync always"});
        for (int i = 0; i < 6 && life.outcome() != LoadOutcome::kFailed; ++i) {
          const std::string key = StrCat("key", i);
          const TestReply reply = life.Run("SET " + key + " v");
          sent[key] = reply.HasValue() && !reply.tree->IsError();
          if (life.server().StoppedWith()) break;
          if (i % 2 == 1) {
            life.Run("BGREWRITEAOF");
            life.server().Cron();
          }
        }
        files.Crash();
      }
      files.Recover();
      Life life(files, {"appendonly yes", "appendfsync always"});
      ASSERT_NE(life.outcome(), LoadOutcome::kFailed) << static_cast<int>(kind) << " " << nth;
      for (const auto& [key, acknowledged] : sent) {
        if (!acknowledged) continue;
        EXPECT_THAT(life.Run("GET " + key), Bulk("v"))
            << "operation " << static_cast<int>(kind) << " failed at " << nth;
      }
      EXPECT_LE(life.Data().size(), sent.size());
    }
  }
}

TEST_F(AppendOnlyFileTest, ATornTailIsCutAtEveryByte) {
  {
    auto life = Start();
    life->Run("SET first 1");
    life->Run("SET last 2");
  }
  const std::string whole = files_.Content(kIncremental);
  const size_t first = whole.find("last") - Bytes("*3\r\n$3\r\nSET\r\n$4\r\n").size();
  for (size_t size = first; size <= whole.size(); ++size) {
    files_.Put(kIncremental, Bytes(whole).substr(0, size));
    auto life = Start();
    ASSERT_EQ(life->outcome(), LoadOutcome::kLoaded) << size;
    EXPECT_EQ(life->Data().size(), size == whole.size() ? 2u : 1u) << size;
    EXPECT_EQ(files_.Content(kIncremental).size(), size == whole.size() ? size : first);
    EXPECT_THAT(life->Run("SET third 3"), Ok());
    life.reset();
    EXPECT_EQ(DataAfterRestart().size(), size == whole.size() ? 3u : 2u) << "what follows a cut can be read";
  }
}

TEST_F(AppendOnlyFileTest, AnIncompleteTransactionIsDropped) {
  {
    auto life = Start();
    life->Run("SET first 1");
    life->Run("MULTI");
    life->Run("SET a 1");
    life->Run("SET b 2");
    life->Run("EXEC");
  }
  const std::string whole = files_.Content(kIncremental);
  const size_t multi = whole.find("*1\r\n$5\r\nMULTI");
  for (size_t size = multi; size < whole.size(); ++size) {
    files_.Put(kIncremental, Bytes(whole).substr(0, size));
    auto life = Start();
    EXPECT_EQ(life->Data().size(), 1u) << size;
    EXPECT_EQ(files_.Content(kIncremental).size(), multi);
    const std::string kept = StrCat(kIncremental, ".removed");
    const bool has_commands = size >= whole.find("*3\r\n$3\r\nSET\r\n$1\r\nb");
    ASSERT_EQ(files_.KindOf(kept) == FileSystem::Kind::kFile, has_commands) << size;
    if (!has_commands) continue;
    EXPECT_EQ(files_.Content(kept), Bytes(whole).substr(multi, size - multi));
    files_.Remove(kept);
  }
}

// A full disk must not prevent the start.
TEST_F(AppendOnlyFileTest, AnIncompleteTransactionIsDroppedAlsoIfItCannotBeKept) {
  Start()->Run("SET k v");
  const std::string good = files_.Content(kIncremental);
  files_.Put(kIncremental, good + "*1\r\n$5\r\nMULTI\r\n*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$1\r\ny\r\n");
  files_.FailAt(FaultyFiles::Operation::kWrite, 1, ENOSPC);
  auto life = Start();
  EXPECT_EQ(life->outcome(), LoadOutcome::kLoaded);
  EXPECT_THAT(life->Log(), testing::HasSubstr("Cannot keep the removed end of the file: No space left on device"));
  EXPECT_EQ(files_.KindOf(StrCat(kIncremental, ".removed")), FileSystem::Kind::kAbsent);
  EXPECT_EQ(files_.Content(kIncremental), good);
}

TEST_F(AppendOnlyFileTest, ATornTailIsFatalWithoutAofLoadTruncated) {
  Start()->Run("SET k v");
  std::string torn = files_.Content(kIncremental);
  torn.pop_back();
  files_.Put(kIncremental, torn);
  EXPECT_EQ(Start({"aof-load-truncated no"})->outcome(), LoadOutcome::kFailed);
  EXPECT_EQ(files_.Content(kIncremental), torn) << "it is left as it is";
}

TEST_F(AppendOnlyFileTest, ASmallCorruptTailIsCutIfTheDirectivePermits) {
  Start()->Run("SET k v");
  const std::string good = files_.Content(kIncremental);
  const std::string transaction = "*1\r\n$5\r\nMULTI\r\n*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$1\r\ny\r\n";
  for (const std::string& before : {std::string(), transaction}) {
    const std::string damaged = good + before + "0123456789\r\n";
    for (const char* size : {"0", "12"}) {
      files_.Put(kIncremental, damaged);
      EXPECT_EQ(Start({StrCat("aof-load-corrupt-tail-max-size ", size)})->outcome(), LoadOutcome::kFailed);
      EXPECT_EQ(files_.Content(kIncremental), damaged) << "it is left as it is";
    }
    auto life = Start({"aof-load-corrupt-tail-max-size 13", "aof-load-truncated no"});
    EXPECT_EQ(life->outcome(), LoadOutcome::kLoaded);
    EXPECT_EQ(life->Data().size(), 1u);
    EXPECT_EQ(files_.Content(kIncremental), good);
    EXPECT_THAT(life->Log(), testing::HasSubstr("loaded anyway because aof-load-corrupt-tail-max-size is enabled"));
    const std::string kept = StrCat(kIncremental, ".removed");
    EXPECT_EQ(files_.Content(kept), before + "0123456789\r\n");
    files_.Remove(kept);
  }
}

TEST_F(AppendOnlyFileTest, ATornFileInTheMiddleIsFatal) {
  auto life = Start();
  life->Run("SET k v");
  life->server().forker().Hold();
  life->Run("BGREWRITEAOF");
  life->server().forker().Crash(9);
  life->server().Cron();
  life->Run("SET l w");
  life.reset();
  std::string torn = files_.Content(kIncremental);
  torn.pop_back();
  files_.Put(kIncremental, torn);
  EXPECT_EQ(Start()->outcome(), LoadOutcome::kFailed);
  EXPECT_EQ(files_.Content(kIncremental), torn) << "whoever looks after it finds it as it was";
}

TEST_F(AppendOnlyFileTest, BadFilesAreFatal) {
  Start()->Run("SET k v");
  const std::string good = files_.Content(kIncremental);
  const char* const bad[] = {"*x\r\n", "hello\r\n", "*1\r\n$9\r\nNOCOMMAND\r\n", "*3\r\n$3\r\nSET\r\n$-1\r\n"};
  for (const char* tail : bad) {
    files_.Put(kIncremental, good + tail);
    EXPECT_EQ(Start()->outcome(), LoadOutcome::kFailed) << tail;
  }
  files_.Put(kIncremental, good);
  files_.Put(kManifest, "file x seq 1 type q\n");
  EXPECT_EQ(Start()->outcome(), LoadOutcome::kFailed);
}

TEST_F(AppendOnlyFileTest, ADamagedLengthDoesNotCutTheRecordsAfterIt) {
  {
    auto life = Start();
    life->Run("SET big " + std::string(5000, 'v'));
    for (int i = 0; i < 10; ++i) life->Run(StrCat("SET k", i, " v"));
  }
  std::string damaged = files_.Content(kIncremental);
  damaged[damaged.find("$5000") + 1] = '9';
  files_.Put(kIncremental, damaged);
  auto life = Start();
  EXPECT_EQ(life->outcome(), LoadOutcome::kFailed);
  EXPECT_EQ(files_.Content(kIncremental), damaged);
  const std::string at = std::to_string(damaged.find("*3\r\n$3\r\nSET\r\n$2\r\nk0"));
  EXPECT_THAT(life->Log(), testing::HasSubstr("but a complete record (SET) begins at offset " + at));
  life.reset();
  EXPECT_EQ(Start({"aof-load-truncated no"})->outcome(), LoadOutcome::kFailed);
  // The user decides that the remaining bytes are a value that was cut off.
  files_.Put(kIncremental, Bytes(damaged).substr(0, damaged.find("*3\r\n$3\r\nSET\r\n$3\r\nbig")));
  EXPECT_EQ(Start()->outcome(), LoadOutcome::kLoaded);
}

TEST_F(AppendOnlyFileTest, ATransactionWithoutEndIsFatalIfAnotherFollows) {
  Start()->Run("SET k v");
  const std::string good = files_.Content(kIncremental);
  const std::string multi = "*1\r\n$5\r\nMULTI\r\n";
  for (const std::string& tail : {std::string("*1\r\n$4\r\nPING\r\n"), std::string("*1\r\n$4\r\nPI")}) {
    const std::string text = good + multi + "*1\r\n$4\r\nPING\r\n" + multi + tail;
    files_.Put(kIncremental, text);
    auto life = Start();
    EXPECT_EQ(life->outcome(), LoadOutcome::kFailed);
    const std::string offsets = StrCat("the transaction at offset ", good.size());
    EXPECT_THAT(life->Log(), testing::HasSubstr(offsets));
    EXPECT_THAT(life->Log(), testing::HasSubstr(StrCat("another MULTI is at offset ", good.size() + 29)));
    EXPECT_EQ(files_.Content(kIncremental), text);
  }
}

TEST_F(AppendOnlyFileTest, OtherFilesAreNamedAndKept) {
  Start()->Run("SET k v");
  const std::string good = files_.Content(kBase);
  for (const char* content : {"\x1f\x8b\x08gz", "file x seq 1 type b\n"}) {
    files_.Put(kBase, content);
    auto life = Start();
    EXPECT_EQ(life->outcome(), LoadOutcome::kFailed);
    EXPECT_THAT(life->Log(), testing::HasSubstr("The file was not changed. Do not truncate it"));
    EXPECT_THAT(life->Log(), testing::Not(testing::HasSubstr("--fix")));
    EXPECT_EQ(files_.Content(kBase), content);
  }
  files_.Put(kBase, good);
  EXPECT_EQ(DataAfterRestart().size(), 1u);
}

// A power failure may leave zeros where records were being written. Redis does not start on such a file either.
TEST_F(AppendOnlyFileTest, ZerosAtTheEndAreFatal) {
  Start()->Run("SET k v");
  const std::string text = files_.Content(kIncremental) + std::string(100, '\0');
  files_.Put(kIncremental, text);
  EXPECT_EQ(Start()->outcome(), LoadOutcome::kFailed);
  EXPECT_EQ(files_.Content(kIncremental), text);
}

TEST_F(AppendOnlyFileTest, AMissingPartIsFatal) {
  Start()->Run("SET k v");
  files_.Remove(kBase);
  EXPECT_EQ(Start()->outcome(), LoadOutcome::kFailed);
}

TEST_F(AppendOnlyFileTest, AFileInThePlaceOfTheFolderIsFatal) {
  files_.Put("appendonlydir", "x");
  auto life = Start();
  EXPECT_EQ(life->outcome(), LoadOutcome::kFailed);
  EXPECT_THAT(life->Log(), testing::HasSubstr("Can't open or create append-only dir appendonlydir: Not a directory"));
}

TEST_F(AppendOnlyFileTest, AMissingManifestIsFatal) {
  for (const char* more : {"aof-use-rdb-preamble yes", "aof-use-rdb-preamble no"}) {
    FaultyFiles files;
    const std::vector<std::string> directives = {"appendonly yes", "appendfsync always", more};
    {
      ServerLife life(files, directives);
      life.Run("SET k v");
      life.Run("BGREWRITEAOF");
      life.server().Cron();
    }
    const std::string manifest = files.Content(kManifest);
    files.Remove(kManifest);
    files.Put("appendonly.aof", "*3\r\n$3\r\nSET\r\n$3\r\nold\r\n$1\r\n1\r\n");  // must not be used instead
    const std::vector<std::string> before = files.Paths();
    ServerLife life(files, directives);
    EXPECT_EQ(life.outcome(), LoadOutcome::kFailed);
    EXPECT_THAT(life.Log(),
                testing::HasSubstr("appendonly.aof.manifest doesn't exist, but appendonlydir/appendonly.aof.2."));
    EXPECT_EQ(files.Paths(), before);
    EXPECT_EQ(ServerLife(files, {"appendonly yes", "appendfilename other.aof"}).outcome(), LoadOutcome::kAbsent);
    files.Put(kManifest, manifest);
    EXPECT_EQ(ServerLife(files, directives).Data().size(), 1u);
  }
}

TEST_F(AppendOnlyFileTest, AnEmptyBaseIsFatal) {
  Start()->Run("SET k v");
  files_.Put(kBase, "");
  auto life = Start();
  EXPECT_EQ(life->outcome(), LoadOutcome::kFailed);
  EXPECT_THAT(life->Log(), testing::HasSubstr("appendonly.aof.1.base.rdb is empty"));
}

// The old incremental file is history and will be removed; if it remains, its commands must not be applied again.
TEST_F(AppendOnlyFileTest, FilesLeftByACrashAreNeverAppendedTo) {
  {
    auto life = Start();
    for (int i = 0; i < 10; ++i) life->Run("INCR n");
    life->Run("CONFIG SET appendonly no");
    files_.FailFrom(Operation::kRemove, 1, EIO);
    life->Run("BGREWRITEAOF");
    life->server().Cron();
    files_.Kill();
  }
  files_.Recover();
  for (int start = 0; start < 3; ++start) {
    auto life = Start();
    EXPECT_THAT(life->Run("GET n"), Bulk("10")) << start;
  }
  EXPECT_EQ(files_.Paths().size(), 3u) << "and it goes in the end";
  // A file that no manifest names is not removed.
  files_.Put("appendonlydir/appendonly.aof.9.incr.aof", "mine");
  files_.Put("appendonlydir/appendonly.aof.3.base.rdb", "mine");
  {
    auto life = Start();
    for (int i = 0; i < 9; ++i) {
      life->Run("BGREWRITEAOF");
      life->server().Cron();
    }
    life->Run("INCR n");
  }
  EXPECT_EQ(files_.Content("appendonlydir/appendonly.aof.9.incr.aof"), "mine");
  EXPECT_EQ(files_.Content("appendonlydir/appendonly.aof.3.base.rdb"), "mine");
  EXPECT_THAT(Start()->Run("GET n"), Bulk("11"));
}

TEST_F(AppendOnlyFileTest, AReadOnlyDirectoryKeepsTheOldFiles) {
  auto life = Start();
  life->Run("SET k v");
  for (Operation kind :
       {Operation::kRename, Operation::kRemove, Operation::kMakeDirectory, Operation::kSyncDirectory}) {
    files_.FailFrom(kind, 1, EROFS);
  }
  const std::vector<std::string> before = files_.Paths();
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(life->Run("BGREWRITEAOF"), ErrorStartsWith("ERR Can't execute an AOF background rewriting"));
    EXPECT_THAT(life->Run("INCR n"), Int(i + 1));
  }
  files_.Recover();
  life->Run("BGREWRITEAOF");
  life->server().Cron();
  EXPECT_EQ(files_.Paths().size(), 3u) << "what was made in vain is gone";
  const Snapshot data = life->Data();
  files_.Crash();
  life.reset();
  EXPECT_EQ(SnapshotDifference(data, DataAfterRestart()), "");
  files_.FailFrom(Operation::kOpen, 1, EROFS);
  EXPECT_EQ(Start()->outcome(), LoadOutcome::kFailed);
}

// A key that had expired and was dropped without a record would reappear when the file is replayed.
TEST_F(AppendOnlyFileTest, ReloadingDropsNothingWithoutARecord) {
  auto life = Start({"enable-debug-command yes"});
  life->Run("SET k old PX 100");
  life->server().AdvanceMs(200);
  EXPECT_THAT(life->Run("DEBUG RELOAD"), Ok());
  life->Run("APPEND k new");
  const Snapshot before = life->Data();
  EXPECT_THAT(life->Run("GET k"), Bulk("new"));
  files_.Crash();
  life.reset();
  EXPECT_EQ(SnapshotDifference(before, DataAfterRestart()), "");
}

TEST_F(AppendOnlyFileTest, TheSingleFileOfOldServersIsTakenOver) {
  files_.Put("appendonly.aof", "*2\r\n$6\r\nSELECT\r\n$1\r\n1\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n");
  auto life = Start();
  EXPECT_EQ(life->Data(), (Snapshot{{"1 \"k\"", "string \"v\""}}));
  EXPECT_FALSE(files_.Has("appendonly.aof"));
  EXPECT_EQ(files_.Content(kManifest),
            "file appendonly.aof seq 1 type b\nfile appendonly.aof.1.incr.aof seq 1 type i\n");
  life->Run("SET more 1");
  life.reset();
  EXPECT_EQ(DataAfterRestart().size(), 2u);
}

TEST_F(AppendOnlyFileTest, TurningItOnKeepsWhatIsThere) {
  Life life(files_, {"appendonly no", "appendfsync always"});
  life.Run("SET before 1");
  EXPECT_THAT(life.Run("CONFIG SET appendonly yes"), Ok());
  life.Run("SET while 2");
  life.server().Cron();
  life.Run("SET after 3");
  const Snapshot before = life.Data();
  files_.Crash();
  EXPECT_EQ(SnapshotDifference(before, DataAfterRestart()), "");
}

TEST_F(AppendOnlyFileTest, TurningItOnWhileAChildFailsIsTriedAgain) {
  Life life(files_, {"appendonly no", "appendfsync always"});
  life.Run("SET before 1");
  life.server().forker().Hold();
  life.Run("CONFIG SET appendonly yes");
  life.Run("SET while 2");
  life.server().forker().Crash(9);
  life.server().Cron();
  life.server().forker().Release();
  life.server().Cron();
  life.server().Cron();
  EXPECT_EQ(life.server()->services().storage.aof.state(), AppendOnlyFile::State::kOn);
  const Snapshot before = life.Data();
  files_.Crash();
  EXPECT_EQ(SnapshotDifference(before, DataAfterRestart()), "");
}

TEST_F(AppendOnlyFileTest, TurningItOffAndOn) {
  auto life = Start();
  life->Run("SET a 1");
  EXPECT_THAT(life->Run("CONFIG SET appendonly no"), Ok());
  life->Run("SET b 2");
  EXPECT_THAT(life->Run("CONFIG SET appendonly yes"), Ok());
  life->server().Cron();
  life->Run("SET c 3");
  const Snapshot before = life->Data();
  files_.Crash();
  life.reset();
  EXPECT_EQ(SnapshotDifference(before, DataAfterRestart()), "");
}

TEST_F(AppendOnlyFileTest, TurningItOffKeepsEffectsSinceTheForkOfAFinishedRewrite) {
  auto life = Start();
  life->Run("SET before 1");
  EXPECT_THAT(life->Run("BGREWRITEAOF"), Simple("Background append only file rewriting started"));
  life->Run("SET since 1");
  life->server().forker().OutrunKill();
  EXPECT_THAT(life->Run("CONFIG SET appendonly no"), Ok());
  const Snapshot before = life->Data();
  files_.Crash();
  life.reset();
  EXPECT_EQ(SnapshotDifference(before, DataAfterRestart()), "");
}

TEST_F(AppendOnlyFileTest, AFileThatCannotBeMadeLeavesItOff) {
  Life life(files_, {"appendonly no"});
  files_.FailAt(Operation::kMakeDirectory, 1, EACCES);
  EXPECT_THAT(life.Run("CONFIG SET appendonly yes"),
              ErrorStartsWith("ERR CONFIG SET failed (possibly related to argument 'appendonly')"));
  EXPECT_THAT(life.Run("CONFIG GET appendonly"), MapOf({{Bulk("appendonly"), Bulk("no")}}));
  EXPECT_FALSE(life.server()->services().storage.aof.IsOn());
}

TEST_F(AppendOnlyFileTest, AFullDiskUnderEverySecondRefusesWritesUntilThereIsRoom) {
  auto life = Start({"appendfsync everysec"});
  life->Run("SET a 1");
  files_.SetFreeBytes(10);
  life->Run("SET b 2");
  EXPECT_THAT(life->Run("SET c 3"), Error("MISCONF Errors writing to the AOF file: No space left on device"));
  EXPECT_THAT(life->Run("GET b"), Bulk("2"));
  files_.SetFreeBytes(FaultyFiles::kUnlimited);
  life->server().EndTurn();
  EXPECT_THAT(life->Run("SET d 4"), Ok());
  const Snapshot before = life->Data();
  life.reset();
  EXPECT_EQ(SnapshotDifference(before, DataAfterRestart()), "");
}

TEST_F(AppendOnlyFileTest, AFullDiskUnderAlwaysEndsTheServerBeforeItReplies) {
  auto life = Start();
  files_.SetFreeBytes(10);
  EXPECT_FALSE(life->Run("SET a 1").HasValue());
  EXPECT_EQ(life->server().StoppedWith(), 1);
}

TEST_F(AppendOnlyFileTest, NothingExpiresWhileItIsLoaded) {
  {
    auto life = Start();
    life->Run("SET k v PX 1000");
    life->Run("APPEND k w");
    life->Run("HSET h f v");
  }
  // The server was down when the key expired; records about the old key must not create a new one.
  std::string tail = "*2\r\n$3\r\nDEL\r\n$1\r\nh\r\n";
  files_.Put(kIncremental, files_.Content(kIncremental) + tail);
  TestServer late(TestServer::Options{
      .directives = {"appendonly yes"}, .wall_ms = TestServer::Options{}.wall_ms + 5000, .files = &files_});
  TestClient client(late);
  ASSERT_EQ(LoadDataAtStartup(late->services()), LoadOutcome::kLoaded);
  EXPECT_THAT(client.Run("EXISTS k h"), Int(0));
}

TEST_F(AppendOnlyFileTest, ASecondServerIsKeptOut) {
  auto first = Start();
  first->Run("SET k v");
  EXPECT_EQ(Start()->outcome(), LoadOutcome::kFailed);
  EXPECT_NE(Start({"appendfilename other.aof"})->outcome(), LoadOutcome::kFailed) << "it may share the directory";
  first->Run("BGREWRITEAOF");
  first->server().Cron();
  EXPECT_EQ(Start()->outcome(), LoadOutcome::kFailed) << "after a rewrite, too";
  first.reset();
  EXPECT_EQ(Start()->outcome(), LoadOutcome::kLoaded);
}

TEST_F(AppendOnlyFileTest, DisableAutoGcKeepsHistory) {
  auto life = Start({"aof-disable-auto-gc yes"});
  life->Run("BGREWRITEAOF");
  life->server().Cron();
  EXPECT_EQ(files_.Content(kManifest),
            "file appendonly.aof.2.base.rdb seq 2 type b\nfile appendonly.aof.1.incr.aof seq 1 type h\n"
            "file appendonly.aof.1.base.rdb seq 1 type h\nfile appendonly.aof.2.incr.aof seq 2 type i\n");
  EXPECT_TRUE(files_.Has(kBase));
  life->Run("CONFIG SET aof-disable-auto-gc no");
  EXPECT_FALSE(files_.Has(kBase));
  EXPECT_TRUE(life->server()->services().storage.aof.directory().manifest().history().empty());
}

TEST_F(AppendOnlyFileTest, GrowthStartsARewrite) {
  auto life = Start({"auto-aof-rewrite-min-size 1kb", "auto-aof-rewrite-percentage 100"});
  for (int i = 0; i < 100; ++i) life->Run("SET k v");
  life->server().Cron();
  life->server().Cron();
  EXPECT_EQ(life->server()->services().storage.aof.RewriteCount(), 1u);
  EXPECT_EQ(life->server()->services().storage.aof.directory().manifest().base()->seq, 2);
}

TEST_F(AppendOnlyFileTest, WaitAofWaitsForTheSync) {
  auto life = Start({"appendfsync everysec"});
  life->Run("SET k v");
  EXPECT_THAT(life->Run("WAITAOF 1 0 0"), NoReply());
  life->server().AdvanceMs(1000);
  life->server().Cron();
  EXPECT_THAT(life->client().Read(), ArrayOf(Int(1), Int(0)));
  EXPECT_THAT(life->Run("WAITAOF 1 0 0"), ArrayOf(Int(1), Int(0)));
  EXPECT_THAT(life->Run("WAITAOF 1 1 10"), NoReply());
  life->server().AdvanceMs(10);
  EXPECT_THAT(life->client().Read(), ArrayOf(Int(1), Int(0)));
  life->Run("SET k w");
  life->Run("WAITAOF 1 0 0");
  TestClient other(life->server());
  other.Run("CONFIG SET appendonly no");
  EXPECT_THAT(life->client().Read(),
              Error("ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled."));
}

// A request that runs again closes clients that wait for the same sync.
TEST_F(AppendOnlyFileTest, AClientThatWaitsForTheSyncMayBeEvicted) {
  auto life = Start({"appendfsync everysec", "maxmemory-clients 2mb"});
  std::vector<std::unique_ptr<TestClient>> clients;
  clients.reserve(7);
  for (int i = 0; i < 7; ++i) clients.push_back(std::make_unique<TestClient>(life->server()));
  TestClient& large = *clients[3];
  for (int i = 0; i < 10; ++i) large.Run({"WATCH", StrCat(i, std::string(150'000, 'w'))});
  for (auto& client : clients) {
    client->Run("SET x 1");
    EXPECT_THAT(client->Run("WAITAOF 1 0 0"), NoReply());
  }
  // An incomplete request, so that no command checks the memory before.
  const std::string half = "*2\r\n$2000000\r\n" + std::string(1'900'000, 'v');
  large.Deliver(half);
  life->server()->services().clients.memory.Remeasure(large.session());
  EXPECT_TRUE(life->server()->services().clients.memory.IsLimitReached());
  life->server().clock().AdvanceMs(1000);  // and no turn comes before the turn of the sync
  life->server().Cron();
  EXPECT_TRUE(large.Closed());
  for (auto& client : clients) {
    if (client.get() == &large) continue;
    EXPECT_THAT(client->Read(), ArrayOf(Int(1), Int(0)));
  }
}

}  // namespace
}  // namespace respite
