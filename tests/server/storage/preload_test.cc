// preload-file: a server starts with the data of a backup or of another file, or does not start at all.
#include "server/storage/preload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/str_cat.h"
#include "tests/server/storage/backup_fixture.h"

namespace respite {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class PreloadTest : public BackupTest {};

TEST_F(PreloadTest, PreloadsInsteadOfTheServersOwnFiles) {
  auto life = Start({"appendonly yes"});
  life->Run("SET k backup");
  MakeBase(*life);
  life->Run("BACKUP SEAL");
  const Snapshot backup = life->Data();
  life->Run("SET k newer");
  life->Run("SAVE");
  files_->Kill();
  life.reset();
  EXPECT_EQ(SnapshotDifference(backup, Restored()), "");
  const Snapshot newer = Restored("rdb:dump.rdb");
  EXPECT_EQ(SnapshotDifference(newer, Start({"appendonly yes"})->Data()), "");
  files_->Kill();
  EXPECT_EQ(SnapshotDifference(backup, Restored("aof:backupdir/appendonly.aof.manifest", {"appendonly yes"})), "");
  files_->Kill();
  EXPECT_EQ(SnapshotDifference(backup, Start({"appendonly yes"})->Data()), "");  // it has replaced the append-only file
}

TEST_F(PreloadTest, PreloadsIntoAnEmptyFolder) {
  {
    auto life = Start();
    life->Run("SET k v");
    MakeBase(*life);
    life->Run("BACKUP SEAL");
  }
  files_->Kill();
  {
    auto life = Start({"appendonly yes", "preload-file aof:backupdir/appendonly.aof.manifest"});
    EXPECT_EQ(life->outcome(), LoadOutcome::kLoaded);
    life->Run("SET l w");
  }
  files_->Kill();
  EXPECT_EQ(Start({"appendonly yes"})->Data().size(), 2u);
}

TEST_F(PreloadTest, RefusesADamagedPreloadFile) {
  {
    auto life = Start();
    life->Run("SET k v");
    MakeBase(*life);
    life->Run("SET l w");
    life->Run("SET m x");
    life->Run("BACKUP SEAL");
    life->Run("SAVE");
  }
  const auto expect_refused = [&](const std::string& target, const std::string& why) {
    files_->Kill();
    auto life = Start({"aof-load-truncated yes", "preload-file " + target});
    EXPECT_EQ(life->outcome(), LoadOutcome::kFailed);
    EXPECT_THAT(life->Log(), HasSubstr("Fatal error: can't load the preload-file " + target + ": " + why));
    if (!why.starts_with("see the log")) {
      EXPECT_THAT(life->Data(), IsEmpty()) << "all files are checked before one is loaded";
    }
  };
  expect_refused("aof:nowhere/appendonly.aof.manifest", "No such file or directory");
  expect_refused("rdb:nowhere.rdb", "there is no such file");
  expect_refused("aof:dump.rdbx", "No such file or directory");
  const std::string manifest = files_->Content(kBackupManifest);
  files_->Put(kBackupManifest, "file appendonly.aof.1.base.rdb seq 1 type x\n");
  expect_refused(StrCat("aof:", kBackupManifest), "it is no valid manifest: Unknown AOF file type, at line 1");
  files_->Put(kBackupManifest, "file appendonly.aof.1.incr.aof seq 1 type i\n");
  expect_refused(StrCat("aof:", kBackupManifest), "the manifest names no base");
  files_->Put(kBackupManifest, manifest);
  files_->Remove(kBackupIncr);
  expect_refused(StrCat("aof:", kBackupManifest), StrCat(kBackupIncr, ": No such file or directory"));
  files_->Put(kBackupIncr, "{}");
  expect_refused(StrCat("aof:", kBackupManifest), StrCat(kBackupIncr, " is "));
  files_->Put(kBackupIncr, "");
  const std::string base = files_->Content(kBackupBase);
  files_->Remove(kBackupBase);
  expect_refused(StrCat("aof:", kBackupManifest), StrCat(kBackupBase, ": No such file or directory"));
  files_->Put(kBackupBase, base.substr(0, base.size() - 1));
  expect_refused(StrCat("aof:", kBackupManifest), "see the log above");
}

TEST_F(PreloadTest, RefusesAnIncompletePreloadFileAndKeepsIt) {
  {
    auto life = Start();
    MakeBase(*life);
    life->Run("SET l w");
    life->Run("SET m x");
    life->Run("BACKUP SEAL");
  }
  const std::string incr = files_->Content(kBackupIncr);
  files_->Put(kBackupIncr, incr.substr(0, incr.size() - 3));
  files_->Kill();
  auto life = Start({"aof-load-truncated yes", "preload-file aof:backupdir/appendonly.aof.manifest"});
  EXPECT_EQ(life->outcome(), LoadOutcome::kFailed);
  EXPECT_EQ(files_->Content(kBackupIncr), incr.substr(0, incr.size() - 3));
  EXPECT_THAT(life->Log(), HasSubstr("is incomplete after offset"));
}

TEST_F(PreloadTest, PreloadsASingleAppendOnlyFile) {
  files_->Put("old.aof", "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n");
  EXPECT_EQ(Restored("aof:old.aof").size(), 1u);
}

}  // namespace
}  // namespace respite
