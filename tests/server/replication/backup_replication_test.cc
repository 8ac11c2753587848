// BACKUP on replicas: it records the stream of the primary, and fails when a full synchronization replaces the data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/replication_world.h"

namespace respite {
namespace {

class BackupReplicationTest : public ReplicationTest, public testing::WithParamInterface<const char*> {
 protected:
  using Member = ReplicationWorld::Member;
  static std::string StateOf(Member& member) { return member.Run("BACKUP STATUS")[1].Text(); }
  // Returns the data of a server that starts with the backup of this member.
  static Snapshot Restored(Member& member) {
    ServerLife life(member.files(), {"preload-file aof:backupdir/appendonly.aof.manifest"});
    EXPECT_EQ(life.outcome(), LoadOutcome::kLoaded) << life.Log();
    return life.Data();
  }
};
INSTANTIATE_TEST_SUITE_P(Backup, BackupReplicationTest, testing::Values("appendonly no", "appendonly yes"));

TEST_P(BackupReplicationTest, AReplicaRecordsTheStream) {
  Member& primary = world_.Add();
  primary.Run("SET k v");
  Member& replica = AddLinked(primary, {GetParam()});
  network().Step(500);
  EXPECT_THAT(replica.Run("BACKUP START"), Ok());
  network().Step(500);
  EXPECT_EQ(StateOf(replica), "incrementing");
  primary.Run("SET l w");
  primary.Run("SET m x PX 100");
  network().Step(1000);
  EXPECT_THAT(replica.Run("BACKUP SEAL"), Ok());
  primary.Run("SET n y");
  const Snapshot restored = Restored(replica);
  EXPECT_TRUE(restored.contains("0 \"l\""));
  EXPECT_FALSE(restored.contains("0 \"m\""));
  EXPECT_FALSE(restored.contains("0 \"n\""));
}

TEST_P(BackupReplicationTest, AFullSynchronizationEndsIt) {
  for (const char* how : {"repl-diskless-load disabled", "repl-diskless-load swapdb"}) {
    Member& primary = world_.Add();
    primary.Run("SET k new");
    Member& replica = world_.Add({GetParam(), how});
    replica.Run("SET k old");
    EXPECT_THAT(replica.Run("BACKUP START"), Ok());
    network().Step(500);
    EXPECT_EQ(StateOf(replica), "incrementing");
    replica.Follow(primary);
    network().Step(3000);
    EXPECT_TRUE(replica.IsLinked());
    EXPECT_EQ(StateOf(replica), "failed") << how;
    EXPECT_EQ(replica.Run("BACKUP STATUS")[3].Text(), "A full synchronization replaced the data");
    EXPECT_THAT(replica.Run("BACKUP START"), Ok());
    network().Step(1000);
    EXPECT_EQ(StateOf(replica), "incrementing");
    primary.Run("SET l w");
    network().Step(500);
    EXPECT_THAT(replica.Run("BACKUP SEAL"), Ok());
    EXPECT_EQ(SnapshotDifference(SnapshotOf(*primary.server()), Restored(replica)), "");
  }
}

TEST_P(BackupReplicationTest, AFullSynchronizationDuringTheBase) {
  Member& primary = world_.Add();
  primary.Run("SET k new");
  Member& replica = world_.Add({GetParam()});
  replica.Run("SET k old");
  replica.server().forker().Hold();
  EXPECT_THAT(replica.Run("BACKUP START"), Ok());
  EXPECT_EQ(StateOf(replica), "snapshotting");
  replica.Follow(primary);
  network().Step(3000);
  EXPECT_TRUE(replica.IsLinked());
  EXPECT_EQ(StateOf(replica), "failed");
  replica.server().forker().Release();
  network().Step(500);
  ExpectSameData(primary, replica);
}

TEST_P(BackupReplicationTest, APrimarySynchronizesReplicasMeanwhile) {
  Member& primary = world_.Add({GetParam()});
  primary.Run("SET k v");
  EXPECT_THAT(primary.Run("BACKUP START"), Ok());
  network().Step(500);
  EXPECT_EQ(StateOf(primary), "incrementing");
  Member& replica = AddLinked(primary);
  primary.Run("SET l w");
  network().Step(500);
  ExpectSameData(primary, replica);
  EXPECT_THAT(primary.Run("BACKUP SEAL"), Ok());
  EXPECT_EQ(SnapshotDifference(SnapshotOf(*primary.server()), Restored(primary)), "");
}

}  // namespace
}  // namespace respite
