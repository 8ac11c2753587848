// A replica that loads the snapshot while it arrives (repl-diskless-load): what clients see meanwhile, and which data
// remains when the transfer breaks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "base/str_cat.h"
#include "server/replication/replication.h"
#include "server/runtime/server_phase.h"
#include "server/storage/append_only_file.h"
#include "tests/support/replication_world.h"

namespace respite {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kLibrary[] = "#!lua name=lib\nredis.register_function{function_name='f', callback=function() return ";

class DirectLoadTest : public ReplicationTest {
 protected:
  ReplicationMember& AddReplica(const std::string& load, std::vector<std::string> more = {}) {
    more.push_back("repl-diskless-load " + load);
    return world_.Add(std::move(more));
  }
  static void LoadFunction(ReplicationMember& member, const std::string& value) {
    member.Run({"FUNCTION", "LOAD", "REPLACE", std::string(kLibrary) + value + " end, flags={'no-writes'}}"});
  }
  // Writes enough that the snapshot takes many movements of the network.
  static void Fill(ReplicationMember& member, const std::string& prefix) {
    for (int i = 0; i < 300; ++i) member.Run(StrCat("SET ", prefix, i, " value"));
    member.Run("HSET " + prefix + "hash a 1 b 2");
  }
  // Moves until the replica has begun to load. Returns false if it never does.
  bool MoveIntoLoading(ReplicationMember& replica) {
    for (int i = 0; i < 2000; ++i) {
      if (replica->services().env.phase.load() != ServerPhase::Load::kNone &&
          replica.Info("master_sync_read_bytes") != "0")
        return true;
      if (!network().RunOnce()) network().Step(100);
    }
    return false;
  }
  // Adds a replica that was linked, and gets a snapshot of the same history when it reconnects.
  ReplicationMember& AddThatComesBack(ReplicationMember& primary) {
    ReplicationMember& replica = AddReplica("swapdb", {"replica-read-only no"});
    LoadFunction(primary, "1");
    replica.Follow(primary);
    network().Step(3000);
    EXPECT_TRUE(replica.IsLinked());
    replica.Run("SET mine 1");
    network().SetApart(primary.port(), replica.port());
    network().Break(primary.port(), replica.port());
    Fill(primary, "new");
    LoadFunction(primary, "2");
    primary.Run("CONFIG SET repl-backlog-size 16384");
    primary.Run({"SET", "long", std::string(40'000, 'x')});
    primary.Run({"SET", "long", "x"});
    network().SetPiece(200);
    network().SetAllTogether();
    return replica;
  }
  void BreakAndStop(ReplicationMember& primary, ReplicationMember& replica) {
    network().SetApart(primary.port(), replica.port());
    network().Break(primary.port(), replica.port());
    network().Run();
  }
};

TEST_F(DirectLoadTest, NoFileIsWritten) {
  ReplicationMember& primary = world_.Add({"repl-diskless-sync yes"});
  ReplicationMember& replica = AddReplica("swapdb");
  Fill(primary, "k");
  replica.Follow(primary);
  network().Step(3000);
  ExpectSameData(primary, replica);
  EXPECT_THAT(replica.files().Paths(), testing::IsEmpty());
  EXPECT_THAT(replica.Log(), HasSubstr("receiving streamed RDB from master with EOF to parser"));
  EXPECT_THAT(replica.Log(), HasSubstr("Swapping active DB with loaded DB"));
}

TEST_F(DirectLoadTest, OnEmptyDbTakesAFileIfThereAreKeys) {
  ReplicationMember& primary = world_.Add();
  ReplicationMember& replica = AddReplica("on-empty-db");
  replica.Run("SET mine 1");
  replica.Follow(primary);
  network().Step(3000);
  EXPECT_TRUE(replica.IsLinked());
  EXPECT_THAT(replica.Log(), HasSubstr("bytes from master to disk"));
}

TEST_F(DirectLoadTest, OldDataOfTheSameHistoryIsServed) {
  ReplicationMember& primary = world_.Add({"repl-diskless-sync yes"});
  ReplicationMember& replica = AddThatComesBack(primary);
  ASSERT_TRUE(MoveIntoLoading(replica));
  EXPECT_EQ(replica->services().env.phase.load(), ServerPhase::Load::kAsync);
  EXPECT_THAT(replica.Run("GET mine"), Bulk("1"));
  EXPECT_THAT(replica.Run("FCALL f 0"), Int(1));
  EXPECT_THAT(replica.Run("DBSIZE"), Int(1));
  EXPECT_THAT(replica.Run("INFO persistence"), BulkThat(HasSubstr("\r\nasync_loading:1\r\n")));
  EXPECT_THAT(replica.Run("INFO persistence"), BulkThat(HasSubstr("\r\nloading:0\r\n")));
  EXPECT_THAT(replica.Run("CONFIG SET appendonly yes"), ErrorStartsWith("LOADING "));
  EXPECT_THAT(replica.Run("REPLICAOF NO ONE"), ErrorStartsWith("LOADING "));
  EXPECT_THAT(replica.Run("BGSAVE"), ErrorStartsWith("LOADING "));
  EXPECT_THAT(replica.Run("SET lost 1"), Ok());
  network().SetPiece(4096);
  network().Step(3000);
  EXPECT_TRUE(replica.IsLinked());
  ExpectSameData(primary, replica);
  EXPECT_THAT(replica.Run("FCALL f 0"), Int(2));
  EXPECT_THAT(replica.Run("INFO persistence"), BulkThat(HasSubstr("\r\nasync_loading:0\r\n")));
}

TEST_F(DirectLoadTest, OldDataOfTheSameHistoryStaysWhenTheLinkBreaks) {
  ReplicationMember& primary = world_.Add({"repl-diskless-sync yes"});
  ReplicationMember& replica = AddThatComesBack(primary);
  const std::string id = replica.history().id;
  const int64_t offset = replica.history().offset;
  ASSERT_TRUE(MoveIntoLoading(replica));
  BreakAndStop(primary, replica);
  EXPECT_EQ(replica->services().env.phase.load(), ServerPhase::Load::kNone);
  EXPECT_THAT(replica.Run("GET mine"), Bulk("1"));
  EXPECT_THAT(replica.Run("FCALL f 0"), Int(1));
  EXPECT_THAT(replica.Run("DBSIZE"), Int(1));
  EXPECT_EQ(replica.history().id, id);
  EXPECT_EQ(replica.history().offset, offset);
  EXPECT_THAT(replica.Log(), HasSubstr("Internal error in RDB reading offset"));
  EXPECT_THAT(replica.Log(), HasSubstr("Discarding temporary DB in background"));
  network().SetAllTogether();
  network().SetPiece(4096);
  network().Step(6000);
  ExpectSameData(primary, replica);
}

TEST_F(DirectLoadTest, OldDataOfAnotherHistoryIsKeptButNotServed) {
  ReplicationMember& primary = world_.Add({"repl-diskless-sync yes"});
  ReplicationMember& replica = AddReplica("swapdb");
  replica.Run("SET mine 1");
  Fill(primary, "k");
  network().SetPiece(100);
  replica.Follow(primary);
  ASSERT_TRUE(MoveIntoLoading(replica));
  EXPECT_THAT(replica.Run("GET mine"), ErrorStartsWith("LOADING "));
  EXPECT_THAT(replica.Run("INFO persistence"), BulkThat(HasSubstr("\r\nloading:1\r\nasync_loading:0\r\n")));
  BreakAndStop(primary, replica);
  EXPECT_THAT(replica.Run("GET mine"), Bulk("1"));
  EXPECT_THAT(replica.Run("DBSIZE"), Int(1));
}

TEST_F(DirectLoadTest, AnEmptyDataSetIsEmptyAgainWhenTheLinkBreaks) {
  ReplicationMember& primary = world_.Add({"repl-diskless-sync yes"});
  ReplicationMember& replica = AddReplica("on-empty-db");
  LoadFunction(primary, "1");
  Fill(primary, "k");
  network().SetPiece(100);
  replica.Follow(primary);
  ASSERT_TRUE(MoveIntoLoading(replica));
  EXPECT_THAT(replica.Run("GET a"), ErrorStartsWith("LOADING "));
  BreakAndStop(primary, replica);
  EXPECT_THAT(replica.Run("DBSIZE"), Int(0));
  EXPECT_THAT(replica.Run("FUNCTION LIST"), EmptyArray());
  network().SetAllTogether();
  network().SetPiece(4096);
  network().Step(6000);
  ExpectSameData(primary, replica);
}

// The snapshot was incomplete, so nothing of the half-loaded data may claim the primary's history.
TEST_F(DirectLoadTest, AHalfLoadedReplicaWantsAWholeSnapshotAgain) {
  ReplicationMember& primary = world_.Add({"repl-diskless-sync yes"});
  ReplicationMember& replica = AddReplica("on-empty-db");
  Fill(primary, "k");
  network().SetPiece(100);
  replica.Follow(primary);
  ASSERT_TRUE(MoveIntoLoading(replica));
  BreakAndStop(primary, replica);
  EXPECT_NE(replica.history().id, primary.history().id);
  network().SetAllTogether();
  network().SetPiece(4096);
  network().Step(6000);
  EXPECT_EQ(Stat(primary, "sync_full"), 2);
  EXPECT_EQ(Stat(primary, "sync_partial_ok"), 0);
}

TEST_F(DirectLoadTest, ItsOwnReplicasGetTheNewData) {
  ReplicationMember& primary = world_.Add({"repl-diskless-sync yes"});
  ReplicationMember& middle = AddThatComesBack(primary);
  ReplicationMember& last = AddReplica("swapdb");
  last.Follow(middle);
  network().SetPiece(4096);
  network().Step(10'000);
  ASSERT_TRUE(middle.IsLinked());
  ASSERT_TRUE(last.IsLinked());
  ExpectSameData(primary, middle);
  ExpectSameData(primary, last);
  EXPECT_EQ(last.history().id, primary.history().id);
}

TEST_F(DirectLoadTest, TheAppendOnlyFileFollows) {
  for (const std::string load : {"swapdb", "on-empty-db"}) {
    ReplicationWorld world(8);
    ReplicationMember& primary = world.Add({"repl-diskless-sync yes"});
    ReplicationMember& replica = world.Add({"repl-diskless-load " + load, "appendonly yes"});
    if (load == "swapdb") replica.Run("SET mine 1");
    Fill(primary, "k");
    replica.Follow(primary);
    world.network().Step(5000);
    ExpectSameData(primary, replica);
    primary.Run("SET later 1");
    world.network().Step(3000);
    ASSERT_TRUE(replica->services().storage.aof.IsOn());
    replica.Stop();
    primary.Stop();
    replica.Start({"replicaof no one"});
    EXPECT_THAT(replica.Run("GET mine"), Nil()) << load;
    EXPECT_THAT(replica.Run("GET later"), Bulk("1"));
    EXPECT_THAT(replica.Run("DBSIZE"), Int(302));
  }
}

// Redis tries ten times, and then ends the server.
TEST_F(DirectLoadTest, TheAppendOnlyFileFollowsThoughNoChildCouldBeMadeAtFirst) {
  for (const std::string load : {"swapdb", "on-empty-db", "disabled"}) {
    ReplicationWorld world(8);
    ReplicationMember& primary = world.Add();
    ReplicationMember& replica = world.Add({"repl-diskless-load " + load, "appendonly yes"});
    primary.Run("SET k 1");
    replica.server().forker().FailNext(ENOMEM);
    replica.Follow(primary);
    world.network().Step(5000);
    ASSERT_TRUE(replica.IsLinked());
    EXPECT_TRUE(replica->services().storage.aof.IsOn()) << load;
    replica.Stop();
    primary.Stop();
    replica.Start({"replicaof no one"});
    EXPECT_THAT(replica.Run("GET k"), Bulk("1")) << load;
  }
}

TEST_F(DirectLoadTest, AWatchedKeyChangesWhenTheDataIsSwapped) {
  ReplicationMember& primary = world_.Add({"repl-diskless-sync yes"});
  ReplicationMember& replica = AddThatComesBack(primary);
  TestClient client(replica.server());
  client.Run("WATCH mine");
  ASSERT_TRUE(MoveIntoLoading(replica));
  network().SetPiece(4096);
  network().Step(3000);
  ASSERT_TRUE(replica.IsLinked());
  client.Run("MULTI");
  client.Run("GET mine");
  EXPECT_THAT(client.Run("EXEC"), NilArray());
}

TEST_F(DirectLoadTest, FlushBeforeLoadDropsTheOldDataWhenTheNewBegins) {
  ReplicationMember& primary = world_.Add({"repl-diskless-sync yes"});
  ReplicationMember& replica = AddReplica("flush-before-load");
  replica.Run("SET old 1");
  Fill(primary, "new");
  network().SetPiece(100);
  replica.Follow(primary);
  ASSERT_TRUE(MoveIntoLoading(replica));
  EXPECT_THAT(replica.Run("GET old"), ErrorStartsWith("LOADING "));
  BreakAndStop(primary, replica);
  EXPECT_THAT(replica.Run("DBSIZE"), Int(0));
  network().SetAllTogether();
  network().SetPiece(4096);
  replica.Follow(primary);
  network().Step(6000);
  ASSERT_TRUE(replica.IsLinked());
  ExpectSameData(primary, replica);
}

TEST_F(DirectLoadTest, AWatchedKeyMayComeWithTheNewData) {
  for (const std::string load : {"swapdb", "disabled"}) {
    ReplicationWorld world(9);
    ReplicationMember& primary = world.Add();
    ReplicationMember& replica = world.Add({"repl-diskless-load " + load});
    TestClient client(replica.server());
    client.Run("WATCH new1");
    TestClient other(replica.server());
    other.Run("WATCH none");
    Fill(primary, "new");
    replica.Follow(primary);
    world.network().Step(3000);
    ASSERT_TRUE(replica.IsLinked());
    for (TestClient* one : {&client, &other}) {
      one->Run("MULTI");
      one->Run("GET new1");
    }
    EXPECT_THAT(client.Run("EXEC"), NilArray()) << load;
    EXPECT_THAT(other.Run("EXEC"), ArrayOf(Bulk("value"))) << load;
  }
}

TEST_F(DirectLoadTest, WhoWaitsForAKeyGetsItFromTheNewData) {
  ReplicationMember& primary = world_.Add({"repl-diskless-sync yes"});
  ReplicationMember& replica = AddThatComesBack(primary);
  primary.Run("XADD s 1-1 field value");
  TestClient client(replica.server());
  EXPECT_THAT(client.Run("XREAD BLOCK 0 STREAMS s 0"), NoReply());
  ASSERT_TRUE(MoveIntoLoading(replica));
  EXPECT_THAT(client.Read(), NoReply());
  network().SetPiece(4096);
  network().Step(3000);
  ASSERT_TRUE(replica.IsLinked());
  EXPECT_THAT(client.Read(), ArrayOf(AnyReply()));
}

TEST_F(DirectLoadTest, NothingIsSavedWhileOnlyHalfIsThere) {
  ReplicationMember& primary = world_.Add({"repl-diskless-sync yes"});
  ReplicationMember& replica = AddReplica("on-empty-db", {"save 1 1"});
  Fill(primary, "k");
  network().SetPiece(100);
  replica.Follow(primary);
  ASSERT_TRUE(MoveIntoLoading(replica));
  network().Silence(primary.port(), replica.port());
  network().Step(5000);
  ASSERT_EQ(replica->services().env.phase.load(), ServerPhase::Load::kOverTurns);
  EXPECT_FALSE(replica.files().Has("dump.rdb"));
  replica.Run("SHUTDOWN SAVE");
  EXPECT_FALSE(replica.files().Has("dump.rdb"));
}

}  // namespace
}  // namespace respite
