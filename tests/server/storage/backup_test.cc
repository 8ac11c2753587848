// BACKUP on files that fail and crash: a sealed backup is the data at the moment of the seal, and nothing else remains.
#include "server/storage/backup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "tests/server/storage/backup_fixture.h"

namespace respite {
namespace {

using Operation = FaultyFiles::Operation;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class BackupOnAndOff : public BackupTest, public testing::WithParamInterface<const char*> {
 protected:
  std::unique_ptr<ServerLife> StartHere(std::vector<std::string> more = {}) {
    more.emplace_back(GetParam());
    return Start(std::move(more));
  }
};
INSTANTIATE_TEST_SUITE_P(Backup, BackupOnAndOff, testing::Values("appendonly no", "appendonly yes"));

TEST_P(BackupOnAndOff, HasTheDataOfTheSeal) {
  auto life = StartHere();
  life->Run("SET before 1");
  life->Run("RPUSH list a b c");
  MakeBase(*life);
  life->Run("SET between 2");
  life->Run("MULTI");
  life->Run("SELECT 3");
  life->Run("INCRBYFLOAT n 1.5");
  life->Run("EXEC");
  life->Run("LPOP list");
  const Snapshot sealed = life->Data();
  EXPECT_THAT(life->Run("BACKUP SEAL"), Ok());
  life->Run("SET after 3");
  life->Run("FLUSHALL");
  ExpectRestores(sealed);
  EXPECT_THAT(life->Run("BACKUP CLEANUP"), Ok());
  EXPECT_EQ(StateOf(*life), "idle");
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_P(BackupOnAndOff, LeavesTheServerAsItWas) {
  auto life = StartHere();
  life->Run("SET k 1");
  MakeBase(*life);
  life->Run("SET k 2");
  EXPECT_THAT(life->Run("BACKUP SEAL"), Ok());
  life->Run("SET k 3");
  EXPECT_THAT(life->Run("BACKUP CLEANUP"), Ok());
  EXPECT_THAT(life->Run("CONFIG GET appendonly")[1], Bulk(Bytes(GetParam()).ends_with("yes") ? "yes" : "no"));
  const bool has_aof = Bytes(GetParam()).ends_with("yes");
  EXPECT_EQ(files_->Paths().empty(), !has_aof);
  if (!has_aof) return;
  const Snapshot data = life->Data();
  files_->Kill();
  life.reset();
  EXPECT_EQ(SnapshotDifference(data, StartHere()->Data()), "");
}

TEST_P(BackupOnAndOff, ReportsItsStateAndFiles) {
  auto life = StartHere();
  EXPECT_THAT(life->Run("BACKUP STATUS"), MapOf({{Bulk("state"), Bulk("idle")},
                                                 {Bulk("error"), Bulk("")},
                                                 {Bulk("start_time"), Int(0)},
                                                 {Bulk("end_time"), Int(0)}}));
  EXPECT_THAT(life->Run("BACKUP LIST"), EmptyArray());
  life->server().forker().Hold();
  life->Run("BACKUP START");
  EXPECT_EQ(StateOf(*life), "snapshotting");
  EXPECT_THAT(life->Run("INFO persistence").Text(), HasSubstr("backup_in_progress:1"));
  EXPECT_THAT(life->Run("INFO persistence").Text(), HasSubstr("aof_rewrite_in_progress:1"));
  EXPECT_THAT(life->Run("BACKUP LIST"), EmptyArray());
  life->server().forker().Release();
  life->server().Cron();
  EXPECT_THAT(life->Run("BACKUP LIST").Texts(), ElementsAre(EndsWith("/backupdir/" + Files()[0])));
  life->server().clock().AdvanceMs(5000);
  life->Run("BACKUP SEAL");
  EXPECT_THAT(
      life->Run("BACKUP LIST").Texts(),
      ElementsAre(testing::AllOf(StartsWith("/"), HasSubstr("/backupdir/appendonly.aof."), EndsWith(".base.rdb")),
                  EndsWith(".incr.aof"), EndsWith("/backupdir/appendonly.aof.manifest")));
  EXPECT_THAT(life->Run("INFO persistence").Text(), HasSubstr("backup_in_progress:0"));
  EXPECT_THAT(life->Run("BACKUP STATUS"), MapOf({{Bulk("state"), Bulk("sealed")},
                                                 {Bulk("error"), Bulk("")},
                                                 {Bulk("start_time"), Int(1'700'000'000)},
                                                 {Bulk("end_time"), Int(1'700'000'005)}}));
}

TEST_P(BackupOnAndOff, RefusesWhatItsStateForbids) {
  auto life = StartHere();
  EXPECT_THAT(life->Run("BACKUP SEAL"), Error("ERR No backup ready to seal (must be in the incrementing state)"));
  EXPECT_THAT(life->Run("BACKUP ABORT"), Error("ERR No backup in progress"));
  EXPECT_THAT(life->Run("BACKUP CLEANUP"), Ok());
  MakeBase(*life);
  EXPECT_THAT(life->Run("BACKUP START"), Error("ERR A backup is already in progress, ABORT it first"));
  EXPECT_THAT(life->Run("BACKUP CLEANUP"), Error("ERR Backup is in progress"));
  life->Run("BACKUP SEAL");
  EXPECT_THAT(life->Run("BACKUP START"), Error("ERR A sealed backup exists, CLEANUP it first"));
  EXPECT_THAT(life->Run("BACKUP SEAL"), ErrorStartsWith("ERR No backup ready to seal"));
  EXPECT_THAT(life->Run("BACKUP ABORT"), Error("ERR No backup in progress"));
  EXPECT_THAT(life->Run("EVAL \"return redis.call('BACKUP', 'START')\" 0"),
              ErrorStartsWith("ERR This Redis command is not allowed from script"));
}

TEST_P(BackupOnAndOff, AnAbortRemovesTheFilesInEachState) {
  auto life = StartHere();
  life->Run("SET k v");
  for (const char* state : {"pending", "snapshotting", "incrementing"}) {
    life->server().forker().Hold();
    if (state == Bytes("pending")) life->Run("BGSAVE");
    EXPECT_THAT(life->Run("BACKUP START"), Ok()) << ErrorOf(*life);
    if (state == Bytes("incrementing")) {
      life->server().forker().Release();
      life->server().Cron();
    }
    EXPECT_EQ(StateOf(*life), state);
    EXPECT_THAT(life->Run("BACKUP ABORT"), Ok());
    EXPECT_EQ(StateOf(*life), "failed");
    EXPECT_EQ(ErrorOf(*life), "aborted by user");
    EXPECT_THAT(Files(), IsEmpty()) << state;
    life->server().forker().Release();
    life->server().Cron();
    life->server().Cron();
    EXPECT_EQ(StateOf(*life), "failed");
  }
  MakeBase(*life);
  EXPECT_THAT(life->Run("BACKUP SEAL"), Ok());
  ExpectRestores(life->Data());
}

TEST_P(BackupOnAndOff, WaitsForAnotherChild) {
  auto life = StartHere();
  life->Run("SET k v");
  life->server().forker().Hold();
  life->Run("BGSAVE");
  EXPECT_THAT(life->Run("BACKUP START"), Ok());
  life->server().Cron();
  EXPECT_EQ(StateOf(*life), "pending");
  life->server().forker().Release();
  life->server().Cron();
  EXPECT_EQ(StateOf(*life), "snapshotting");
  life->server().Cron();
  EXPECT_EQ(StateOf(*life), "incrementing");
}

TEST_P(BackupOnAndOff, InATransactionItStartsAfterwards) {
  auto life = StartHere();
  life->Run("MULTI");
  life->Run("SET a 1");
  life->Run("BACKUP START");
  life->Run("SET b 2");
  life->Run("BACKUP STATUS");
  EXPECT_THAT(life->Run("EXEC")[3][1], Bulk("pending"));
  life->server().Cron();
  life->server().Cron();
  life->Run("MULTI");
  life->Run("SET c 3");
  life->Run("BACKUP SEAL");
  life->Run("SET d 4");
  EXPECT_THAT(life->Run("EXEC")[1], Ok());
  const Snapshot restored = Restored();
  EXPECT_EQ(restored.size(), 2u);  // a and b: the transaction of the seal is not part of the backup, and not half of it
}

TEST_P(BackupOnAndOff, FailsWithItsChild) {
  auto life = StartHere();
  life->Run("SET k v");
  life->server().forker().FailNext(ENOMEM);
  EXPECT_THAT(life->Run("BACKUP START"), ErrorStartsWith("ERR "));
  EXPECT_EQ(StateOf(*life), "failed");
  EXPECT_THAT(Files(), IsEmpty());
  life->server().forker().Hold();
  EXPECT_THAT(life->Run("BACKUP START"), Ok());
  life->server().forker().Crash(SIGSEGV);
  life->server().Cron();
  EXPECT_EQ(StateOf(*life), "failed");
  EXPECT_NE(ErrorOf(*life), "");
  EXPECT_THAT(Files(), IsEmpty());
  EXPECT_THAT(life->Run("SET k w"), Ok());
  EXPECT_THAT(life->Run("BACKUP CLEANUP"), Ok());
  EXPECT_EQ(StateOf(*life), "idle");
}

TEST_P(BackupOnAndOff, AFullDiskAtTheSealChangesNothing) {
  auto life = StartHere();
  life->Run("SET k v");
  MakeBase(*life);
  life->Run("SET l w");
  files_->SetFreeBytes(0);
  EXPECT_THAT(life->Run("BACKUP SEAL"), ErrorStartsWith("ERR Can't write the manifest of the backup: No space left"));
  EXPECT_EQ(StateOf(*life), "incrementing");
  EXPECT_EQ(Files().size(), life->Run("CONFIG GET appendonly")[1].Text() == "yes" ? 1u : 2u);
  files_->SetFreeBytes(FaultyFiles::kUnlimited);
  life->Run("SET m x");
  EXPECT_THAT(life->Run("BACKUP SEAL"), Ok());
  ExpectRestores(life->Data());
}

TEST_P(BackupOnAndOff, AFullDiskWhileTheBaseIsWritten) {
  auto life = StartHere();
  life->Run("SET k v");
  life->server().forker().Hold();
  life->Run("BACKUP START");
  files_->SetFreeBytes(10);
  life->server().forker().Release();
  life->server().Cron();
  EXPECT_EQ(StateOf(*life), "failed");
  EXPECT_THAT(Files(), IsEmpty());
  files_->SetFreeBytes(FaultyFiles::kUnlimited);
  EXPECT_THAT(life->Run("SET l w"), Ok());
  MakeBase(*life);
}

TEST_P(BackupOnAndOff, EachFailureOfTheSealLeavesGoodFiles) {
  for (const Operation operation : {Operation::kOpen, Operation::kWrite, Operation::kSync, Operation::kRename,
                                    Operation::kSyncDirectory, Operation::kLink, Operation::kLock}) {
    for (uint64_t nth = 1; nth <= 3; ++nth) {
      files_ = std::make_unique<FaultyFiles>();
      auto life = StartHere({"appendfsync everysec"});
      life->Run("SET k v");
      MakeBase(*life);
      life->Run("SET l w");
      files_->FailAt(operation, nth, EIO);
      const TestReply reply = life->Run("BACKUP SEAL");
      files_->Recover();
      EXPECT_THAT(life->Run("SET m x"), Ok());
      const std::string state = StateOf(*life);
      SCOPED_TRACE(StrCat("operation ", static_cast<int>(operation), " ", nth, ": ", state));
      if (state == "failed") {
        EXPECT_THAT(Files(), IsEmpty());
        continue;
      }
      if (state == "incrementing") {
        EXPECT_THAT(life->Run("BACKUP SEAL"), Ok());
      }
      EXPECT_EQ(Files().size(), 3u);
      Snapshot data = life->Data();
      if (state == "sealed") data.erase("0 \"m\"");
      ExpectRestores(data);
    }
  }
}

TEST_P(BackupOnAndOff, AFlushAllIsPartOfIt) {
  auto life = StartHere();
  life->Run("SET k v");
  life->server().forker().Hold();
  life->Run("BACKUP START");
  life->Run("SET l w");
  life->Run("FLUSHALL");
  life->Run("SET m x");
  life->server().forker().Release();
  life->server().Cron();
  EXPECT_THAT(life->Run("BACKUP SEAL"), Ok());
  ExpectRestores(life->Data());
}

TEST_P(BackupOnAndOff, AShutdownGivesUpWhatIsNotSealed) {
  for (const char* state : {"pending", "snapshotting", "incrementing", "sealed"}) {
    for (const bool by_signal : {false, true}) {
      files_ = std::make_unique<FaultyFiles>();
      auto life = StartHere();
      life->Run("SET k v");
      if (state == Bytes("pending") || state == Bytes("snapshotting")) life->server().forker().Hold();
      if (state == Bytes("pending")) life->Run("BGSAVE");
      life->Run("BACKUP START");
      life->server().Cron();
      if (state == Bytes("sealed")) life->Run("BACKUP SEAL");
      EXPECT_EQ(StateOf(*life), state);
      const Snapshot data = life->Data();
      if (by_signal) {
        life->server()->services().storage.shutdown.HandleSignal(SIGTERM);
      } else {
        life->Run("SHUTDOWN NOSAVE");
      }
      EXPECT_EQ(life->server().StoppedWith(), 0) << state;
      EXPECT_EQ(Files().size(), state == Bytes("sealed") ? 3u : 0u) << state;
      if (state == Bytes("sealed")) ExpectRestores(data);
      life.reset();
      if (Bytes(GetParam()).ends_with("no")) continue;
      files_->Kill();
      EXPECT_EQ(SnapshotDifference(data, StartHere()->Data()), "");
    }
  }
}

TEST_P(BackupOnAndOff, FilesOfAnEarlierServerAreKeptUntilCleanup) {
  auto life = StartHere();
  life->Run("SET k v");
  MakeBase(*life);
  life->Run("BACKUP SEAL");
  files_->Kill();
  life.reset();
  auto next = StartHere();
  EXPECT_EQ(StateOf(*next), "idle");
  EXPECT_THAT(next->Run("BACKUP START"), Error("ERR The backup directory backupdir is not empty"));
  EXPECT_EQ(StateOf(*next), "idle");
  EXPECT_EQ(Files().size(), 3u);
  EXPECT_THAT(next->Run("BACKUP CLEANUP"), Ok());
  MakeBase(*next);
}

TEST_P(BackupOnAndOff, KeepsFilesThatAreNotItsOwn) {
  files_->MakeDirectory("backupdir");
  files_->Put("backupdir/mine.txt", "x");
  auto life = StartHere();
  EXPECT_THAT(life->Run("BACKUP START"), Error("ERR The backup directory backupdir is not empty"));
  EXPECT_THAT(life->Run("BACKUP CLEANUP"), Ok());
  EXPECT_THAT(Files(), ElementsAre("mine.txt"));
  files_->Remove("backupdir/mine.txt");
  EXPECT_THAT(life->Run("BACKUP START"), Ok());
  files_->Put("backupdir/mine.txt", "x");
  life->Run("BACKUP ABORT");
  EXPECT_THAT(Files(), ElementsAre("mine.txt"));
}

TEST_P(BackupOnAndOff, ADebugReloadIsNoChange) {
  auto life = StartHere();
  life->Run("SET k v");
  MakeBase(*life);
  life->Run("SET l w");
  EXPECT_THAT(life->Run("DEBUG RELOAD"), Ok());
  life->Run("SET m x");
  EXPECT_THAT(life->Run("BACKUP SEAL"), Ok());
  ExpectRestores(life->Data());
  life->Run("BACKUP CLEANUP");
  MakeBase(*life);
  EXPECT_THAT(life->Run("DEBUG RELOAD NOSAVE"), Ok());
  EXPECT_EQ(StateOf(*life), "failed");
  EXPECT_EQ(ErrorOf(*life), "DEBUG RELOAD replaced the data");
}

TEST_P(BackupOnAndOff, IsRemovedAfterItsTimeToLive) {
  auto life = StartHere({"backup-sealed-ttl 100"});
  MakeBase(*life);
  life->server().RunCronFor(200'000);
  EXPECT_EQ(StateOf(*life), "incrementing");
  life->Run("BACKUP SEAL");
  life->server().RunCronFor(99'000);
  EXPECT_EQ(StateOf(*life), "sealed");
  life->server().RunCronFor(2'000);
  EXPECT_EQ(StateOf(*life), "idle");
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_P(BackupOnAndOff, SurvivesSwitchesOfAppendOnly) {
  for (const char* moment : {"pending", "snapshotting", "incrementing"}) {
    files_ = std::make_unique<FaultyFiles>();
    SCOPED_TRACE(moment);
    auto life = StartHere();
    const bool was_on = Bytes(GetParam()).ends_with("yes");
    life->Run("SET k 1");
    life->server().forker().Hold();
    if (moment == Bytes("pending")) life->Run("BGSAVE");
    life->Run("BACKUP START");
    if (moment == Bytes("incrementing")) {
      life->server().forker().Release();
      life->server().Cron();
    }
    EXPECT_EQ(StateOf(*life), moment);
    life->Run("SET k 2");
    EXPECT_THAT(life->Run(was_on ? "CONFIG SET appendonly no" : "CONFIG SET appendonly yes"), Ok());
    life->Run("SET l 3");
    life->server().forker().Release();
    for (int i = 0; i < 5; ++i) life->server().Cron();
    EXPECT_EQ(StateOf(*life), "incrementing") << ErrorOf(*life);
    life->Run("APPEND l 4");
    EXPECT_THAT(life->Run(was_on ? "CONFIG SET appendonly yes" : "CONFIG SET appendonly no"), Ok());
    life->Run("APPEND l 5");
    for (int i = 0; i < 5; ++i) life->server().Cron();
    life->Run("APPEND l 6");
    EXPECT_EQ(StateOf(*life), "incrementing") << ErrorOf(*life);
    EXPECT_THAT(life->Run("BACKUP SEAL"), Ok());
    const Snapshot data = life->Data();
    ExpectRestores(data);
    if (!was_on) continue;
    files_->Kill();
    life.reset();
    EXPECT_EQ(SnapshotDifference(data, StartHere()->Data()), "");
  }
}

// --- With the append-only file

TEST_F(BackupTest, RewritesWaitForTheSeal) {
  auto life = Start({"appendonly yes", "auto-aof-rewrite-min-size 1", "auto-aof-rewrite-percentage 1"});
  life->Run("SET k v");
  MakeBase(*life);
  EXPECT_THAT(life->Run("BACKUP LIST").Texts(), ElementsAre(EndsWith("/backupdir/appendonly.aof.2.base.rdb")));
  for (int i = 0; i < 100; ++i) life->Run(StrCat("SET k", i, " v"));
  EXPECT_THAT(life->Run("BGREWRITEAOF"), Simple("Background append only file rewriting scheduled"));
  life->server().Cron();
  EXPECT_TRUE(files_->Has("appendonlydir/appendonly.aof.2.base.rdb"));
  EXPECT_THAT(life->Run("BACKUP SEAL"), Ok());
  EXPECT_EQ(files_->Content("backupdir/appendonly.aof.manifest"),
            "file appendonly.aof.2.base.rdb seq 2 type b\nfile appendonly.aof.2.incr.aof seq 2 type i\n");
  const Snapshot data = life->Data();
  life->server().Cron();
  life->server().Cron();
  EXPECT_FALSE(files_->Has("appendonlydir/appendonly.aof.2.base.rdb"));
  ExpectRestores(data);
}

TEST_F(BackupTest, AttachesToARewriteThatRuns) {
  auto life = Start({"appendonly yes"});
  life->Run("SET k v");
  life->server().forker().Hold();
  life->Run("BGREWRITEAOF");
  life->Run("SET l w");
  EXPECT_THAT(life->Run("BACKUP START"), Ok());
  EXPECT_EQ(StateOf(*life), "snapshotting");
  life->server().forker().Release();
  life->server().Cron();
  EXPECT_EQ(life->server().forker().Started(), 1);
  EXPECT_EQ(StateOf(*life), "incrementing");
  life->Run("BACKUP SEAL");
  ExpectRestores(life->Data());
}

TEST_F(BackupTest, UsesTheRewriteOfAnAppendOnlyFileThatIsTurnedOn) {
  auto life = Start();
  life->Run("SET k v");
  life->server().forker().Hold();
  life->Run("BGSAVE");
  life->Run("CONFIG SET appendonly yes");
  EXPECT_THAT(life->Run("BACKUP START"), Ok());
  life->server().forker().Release();
  for (int i = 0; i < 3; ++i) life->server().Cron();
  EXPECT_EQ(life->server().forker().Started(), 2);
  EXPECT_EQ(StateOf(*life), "incrementing");
  life->Run("SET l w");
  life->Run("BACKUP SEAL");
  ExpectRestores(life->Data());
}

TEST_F(BackupTest, WritesFilesOfItsOwnIfLinksAreImpossible) {
  auto life = Start({"appendonly yes"});
  life->Run("SET k v");
  files_->FailFrom(Operation::kLink, 1, EXDEV);
  life->Run("BACKUP START");
  life->Run("SET l w");
  for (int i = 0; i < 3; ++i) life->server().Cron();
  EXPECT_EQ(StateOf(*life), "incrementing") << ErrorOf(*life);
  EXPECT_THAT(life->Log(), HasSubstr("The files of the append-only file can't be linked into the backup directory"));
  life->Run("SET m x");
  EXPECT_THAT(life->Run("BACKUP SEAL"), Ok());
  const Snapshot data = life->Data();
  ExpectRestores(data);
  files_->Kill();
  life.reset();
  EXPECT_EQ(SnapshotDifference(data, Start({"appendonly yes"})->Data()), "");
}

TEST_F(BackupTest, ALinkThatFailsOtherwiseIsAnError) {
  auto life = Start({"appendonly yes"});
  files_->FailAt(Operation::kLink, 1, ENOSPC);
  life->Run("BACKUP START");
  life->server().Cron();
  EXPECT_EQ(StateOf(*life), "failed");
  EXPECT_EQ(ErrorOf(*life), "Can't link the base: No space left on device");
}

// --- Without the append-only file

TEST_F(BackupTest, AFullDiskEndsTheBackupButNotTheServer) {
  for (const char* policy : {"appendfsync everysec", "appendfsync always"}) {
    auto life = Start({policy});
    life->Run("SET k v");
    MakeBase(*life);
    files_->SetFreeBytes(5);
    EXPECT_THAT(life->Run("SET l 0123456789"), Ok());
    EXPECT_EQ(StateOf(*life), "failed");
    EXPECT_EQ(ErrorOf(*life), "Error writing the commands since the base: No space left on device");
    EXPECT_THAT(life->Run("SET m 0123456789"), Ok());
    EXPECT_EQ(life->server().StoppedWith(), std::nullopt);
    EXPECT_THAT(Files(), IsEmpty());
    files_->SetFreeBytes(FaultyFiles::kUnlimited);
    MakeBase(*life);
    life->Run("BACKUP ABORT");
  }
}

TEST_F(BackupTest, KeepsTheFilesOfAnAppendOnlyFileThatIsOff) {
  auto life = Start({"appendonly yes"});
  life->Run("SET k old");
  life->Run("CONFIG SET appendonly no");
  const auto before = files_->Paths();
  MakeBase(*life);
  EXPECT_THAT(life->Run("BGREWRITEAOF"), Simple("Background append only file rewriting scheduled"));
  life->Run("SET k new");
  life->Run("BACKUP SEAL");
  life->Run("BACKUP CLEANUP");
  EXPECT_EQ(files_->Paths(), before);
  EXPECT_THAT(life->Run("CONFIG GET appendonly")[1], Bulk("no"));
  EXPECT_THAT(life->Run("INFO persistence").Text(), HasSubstr("aof_enabled:0"));
}

TEST_F(BackupTest, ACrashLeavesNoManifestWithoutItsFiles) {
  for (uint64_t cut = 1;; ++cut) {
    SCOPED_TRACE(cut);
    Random random(cut);
    files_ = std::make_unique<FaultyFiles>();
    auto life = Start({cut % 2 == 0 ? "appendonly yes" : "appendonly no"});
    life->Run("SET k v");
    files_->CutAt(cut);
    life->Run("BACKUP START");
    life->server().Cron();
    life->Run("SET l w");
    life->Run("BACKUP SEAL");
    const bool is_cut = files_->IsCut();
    const Snapshot data = life->Data();
    files_->Crash(random);
    life.reset();
    if (files_->Has("backupdir/appendonly.aof.manifest")) ExpectRestores(data);
    if (!is_cut && cut % 2 == 1) break;
    auto next = Start({"appendonly no"});
    EXPECT_THAT(next->Run("BACKUP CLEANUP"), Ok());
    MakeBase(*next);
  }
}

}  // namespace
}  // namespace respite
