// The replication offset with which a server starts again from its append-only file, after a stream that has more than
// the file: messages, and commands that only replicas get.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/replication/replication.h"
#include "tests/support/replication_world.h"

namespace respite {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr char kOffsetTestIncremental[] = "appendonlydir/appendonly.aof.1.incr.aof";

class AofOffsetTest : public ReplicationTest {
 protected:
  AofOffsetTest() { network().SetPiece(1 << 20); }
  // Adds more to the stream than the estimate from the size of the file allows for.
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
};

TEST_F(AofOffsetTest, CountsWhatOnlyReplicasGet) {
  const std::vector<std::vector<std::string>> commands = {
      {"PUBLISH", "news"},
      {"SPUBLISH", "news"},
      {"EVAL", "redis.set_repl(redis.REPL_REPLICA) redis.call('SET', 'k', ARGV[1])", "0"}};
  for (const std::vector<std::string>& words : commands) {
    SCOPED_TRACE(words[0]);
    ReplicationMember& primary = world_.Add({"appendonly yes"});
    ReplicationMember& stale = AddLinked(primary);
    SendMuch(primary, words);
    ASSERT_GT(stale.history().offset, 25'000'000);
    EXPECT_THAT(primary.files().Content(kOffsetTestIncremental), HasSubstr("#REPL-OFFSET:"));
    ExpectHigherOffsetAfterRestart(primary, stale);
  }
}

// The base has no offset, so the next file begins with it.
TEST_F(AofOffsetTest, SurvivesARewriteAsCommands) {
  ReplicationMember& primary = world_.Add({"appendonly yes", "aof-use-rdb-preamble no"});
  ReplicationMember& stale = AddLinked(primary);
  primary.Run("SET a 1");
  SendMuch(primary, {"PUBLISH", "news"});
  primary.Run("BGREWRITEAOF");
  network().Step(3000);
  ASSERT_THAT(primary.Run("INFO persistence").Text(), HasSubstr("aof_rewrites:1"));
  ExpectHigherOffsetAfterRestart(primary, stale);
}

TEST_F(AofOffsetTest, SurvivesTheRemovalOfAnIncompleteEnd) {
  for (const char* end : {"*3\r\n$3\r\nSET", "*1\r\n$5\r\nMULTI\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n"}) {
    ReplicationMember& primary = world_.Add({"appendonly yes"});
    ReplicationMember& stale = AddLinked(primary);
    primary.Run("SET a 1");
    SendMuch(primary, {"PUBLISH", "news"});
    network().SetApart(primary.port(), stale.port());
    primary.Stop();
    const std::string whole = primary.files().Content(kOffsetTestIncremental);
    ASSERT_THAT(whole, EndsWith("\r\n"));
    primary.files().Put(kOffsetTestIncremental, whole + end);
    primary.Start();
    EXPECT_THAT(primary.Log(), HasSubstr("Truncating the AOF"));
    EXPECT_EQ(primary.files().Content(kOffsetTestIncremental), whole);
    ExpectHigherOffsetAfterRestart(primary, stale);
  }
}

// The size of the file tells enough.
TEST_F(AofOffsetTest, AFileWithTheSameCommandsHasNoAnnotation) {
  ReplicationMember& primary = world_.Add({"appendonly yes"});
  ReplicationMember& stale = AddLinked(primary);
  SendMuch(primary, {"SET", "k"});
  EXPECT_THAT(primary.files().Content(kOffsetTestIncremental), Not(HasSubstr("#REPL-OFFSET:")));
  ExpectHigherOffsetAfterRestart(primary, stale);
}

}  // namespace
}  // namespace respite
