// The replication offset with which a primary starts again. In a cluster, it must exceed the offsets of replicas that
// have only data from before, because elections prefer the larger offset. Outside of a cluster, it must not exceed the
// old offset, because a Sentinel may have promoted another server meanwhile. The replicas here are not cluster nodes.
#include "server/storage/offset_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "server/replication/replication.h"
#include "tests/support/replication_world.h"

namespace respite {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr char kOffsetFileName[] = "nodes.conf.offset";

class OffsetFileTest : public ReplicationTest {
 protected:
  OffsetFileTest() { network().SetPiece(1 << 20); }
  // Adds a cluster node that owns all slots.
  ReplicationMember& AddNode(std::vector<std::string> directives = {}) {
    directives.emplace_back("cluster-enabled yes");
    ReplicationMember& node = world_.Add(std::move(directives));
    EXPECT_THAT(node.Run("CLUSTER ADDSLOTSRANGE 0 16383"), Ok());
    network().Step(2500);
    return node;
  }
  // Adds more to the stream than to the files.
  void SendMuch(ReplicationMember& primary, std::vector<std::string> words) {
    words.emplace_back(5'000'000, 'x');
    for (int i = 0; i < 5; ++i) {
      TestClient(primary.server()).Run(words);
      network().Run();
    }
  }
  // Restarts the primary while `stale` cannot reach it. A replica that synchronises then must not have a smaller offset
  // than `stale`, because elections prefer the larger one.
  void ExpectHigherOffsetAfterRestart(ReplicationMember& primary, ReplicationMember& stale) {
    network().SetApart(primary.port(), stale.port());
    primary.Stop();
    primary.Start();
    ReplicationMember& fresh = AddLinked(primary);
    EXPECT_GT(fresh.history().offset, stale.history().offset);
  }
  static int64_t Number(ReplicationMember& member) {
    const std::string text = member.files().Content(kOffsetFileName);
    return text.empty() ? -1 : std::stoll(text);
  }
  void ShutDown(ReplicationMember& member, Bytes command) {
    network().Step(1500);  // replicas acknowledge everything, so the server need not wait for them
    EXPECT_THAT(member.Run(command), NoReply());
    member.Stop();
  }
};

const std::vector<std::string> kSetOnReplicasOnly = {
    "EVAL", "redis.set_repl(redis.REPL_REPLICA) redis.call('SET', 'k', ARGV[1])", "0"};

TEST_F(OffsetFileTest, CoversWhatOnlyReplicasGet) {
  for (const char* const directive : {"appendonly yes", "save 3600 1"}) {
    SCOPED_TRACE(directive);
    ReplicationMember& primary = AddNode({directive});
    ReplicationMember& stale = AddLinked(primary);
    SendMuch(primary, kSetOnReplicasOnly);
    ASSERT_GT(stale.history().offset, 25'000'000);
    ExpectHigherOffsetAfterRestart(primary, stale);
  }
}

// The base has no offset.
TEST_F(OffsetFileTest, SurvivesARewriteAsCommands) {
  ReplicationMember& primary = AddNode({"appendonly yes", "aof-use-rdb-preamble no"});
  ReplicationMember& stale = AddLinked(primary);
  primary.Run("SET a 1");
  SendMuch(primary, kSetOnReplicasOnly);
  primary.Run("BGREWRITEAOF");
  network().Step(3000);
  ASSERT_THAT(primary.Run("INFO persistence").Text(), HasSubstr("aof_rewrites:1"));
  ExpectHigherOffsetAfterRestart(primary, stale);
}

// Each life of the primary begins with the same dump.
TEST_F(OffsetFileTest, GrowsWithEachStartFromTheSameDump) {
  ReplicationMember& primary = AddNode();
  ReplicationMember& stale = AddLinked(primary);
  primary.Run("SET a 1");
  network().Step(1500);
  ASSERT_THAT(primary.Run("SAVE"), Ok());
  SendMuch(primary, {"SET", "b"});
  network().SetApart(primary.port(), stale.port());
  int64_t last = stale.history().offset;
  for (int life = 0; life < 3; ++life) {
    primary.Stop();
    primary.Start();
    ReplicationMember& replica = AddLinked(primary);
    SendMuch(primary, {"SET", "b"});
    EXPECT_GT(replica.history().offset, last);
    EXPECT_LT(replica.history().offset, last + 2 * OffsetFile::kStep);
    last = replica.history().offset;
    network().SetApart(primary.port(), replica.port());
  }
}

// The number is on the disk before a replica gets bytes that it did not cover before.
TEST_F(OffsetFileTest, IsNeverBehindTheReplicasWhenTheMachineCrashes) {
  ReplicationMember& primary = AddNode({"appendonly yes"});
  ReplicationMember& stale = AddLinked(primary);
  EXPECT_GT(Number(primary), stale.history().offset);
  network().SetApart(primary.port(), stale.port());
  primary.Crash();
  primary.Start();
  ReplicationMember& fresh = AddLinked(primary);
  EXPECT_GT(fresh.history().offset, stale.history().offset);
}

TEST_F(OffsetFileTest, AReplicaAtTheEndOfTheDumpContinuesAfterACrash) {
  ReplicationMember& primary = AddNode();
  ReplicationMember& replica = AddLinked(primary);
  ReplicationMember& its_replica = AddLinked(replica);
  primary.Run("SET a 1");
  network().Step(1500);
  network().SetApart(primary.port(), replica.port());
  const int64_t end = primary.history().offset;
  ASSERT_EQ(its_replica.history().offset, end);
  ASSERT_THAT(primary.Run("SAVE"), Ok());
  primary.Stop();
  primary.Start();
  primary.Run("SET b 2");
  network().SetTogether(primary.port(), replica.port());
  network().Step(5000);
  for (ReplicationMember* const one : {&replica, &its_replica}) {
    EXPECT_TRUE(one->IsLinked());
    EXPECT_GT(one->history().offset, end + OffsetFile::kStep / 2);
    EXPECT_EQ(one->history().offset, primary.history().offset);
    ExpectSameData(primary, *one);
  }
  EXPECT_EQ(Stat(primary, "sync_full"), 0);
  EXPECT_EQ(Stat(primary, "sync_partial_ok"), 1);
  EXPECT_EQ(Stat(replica, "sync_partial_ok"), 1);
}

// A replica of Redis cannot be told that its offset changes, and one that lacks bytes cannot get them.
TEST_F(OffsetFileTest, OthersGetASnapshotAfterACrash) {
  ReplicationMember& primary = AddNode();
  AddLinked(primary);
  primary.Run("SET a 1");
  network().Step(1500);
  ASSERT_THAT(primary.Run("SAVE"), Ok());
  const std::string id = primary.history().id;
  const int64_t next = primary.history().offset + 1;
  primary.Stop();
  primary.Start();
  struct Case {
    Bytes options;
    int64_t from;
    Bytes answer;
  };
  for (const Case& one : std::vector<Case>{{"capa psync2", next, "+FULLRESYNC"},
                                           {"capa psync2 capa respite-id:x", next - 1, "+FULLRESYNC"},
                                           {"capa psync2 capa respite-id:x", next + 1, "+FULLRESYNC"},
                                           {"capa psync2 capa respite-id:x", next, "+CONTINUE"}}) {
    TestClient client(primary.server());
    EXPECT_THAT(client.Run(StrCat("REPLCONF ", one.options)), Ok());
    client.Send(StrCat("PSYNC ", id, " ", one.from));
    network().Step(200);
    EXPECT_THAT(client.Raw(""), StartsWith(std::string(one.answer))) << one.options << one.from;
  }
}

TEST_F(OffsetFileTest, HasTheExactOffsetAfterAShutdown) {
  ReplicationMember& primary = AddNode();
  AddLinked(primary);
  primary.Run("SET a 1");
  network().Step(1500);
  ASSERT_THAT(primary.Run("SAVE"), Ok());
  network().Step(100);
  const std::string id = primary.history().id;
  const int64_t offset = primary.history().offset;
  EXPECT_GT(Number(primary), offset + OffsetFile::kStep / 2);
  ShutDown(primary, "SHUTDOWN SAVE");
  EXPECT_EQ(Number(primary), offset);
  primary.Start();
  EXPECT_EQ(primary.history().offset, offset);
  TestClient redis(primary.server());
  EXPECT_THAT(redis.Run("REPLCONF capa psync2"), Ok());
  redis.Send(StrCat("PSYNC ", id, " ", offset + 1));
  EXPECT_THAT(redis.Raw(""), StartsWith(StrCat("+CONTINUE ", primary.history().id, "\r\n")));
  network().Step(100);
  EXPECT_GT(Number(primary), offset) << "this life may crash, too";
}

TEST_F(OffsetFileTest, LeavesNoOffsetsOutWhenAServerStopsAgainAndAgain) {
  ReplicationMember& primary = AddNode();
  AddLinked(primary);
  primary.Run("SET a 1");
  ShutDown(primary, "SHUTDOWN SAVE");
  for (int life = 0; life < 3; ++life) {
    network().SetApart(primary.port(), world_.members().back().port());
    primary.Start();
    EXPECT_EQ(primary.history().skipped_offsets, 0);
    network().Step(2500);
    ShutDown(primary, "SHUTDOWN SAVE");
  }
}

// Only a faulty primary can send such offsets.
TEST_F(OffsetFileTest, IsNotWrittenAgainAndAgainAtTheLargestNumber) {
  ReplicationMember& primary = AddNode({"save 3600 1"});
  AddLinked(primary);
  primary.server()->services().data.dataset.history.offset = History::kMaxOffset - 1'000'000;
  network().Step(1500);
  const uint64_t renames = primary.files().Count(FaultyFiles::Operation::kRename);
  network().Step(5000);
  EXPECT_EQ(primary.files().Count(FaultyFiles::Operation::kRename), renames);
}

// The dump is older than the last offset.
TEST_F(OffsetFileTest, AShutdownWithoutASaveIsNoReasonToReuseOffsets) {
  ReplicationMember& primary = AddNode();
  ReplicationMember& stale = AddLinked(primary);
  ASSERT_THAT(primary.Run("SAVE"), Ok());
  SendMuch(primary, {"SET", "a"});
  ShutDown(primary, "SHUTDOWN NOSAVE");
  network().SetApart(primary.port(), stale.port());
  EXPECT_EQ(Number(primary), stale.history().offset);
  primary.Start();
  EXPECT_EQ(primary.history().offset, stale.history().offset);
  EXPECT_EQ(Stat(primary, "sync_partial_ok"), 0);
}

TEST_F(OffsetFileTest, AServerThatKeepsNothingHasNone) {
  ReplicationMember& primary = AddNode({"repl-diskless-sync yes"});
  AddLinked(primary);
  primary.Run("SET a 1");
  network().Step(5000);
  EXPECT_FALSE(primary.files().Has(kOffsetFileName));
  ASSERT_THAT(primary.Run("BGSAVE").Text(), StartsWith("Background saving started"));
  network().Step(100);
  EXPECT_TRUE(primary.files().Has(kOffsetFileName)) << "a restart would find data";
  ReplicationMember& alone = AddNode({"appendonly yes", "save 3600 1"});
  alone.Run("SET a 1");
  network().Step(5000);
  EXPECT_FALSE(alone.files().Has(kOffsetFileName)) << "it has no replica";
}

// A Sentinel may have promoted another server while this one was down. The offsets of its replicas must not exceed
// those of the promoted server's replicas.
TEST_F(OffsetFileTest, OutsideOfAClusterAServerBeginsWhereItsFilesEnd) {
  for (const bool has_aof : {false, true}) {
    ReplicationMember& primary = world_.Add({has_aof ? "appendonly yes" : "save 3600 1"});
    ReplicationMember& replica = AddLinked(primary);
    SendMuch(primary, {"SET", "a"});
    network().Step(1500);
    const int64_t written = primary.history().offset;
    ASSERT_THAT(primary.Run("SAVE"), Ok());
    SendMuch(primary, {"PUBLISH", "news"});
    network().SetApart(primary.port(), replica.port());
    primary.Stop();
    EXPECT_FALSE(primary.files().Has(kOffsetFileName));
    primary.Start();
    ReplicationMember& fresh = AddLinked(primary);
    EXPECT_NEAR(static_cast<double>(fresh.history().offset), static_cast<double>(written), 1000) << has_aof;
  }
}

// While a server has no backlog, its offset does not count writes.
TEST_F(OffsetFileTest, FilesOfAHistoryThatEndedHaveNoCommonId) {
  ReplicationMember& primary = world_.Add({"repl-backlog-ttl 1"});
  AddLinked(primary).Stop();
  network().Step(5000);
  ASSERT_GT(primary.history().offset, 0);
  ASSERT_FALSE(primary.history().is_shared);
  ASSERT_THAT(primary.Run("SAVE"), Ok());
  const std::string dump = primary.files().Content("dump.rdb");
  primary.Run("SET written 1");
  ASSERT_THAT(primary.Run("SAVE"), Ok());
  primary.Stop();
  primary.Start();
  ReplicationMember& copy = world_.Add();
  copy.Stop();
  copy.files().Put("dump.rdb", dump);
  copy.Start({StrCat("replicaof 127.0.0.1 ", primary.port())});
  network().Step(3000);
  ASSERT_TRUE(copy.IsLinked());
  ExpectSameData(primary, copy);
}

// Its files still have the old data, with the old offsets.
TEST_F(OffsetFileTest, AStopWithoutDataKeepsTheNumber) {
  ReplicationMember& primary = AddNode({"save 3600 1"});
  AddLinked(primary);
  const int64_t number = Number(primary);
  ASSERT_GT(number, OffsetFile::kStep / 2);
  primary.server()->services().data.dataset.history.data = History::Data::kNone;
  primary.server()->services().data.dataset.history.offset = 0;
  ShutDown(primary, "SHUTDOWN NOSAVE");
  EXPECT_EQ(Number(primary), number);
}

TEST_F(OffsetFileTest, AFailedWriteIsLoggedAndRepeated) {
  ReplicationMember& primary = AddNode({"save 3600 1", "repl-diskless-sync yes"});
  primary.files().FailFrom(FaultyFiles::Operation::kRename, 1, ENOSPC);
  AddLinked(primary, {"save 3600 1"});
  EXPECT_THAT(primary.Log(), HasSubstr("Can't write the replication offset to"));
  EXPECT_EQ(Number(primary), -1);
  primary.files().Recover();
  network().Step(1500);
  EXPECT_GT(Number(primary), primary.history().offset);
}

TEST_F(OffsetFileTest, ANumberThatCannotBeTrueIsIgnored) {
  for (const char* const text : {"", "\n", "x\n", "-1\n", "1 \n", "1\n1\n", "9223372036854775807\n",
                                 "576460752303423489\n", "11111111111111111111111111111111111111111111\n"}) {
    ReplicationMember& primary = AddNode({"appendonly yes"});
    primary.Run("SET a 1");
    primary.Stop();
    primary.files().Put(kOffsetFileName, text);
    primary.Start();
    EXPECT_THAT(primary.Log(), HasSubstr("has no valid replication offset")) << text;
    AddLinked(primary);
    EXPECT_LT(primary.history().offset, 1'000'000) << text;
  }
}

TEST_F(OffsetFileTest, AnUnreadableFileIsIgnored) {
  ReplicationMember& primary = AddNode({"appendonly yes"});
  primary.files().Put(kOffsetFileName, "1000\n");
  primary.Stop();
  primary.Start();
  EXPECT_THAT(primary.Log(), Not(HasSubstr("has no valid replication offset")));
  AddLinked(primary);
  EXPECT_GT(primary.history().offset, 1000);
}

// A primary that was replaced while it was down has no more data than its dump says.
TEST_F(OffsetFileTest, APrimaryThatBecomesAReplicaCountsOnlyItsData) {
  ReplicationMember& primary = AddNode();
  ReplicationMember& replica = AddLinked(primary);
  primary.Run("SET a 1");
  network().Step(1500);
  ASSERT_THAT(primary.Run("SAVE"), Ok());
  network().Step(100);
  const int64_t offset = primary.history().offset;
  primary.Stop();
  replica.Run("REPLICAOF NO ONE");
  primary.Start();
  EXPECT_GT(primary.history().offset, offset + OffsetFile::kStep / 2);
  network().SetApart(primary.port(), replica.port());
  primary->services().replication.Follow("127.0.0.1", replica.port(), 0);
  EXPECT_EQ(primary.history().offset, offset);
  network().SetTogether(primary.port(), replica.port());
  network().Step(3000);
  EXPECT_TRUE(primary.IsLinked());
  ExpectSameData(primary, replica);
}

}  // namespace
}  // namespace respite
