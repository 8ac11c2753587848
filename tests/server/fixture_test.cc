// Tests of the fixture itself.
#include "tests/support/command_test.h"

namespace respite {
namespace {

class FixtureTest : public CommandTest {};
INSTANTIATE_TEST_SUITE_P(Resp, FixtureTest, BothVersions(), VersionName);

TEST_P(FixtureTest, RunsCommandsAndJournalsTheirEffects) {
  EXPECT_THAT(Run("SET k \"a b\""), Ok());
  EXPECT_THAT(Run({"SET", "n", std::string("x\0y", 3)}), Ok());
  EXPECT_THAT(Run("GET k"), Bulk("a b"));
  EXPECT_THAT(Run("GET n"), Bulk(std::string("x\0y", 3)));
  EXPECT_THAT(Run("GET none"), Nil());
  EXPECT_THAT(Run("GET"), Error("ERR wrong number of arguments for 'get' command"));
  EXPECT_THAT(Journaled(), testing::ElementsAre("0: SET k a b", testing::StartsWith("0: SET n x")));
}

TEST_P(FixtureTest, PassesTimeOnlyWhenTold) {
  EXPECT_THAT(Run("SET k v"), Ok());
  server()->services().data.dataset.keyspace[0].SetDeadline(server()->services().data.dataset.keyspace[0].Find("k"),
                                                            now_ms() + 100);
  clock().AdvanceMs(100);
  EXPECT_THAT(Run("GET k"), Bulk("v"));
  clock().AdvanceMs(1);
  EXPECT_THAT(Run("GET k"), Nil());
  EXPECT_THAT(Journaled(), testing::ElementsAre("0: SET k v", "0: DEL k"));
}

TEST_P(FixtureTest, CronExpiresKeys) {
  EXPECT_THAT(Run("SET k v"), Ok());
  server()->services().data.dataset.keyspace[0].SetDeadline(server()->services().data.dataset.keyspace[0].Find("k"),
                                                            now_ms() + 100);
  clock().AdvanceMs(200);
  server().Cron();
  EXPECT_TRUE(SnapshotOf(*server()).empty());
}

TEST_P(FixtureTest, MatchersKnowTheVersion) {
  EXPECT_EQ(client().Raw("GET none\r\n"), IsResp3() ? "_\r\n" : "$-1\r\n");
}

TEST(Replay, ReportsDifferences) {
  TestServer one;
  TestServer two;
  TestClient(one).Run("SET a 1");
  TestClient(two).Run("SET a 2");
  TestClient(two).Run("SET b 2");
  EXPECT_EQ(SnapshotDifference(SnapshotOf(*one), SnapshotOf(*two)),
            "  0 \"a\": string \"1\" became string \"2\"\n  0 \"b\": made up string \"2\"\n");
}

TEST(TestClientTest, ProtocolErrorClosesIt) {
  TestServer server;
  TestClient client(server);
  EXPECT_EQ(client.Raw("*x\r\n"), "-ERR Protocol error: invalid multibulk length\r\n");
  EXPECT_TRUE(client.Closed());
  EXPECT_EQ(server->services().clients.registry.Count(), 0u);
}

TEST(TestClientTest, BigArgumentsArriveInManyReads) {
  TestServer server;
  TestClient client(server);
  std::string big(200'000, 'x');
  EXPECT_THAT(client.Run({"SET", "k", big}), Ok());
  EXPECT_THAT(client.Run("GET k"), Bulk(big));
}

}  // namespace
}  // namespace respite
