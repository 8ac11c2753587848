// A replica that cannot continue from the backlog gets a snapshot, and then the stream from the moment of the primary's
// fork.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/str_cat.h"
#include "server/replication/replication.h"
#include "tests/support/replication_world.h"

namespace respite {
namespace {

using testing::HasSubstr;

// How a snapshot leaves the primary, and where the replica writes it.
struct Way {
  const char* name;
  const char* sync;
  const char* load;
};

const Way kWays[] = {
    {"DiskToDisk", "no", "disabled"},  {"PipeToDisk", "yes", "disabled"},       {"DiskToParser", "no", "swapdb"},
    {"PipeToParser", "yes", "swapdb"}, {"PipeToEmptyDb", "yes", "on-empty-db"},
};

class FullSyncTest : public testing::TestWithParam<Way> {
 protected:
  static bool IsPipe() { return GetParam().sync == std::string("yes"); }
  static std::vector<std::string> Directives() {
    return {std::string("repl-diskless-sync ") + GetParam().sync, std::string("repl-diskless-load ") + GetParam().load};
  }
  ReplicationMember& AddPrimary() { return world_.Add(Directives()); }
  ReplicationMember& AddReplica(std::vector<std::string> more = {}) {
    more.push_back(Directives()[1]);
    return world_.Add(more);
  }
  FakeNetwork& network() { return world_.network(); }

  ReplicationWorld world_{20090210};
};

INSTANTIATE_TEST_SUITE_P(Ways, FullSyncTest, testing::ValuesIn(kWays), [](const auto& way) { return way.param.name; });

TEST_P(FullSyncTest, AnEmptyPrimary) {
  ReplicationMember& primary = AddPrimary();
  ReplicationMember& replica = AddReplica();
  replica.Run("SET old 1");
  replica.Follow(primary);
  network().Step(3000);
  EXPECT_TRUE(replica.IsLinked());
  EXPECT_THAT(replica.Run("DBSIZE"), Int(0));
  EXPECT_EQ(replica.history().id, primary.history().id);
  primary.Run("SET a 1");
  network().Run();
  ExpectSameData(primary, replica);
  EXPECT_EQ(replica.history().offset, primary.history().offset);
}

TEST_P(FullSyncTest, DataOfAllKinds) {
  ReplicationMember& primary = AddPrimary();
  ReplicationMember& replica = AddReplica();
  primary.Run("SET s text");
  primary.Run("SET timed x EX 1000");
  primary.Run("RPUSH l 1 2 3");
  primary.Run("SADD set a b");
  primary.Run("ZADD z 1 a 2 b");
  primary.Run("HSET h f v");
  primary.Run("XADD x 1-1 f v");
  primary.Run("XGROUP CREATE x g 0");
  primary.Run("PFADD pf 1 2 3");
  primary.Run("SELECT 9");
  primary.Run("SET nine 9");
  primary.Run({"FUNCTION", "LOAD",
               "#!lua name=lib\nredis.register_function{function_name='f', "
               "callback=function() return 1 end, flags={'no-writes'}}"});
  replica.Follow(primary);
  network().Step(3000);
  ExpectSameData(primary, replica);
  EXPECT_THAT(replica.Run("FCALL f 0"), Int(1));
  primary.Run("SET more 1");
  network().Run();
  ExpectSameData(primary, replica);
}

TEST_P(FullSyncTest, TheOldDataAndFunctionsOfTheReplicaGo) {
  ReplicationMember& primary = AddPrimary();
  ReplicationMember& replica = AddReplica();
  replica.Run("SET mine 1");
  replica.Run({"FUNCTION", "LOAD", "#!lua name=mine\nredis.register_function('m', function() return 1 end)"});
  primary.Run("SET theirs 1");
  replica.Follow(primary);
  network().Step(3000);
  EXPECT_THAT(replica.Run("FUNCTION LIST"), EmptyArray());
  ExpectSameData(primary, replica);
}

TEST_P(FullSyncTest, WritesWhileTheSnapshotIsOnItsWay) {
  ReplicationMember& primary = AddPrimary();
  ReplicationMember& replica = AddReplica();
  primary.Run("SET n 0");
  replica.Follow(primary);
  network().SetPiece(20);
  TestClient client(primary.server());
  network().OnMove([&] { client.Run("INCR n"); });
  int moves = 0;
  while (moves++ < 400 && network().RunOnce()) client.Run("INCR n");
  network().OnMove(nullptr);
  network().Step(3000);
  EXPECT_TRUE(replica.IsLinked());
  ExpectSameData(primary, replica);
  EXPECT_EQ(replica.history().offset, primary.history().offset);
}

TEST_P(FullSyncTest, ManyReplicasShareASnapshot) {
  ReplicationMember& primary = AddPrimary();
  primary.Run("SET a 1");
  std::vector<ReplicationMember*> replicas;
  for (int i = 0; i < 4; ++i) replicas.push_back(&AddReplica());
  for (ReplicationMember* replica : replicas) replica->Follow(primary);
  network().Step(10'000);
  primary.Run("SET b 1");
  network().Run();
  for (ReplicationMember* replica : replicas) ExpectSameData(primary, *replica);
  EXPECT_EQ(primary.Info("connected_slaves"), "4");
}

TEST_P(FullSyncTest, ABigSnapshotIsPacedByItsReader) {
  ReplicationMember& primary = AddPrimary();
  ReplicationMember& replica = AddReplica();
  primary.Run("CONFIG SET rdbcompression no");
  for (int i = 0; i < 60; ++i) primary.Run(StrCat("SETRANGE key", i, " 10000 x"));
  network().SetWindow(10'000);
  replica.Follow(primary);
  size_t most = 0;
  network().OnMove([&] {
    for (const Session* session : primary->services().replication.replicas().All())
      most = std::max(most, session->out.Size());
  });
  network().Step(3000);
  network().OnMove(nullptr);
  ExpectSameData(primary, replica);
  EXPECT_GT(most, 0u);
  EXPECT_LE(most, 400'000u);
}

TEST_P(FullSyncTest, ABreakInTheMiddleBeginsAnew) {
  for (uint64_t bytes : {0u, 1u, 10u, 100u, 180u, 230u, 260u, 300u, 350u}) {
    ReplicationWorld world(bytes + 1);
    ReplicationMember& primary = world.Add(Directives());
    ReplicationMember& replica = world.Add(Directives());
    primary.Run("SET a 1");
    world.network().BreakNextAfter(primary.port(), bytes);
    replica.Follow(primary);
    world.network().Step(6000);
    EXPECT_TRUE(replica.IsLinked()) << bytes;
    ExpectSameData(primary, replica);
    for (const std::string& path : replica.files().Paths()) EXPECT_THAT(path, testing::Not(HasSubstr("temp-")));
  }
}

TEST_P(FullSyncTest, AChildThatCannotBeginEndsTheLink) {
  ReplicationMember& primary = AddPrimary();
  ReplicationMember& replica = AddReplica();
  primary.Run("SET a 1");
  primary.server().forker().FailNext(ENOMEM);
  replica.Follow(primary);
  network().Run();
  EXPECT_FALSE(replica.IsLinked());
  network().Step(5000);
  EXPECT_TRUE(replica.IsLinked()) << "it tries again";
  ExpectSameData(primary, replica);
}

TEST_P(FullSyncTest, AChildThatDiesEndsTheLink) {
  ReplicationMember& primary = AddPrimary();
  ReplicationMember& replica = AddReplica();
  primary.Run("SET a 1");
  primary.server().forker().Hold();
  replica.Follow(primary);
  network().Run();
  ASSERT_TRUE(primary.server().forker().Runs());
  primary.server().forker().Crash(SIGKILL);
  primary.server().Cron();
  primary.server().forker().Release();
  network().Step(20'000);
  EXPECT_TRUE(replica.IsLinked());
  ExpectSameData(primary, replica);
}

TEST_P(FullSyncTest, AReplicaThatLeavesWhileTheChildRunsDoesNoHarm) {
  ReplicationMember& primary = AddPrimary();
  ReplicationMember& replica = AddReplica();
  primary.server().forker().Hold();
  replica.Follow(primary);
  network().Run();
  replica.Run("REPLICAOF NO ONE");
  network().Step(2000);
  EXPECT_EQ(primary.Info("connected_slaves"), "0");
  primary.server().forker().Release();
  network().Step(3000);
  replica.Follow(primary);
  network().Step(5000);
  EXPECT_TRUE(replica.IsLinked());
}

TEST_P(FullSyncTest, ItWaitsForAnotherChild) {
  ReplicationMember& primary = world_.Add({Directives()[0], "appendonly yes"});
  ReplicationMember& replica = AddReplica();
  primary.server().forker().Hold();
  primary.Run("BGREWRITEAOF");
  ASSERT_TRUE(primary.server().forker().Runs());
  replica.Follow(primary);
  network().Step(3000);
  EXPECT_FALSE(replica.IsLinked());
  primary.server().forker().Release();
  network().Step(5000);
  EXPECT_TRUE(replica.IsLinked());
}

TEST_P(FullSyncTest, LinesWhileItWaitsAreNoAnswer) {
  ReplicationMember& primary = AddPrimary();
  ReplicationMember& replica = AddReplica({"repl-timeout 5"});
  primary.server().forker().Hold();
  replica.Follow(primary);
  network().Step(30'000);
  if (IsPipe()) return;  // Redis: the primary sends nothing while a pipe is silent
  EXPECT_EQ(network().ConnectionAttempts(), 1) << "the primary is there, and says so";
  primary.server().forker().Release();
  network().Step(5000);
  EXPECT_TRUE(replica.IsLinked());
  ExpectSameData(primary, replica);
}

TEST(FullSyncOfSeveralTest, AFileAndAPipeAtTheSameTimeDoNotMix) {
  ReplicationWorld world(3);
  ReplicationMember& primary = world.Add({"repl-diskless-sync yes"});
  ReplicationMember& replica = world.Add();
  primary.Run("CONFIG SET rdbcompression no");
  for (int i = 0; i < 100; ++i) primary.Run(StrCat("SETRANGE key", i, " 7000 x"));
  // An old replica, which does not accept diskless transfers, receives a file and is slow.
  TestClient old(primary.server());
  old.SetReading(TestClient::Reading::kNo);
  old.Send("PSYNC ? -1");
  world.network().Step(1500);
  ASSERT_EQ(old.session().replica->state, Replica::State::kReceives);
  ASSERT_NE(old.session().replica->file, nullptr);
  const size_t sent = old.session().out.Size();
  replica.Follow(primary);
  world.network().Step(3000);
  EXPECT_TRUE(replica.IsLinked());
  ExpectSameData(primary, replica);
  EXPECT_EQ(old.session().replica->state, Replica::State::kReceives);
  EXPECT_EQ(old.session().out.Size(), sent) << "nothing of the pipe went to it";
  old.SetReading(TestClient::Reading::kYes);
  for (int i = 0; i < 20; ++i) primary.server().EndTurn();
  EXPECT_EQ(old.session().replica->state, Replica::State::kOnline);
}

TEST(FullSyncOfSeveralTest, AFlushEndsTheChildWhoseSnapshotIsObsolete) {
  for (const char* sync : {"yes", "no"}) {
    ReplicationWorld world(3);
    ReplicationMember& primary = world.Add({std::string("repl-diskless-sync ") + sync});
    ReplicationMember& replica = world.Add();
    primary.Run("SET a 1");
    primary.server().forker().Hold();
    replica.Follow(primary);
    world.network().Run();
    ASSERT_TRUE(primary.server().forker().Runs());
    primary.Run("FLUSHALL");
    primary.server().forker().Release();
    world.network().Step(5000);
    EXPECT_TRUE(replica.IsLinked()) << sync;
    EXPECT_EQ(primary.server().forker().Started(), 2) << sync;
    ExpectSameData(primary, replica);
  }
}

TEST(FullSyncOfSeveralTest, AFileThatNobodyWantsAnyMoreIsNotFinished) {
  for (const bool has_save_points : {false, true}) {
    ReplicationWorld world(3);
    ReplicationMember& primary = world.Add({has_save_points ? "save 900 1" : "save \"\""});
    ReplicationMember& one = world.Add();
    ReplicationMember& other = world.Add();
    primary.server().forker().Hold();
    one.Follow(primary);
    other.Follow(primary);
    world.network().Run();
    one.Run("REPLICAOF NO ONE");
    world.network().Run();
    EXPECT_THAT(primary.Run("INFO persistence"), BulkThat(HasSubstr("rdb_bgsave_in_progress:1")));
    other.Run("REPLICAOF NO ONE");
    world.network().Step(200);
    const std::string expected = has_save_points ? "rdb_bgsave_in_progress:1" : "rdb_bgsave_in_progress:0";
    EXPECT_THAT(primary.Run("INFO persistence"), BulkThat(HasSubstr(expected)));
    primary.server().forker().Release();
  }
}

// A stuck replica delays the pipe for all, but only the stuck one is dropped.
TEST(FullSyncOfSeveralTest, OnlyTheReplicaThatIsStuckIsGivenUp) {
  ReplicationWorld world(3);
  ReplicationMember& primary = world.Add({"repl-diskless-sync yes", "repl-timeout 5", "repl-diskless-sync-delay 1"});
  ReplicationMember& quick = world.Add();
  primary.Run("CONFIG SET rdbcompression no");
  for (int i = 0; i < 100; ++i) primary.Run(StrCat("SETRANGE key", i, " 10000 x"));
  TestClient stuck(primary.server());
  stuck.Run("REPLCONF capa eof capa psync2");
  stuck.SetReading(TestClient::Reading::kNo);
  stuck.Send("PSYNC ? -1");
  quick.Follow(primary);
  world.network().Step(12'000);
  EXPECT_TRUE(stuck.Closed());
  EXPECT_TRUE(quick.IsLinked());
  EXPECT_EQ(world.network().ConnectionAttempts(), 1) << "the first link was not given up";
  ExpectSameData(primary, quick);
}

TEST(FullSyncOfSeveralTest, DisklessWaitsForMore) {
  ReplicationWorld world(4);
  ReplicationMember& primary = world.Add({"repl-diskless-sync yes", "repl-diskless-sync-delay 5"});
  ReplicationMember& one = world.Add();
  ReplicationMember& other = world.Add();
  one.Follow(primary);
  world.network().Step(3000);
  EXPECT_FALSE(one.IsLinked());
  other.Follow(primary);
  world.network().Step(4000);
  EXPECT_TRUE(one.IsLinked());
  EXPECT_TRUE(other.IsLinked());
  EXPECT_EQ(primary.server().forker().Started(), 1);
}

TEST(FullSyncOfSeveralTest, DisklessWaitsNoLongerForAsManyAsAreExpected) {
  ReplicationWorld world(4);
  ReplicationMember& primary =
      world.Add({"repl-diskless-sync yes", "repl-diskless-sync-delay 500", "repl-diskless-sync-max-replicas 2"});
  ReplicationMember& one = world.Add();
  ReplicationMember& other = world.Add();
  one.Follow(primary);
  world.network().Step(3000);
  EXPECT_FALSE(one.IsLinked());
  other.Follow(primary);
  world.network().Step(2000);
  EXPECT_TRUE(one.IsLinked());
  EXPECT_TRUE(other.IsLinked());
}

TEST(FullSyncOfSeveralTest, FunctionsOnly) {
  ReplicationWorld world(4);
  ReplicationMember& primary = world.Add({"repl-diskless-sync yes"});
  primary.Run("SET a 1");
  primary.Run({"FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return 1 end)"});
  TestClient client(primary.server());
  EXPECT_THAT(client.Run("REPLCONF rdb-only 1 rdb-filter-only functions capa eof"), Ok());
  EXPECT_THAT(client.Run({"REPLCONF", "rdb-filter-only", "everything"}),
              Error("ERR Unsupported rdb-filter-only option: everything"));
  for (const char* names : {"\"functions\"", "'functions'", "functions\tfunctions", " functions ", ""}) {
    EXPECT_THAT(client.Run({"REPLCONF", "rdb-filter-only", names}), Ok()) << names;
  }
  EXPECT_THAT(client.Run({"REPLCONF", "rdb-filter-only", "a\"b"}), Error("ERR Missing rdb-filter-only values"));
  std::string text = client.Raw("*3\r\n$5\r\nPSYNC\r\n$1\r\n?\r\n$2\r\n-1\r\n");
  world.network().Step(2000);
  primary.Run("SET later 1");
  text += client.Raw("");
  EXPECT_THAT(text, HasSubstr("+FULLRESYNC"));
  EXPECT_THAT(text, HasSubstr("lib"));
  EXPECT_THAT(text, testing::Not(HasSubstr("later")));
  EXPECT_TRUE(client.Closed()) << "it has what it wanted";
}

TEST(FullSyncOfSeveralTest, AFileThatWasMadeForReplicasIsRemovedIfWanted) {
  ReplicationWorld world(4);
  ReplicationMember& primary = world.Add({"rdb-del-sync-files yes"});
  ReplicationMember& replica = world.Add({"rdb-del-sync-files yes"});
  primary.Run("SET a 1");
  replica.Follow(primary);
  world.network().Step(3000);
  EXPECT_TRUE(replica.IsLinked());
  EXPECT_FALSE(primary.files().Has("dump.rdb"));
  EXPECT_FALSE(replica.files().Has("dump.rdb"));
}

TEST_P(FullSyncTest, AnotherNameOfTheDumpFileMeanwhile) {
  ReplicationMember& primary = AddPrimary();
  ReplicationMember& replica = world_.Add();
  primary.Run("SET a 1");
  primary.Run("SAVE");
  primary.Run("CONFIG SET dbfilename other.rdb");
  primary.Run("SAVE");
  primary.Run("SET a 2");
  primary.server().forker().Hold();
  replica.Follow(primary);
  network().Step(2000);
  ASSERT_FALSE(replica.IsLinked());
  primary.Run("CONFIG SET dbfilename dump.rdb");
  primary.server().forker().Release();
  network().Step(2000);
  EXPECT_TRUE(replica.IsLinked());
  EXPECT_EQ(network().ConnectionAttempts(), 1);
  ExpectSameData(primary, replica);
}

}  // namespace
}  // namespace respite
