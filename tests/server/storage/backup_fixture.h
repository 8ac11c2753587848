// BackupTest: a fixture with a server that makes backups on files that tests make fail.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/faulty_files.h"
#include "tests/support/reply_matchers.h"
#include "tests/support/server_life.h"

namespace respite {

inline constexpr char kBackupManifest[] = "backupdir/appendonly.aof.manifest";
inline constexpr char kBackupBase[] = "backupdir/appendonly.aof.1.base.rdb";
inline constexpr char kBackupIncr[] = "backupdir/appendonly.aof.1.incr.aof";

class BackupTest : public testing::Test {
 protected:
  std::unique_ptr<ServerLife> Start(std::vector<std::string> more = {}) {
    std::vector<std::string> directives = {"enable-debug-command yes", "save ''"};
    directives.insert(directives.end(), more.begin(), more.end());
    return std::make_unique<ServerLife>(*files_, directives);
  }
  static std::string StateOf(ServerLife& life) { return life.Run("BACKUP STATUS")[1].Text(); }
  static std::string ErrorOf(ServerLife& life) { return life.Run("BACKUP STATUS")[3].Text(); }
  // Returns the names of the files in the directory of the backup.
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const std::string& path : files_->Paths()) {
      if (path.starts_with("backupdir/")) names.push_back(path.substr(10));
    }
    return names;
  }
  // Starts a backup and waits until its base is complete.
  static void MakeBase(ServerLife& life) {
    EXPECT_THAT(life.Run("BACKUP START"), Ok());
    life.server().Cron();
    EXPECT_EQ(StateOf(life), "incrementing") << ErrorOf(life);
  }
  // Returns the data of a server that starts with this preload-file.
  Snapshot Restored(const std::string& target = "aof:backupdir/appendonly.aof.manifest",
                    std::vector<std::string> more = {}) {
    more.push_back("preload-file " + target);
    auto life = Start(std::move(more));
    EXPECT_EQ(life->outcome(), LoadOutcome::kLoaded) << life->Log();
    return life->Data();
  }
  void ExpectRestores(const Snapshot& data) { EXPECT_EQ(SnapshotDifference(data, Restored()), ""); }

  std::unique_ptr<FaultyFiles> files_ = std::make_unique<FaultyFiles>();
};

}  // namespace respite
