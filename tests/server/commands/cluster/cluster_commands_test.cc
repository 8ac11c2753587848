// CLUSTER, redirections, and requests that a cluster node refuses. The other nodes are in the view but do not run.
#include <memory>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "server/cluster/cluster.h"
#include "server/cluster/cluster_mode.h"
#include "tests/support/reply_matchers.h"
#include "tests/support/test_client.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

using testing::HasSubstr;

class ClusterCommands : public testing::Test {
 protected:
  ClusterCommands() {
    EXPECT_EQ(server_->services().cluster.Open(), std::nullopt);
    EXPECT_EQ(server_->services().cluster.Start(), std::nullopt);
    other_ = &view().Add(NodeId::FromBytes(std::string(NodeId::kLength, 'b')), kNodePrimary);
    other_->shard = NodeId::FromBytes(std::string(NodeId::kLength, 'c'));
    other_->address = {.ip = "10.0.0.2", .tcp_port = 7002, .tls_port = 0, .bus_port = 17002};
    other_->hostname = "other.host";
  }

  ClusterView& view() { return server_->services().cluster.cluster()->view(); }
  TestReply Run(Bytes line) { return client_.Run(line); }
  // Serves half of the slots (bar's, but not foo's), for long enough that the node is not starting.
  void ServeHalf() {
    EXPECT_THAT(Run("CLUSTER ADDSLOTSRANGE 0 8191"), Ok());
    for (int slot = 8192; slot < kSlotCount; ++slot) view().Assign(slot, other_);
    server_.RunCronFor(6000);
    ASSERT_TRUE(view().is_ok);
  }

  TestServer server_{TestServer::Options{
      .directives = {"cluster-enabled yes", "cluster-node-timeout 100000000", "enable-debug-command yes"}}};
  TestClient client_{server_};
  ClusterNode* other_ = nullptr;
};

TEST_F(ClusterCommands, RequestsGoWhereTheirSlotIs) {
  EXPECT_THAT(Run("GET bar"), Error("CLUSTERDOWN Hash slot not served"));
  ServeHalf();
  EXPECT_THAT(Run("SET bar 1"), Ok());
  EXPECT_THAT(Run("GET foo"), Error("MOVED 12182 10.0.0.2:7002"));
  EXPECT_THAT(Run("MGET bar foo"), Error("CROSSSLOT Keys in request don't hash to the same slot"));
  EXPECT_EQ(Run("MGET {bar}1 {bar}2").Size(), 2u);
  EXPECT_THAT(Run("PING"), Simple("PONG"));
  EXPECT_THAT(Run("CLUSTER COUNTKEYSINSLOT 5061"), Int(1));
  EXPECT_THAT(Run("CLUSTER KEYSLOT bar"), Int(5061));
  EXPECT_THAT(Run("SSUBSCRIBE foo"), Error("MOVED 12182 10.0.0.2:7002"));
}

TEST_F(ClusterCommands, TheEndpointIsWhatTheDirectiveSays) {
  ServeHalf();
  Run("CONFIG SET cluster-preferred-endpoint-type hostname");
  EXPECT_THAT(Run("GET foo"), Error("MOVED 12182 other.host:7002"));
  Run("CONFIG SET cluster-preferred-endpoint-type unknown-endpoint");
  EXPECT_THAT(Run("GET foo"), Error("MOVED 12182 :7002"));
}

TEST_F(ClusterCommands, TransactionsAreOfOneSlot) {
  ServeHalf();
  Run("MULTI");
  EXPECT_THAT(Run("GET foo"), Error("MOVED 12182 10.0.0.2:7002"));
  EXPECT_THAT(Run("EXEC"), Error("EXECABORT Transaction discarded because of previous errors."));
  Run("MULTI");
  Run("SET bar 1");
  Run("SET {bar}2 1");
  EXPECT_EQ(Run("EXEC").Size(), 2u);
  // The slot leaves between MULTI and EXEC.
  Run("MULTI");
  Run("SET {x}1 1");
  Run("SET {x}2 1");
  const int slot = KeySlot("x");
  ClusterNode* const former = view().Owner(slot);
  view().Assign(slot, former == other_ ? &view().me() : other_);
  if (view().Owner(slot) == other_) {
    EXPECT_THAT(Run("EXEC"), Error(StrCat("MOVED ", slot, " 10.0.0.2:7002")));
    EXPECT_THAT(Run("EXEC"), Error("ERR EXEC without MULTI"));
  }
}

TEST_F(ClusterCommands, ASlotOnItsWayAsks) {
  ServeHalf();
  Run("SET bar 1");
  EXPECT_THAT(Run("CLUSTER SETSLOT 5061 MIGRATING " + other_->id.String()), Ok());
  EXPECT_THAT(Run("GET bar"), Bulk("1"));
  EXPECT_THAT(Run("GET {bar}gone"), Error("ASK 5061 10.0.0.2:7002"));
  EXPECT_THAT(Run("MGET bar {bar}gone"), Error("TRYAGAIN Multiple keys request during rehashing of slot"));
  EXPECT_THAT(Run("CLUSTER SETSLOT 5061 NODE " + other_->id.String()),
              Error("ERR Can't assign hashslot 5061 to a different node while I still hold keys for this hash slot."));
  EXPECT_THAT(Run("CLUSTER SETSLOT 5061 STABLE"), Ok());
  EXPECT_THAT(Run("GET {bar}gone"), Nil());
}

TEST_F(ClusterCommands, ASlotThatComesIsForThoseWhoAsk) {
  ServeHalf();
  EXPECT_THAT(Run("CLUSTER SETSLOT 12182 IMPORTING " + other_->id.String()), Ok());
  EXPECT_THAT(Run("SET foo 1"), Error("MOVED 12182 10.0.0.2:7002"));
  EXPECT_THAT(Run("ASKING"), Ok());
  EXPECT_THAT(Run("SET foo 1"), Ok());
  EXPECT_THAT(Run("GET foo"), Error("MOVED 12182 10.0.0.2:7002"));
  Run("ASKING");
  EXPECT_THAT(Run("MGET foo {foo}2"), Error("TRYAGAIN Multiple keys request during rehashing of slot"));
  Run("ASKING");
  EXPECT_THAT(Run("EVAL 'return redis.call(\"get\", KEYS[1])' 1 foo"), Bulk("1"));
  EXPECT_THAT(Run("GET foo"), Error("MOVED 12182 10.0.0.2:7002"));
  TestClient pipeline(server_);  // an empty request is the one that may ask
  EXPECT_EQ(pipeline.Raw("ASKING\r\n\r\nGET foo\r\n"), "+OK\r\n-MOVED 12182 10.0.0.2:7002\r\n");
  EXPECT_EQ(pipeline.Raw("ASKING\r\nMULTI\r\n\r\nGET foo\r\nEXEC\r\n"), "+OK\r\n+OK\r\n+QUEUED\r\n*1\r\n$1\r\n1\r\n");
  Run("ASKING");
  Run("MULTI");
  EXPECT_THAT(Run("GET foo"), Simple("QUEUED"));
  EXPECT_THAT(Run("EXEC"), ArrayOf({Bulk("1")}));
  const uint64_t before = view().me().config_epoch;
  EXPECT_THAT(Run("CLUSTER SETSLOT 12182 NODE " + view().me().id.String()), Ok());
  EXPECT_GT(view().me().config_epoch, before);
  EXPECT_THAT(Run("GET foo"), Bulk("1"));
}

TEST_F(ClusterCommands, WhoAskedAndWaitsIsServed) {
  ServeHalf();
  EXPECT_THAT(Run("CLUSTER SETSLOT 12182 IMPORTING " + other_->id.String()), Ok());
  TestClient blocked(server_);
  blocked.Run("ASKING");
  EXPECT_FALSE(blocked.Run("BLPOP foo 0").HasValue());
  server_.RunCronFor(200);
  Run("ASKING");
  EXPECT_THAT(Run("RPUSH foo 1"), Int(1));
  EXPECT_THAT(blocked.Read(), Bulks({"foo", "1"}));
  EXPECT_THAT(blocked.Run("GET foo"), Error("MOVED 12182 10.0.0.2:7002"));
}

TEST_F(ClusterCommands, PatternsOfSortAreRefused) {
  ServeHalf();
  Run("RPUSH bar 2 1");
  EXPECT_THAT(Run("SORT bar BY w_*"), Error("ERR BY option of SORT denied in Cluster mode."));
  EXPECT_THAT(Run("SORT bar BY {bar}w_* GET w_*"), Error("ERR GET option of SORT denied in Cluster mode."));
  EXPECT_THAT(Run("SORT bar BY {b*}"), Error("ERR BY option of SORT denied in Cluster mode."));
  EXPECT_THAT(Run("SORT_RO bar BY nosort"), Bulks({"2", "1"}));
  Run("MSET {bar}w_1 9 {bar}w_2 8");
  EXPECT_THAT(Run("SORT bar BY {bar}w_* GET {bar}w_*"), Bulks({"8", "9"}));  // these keys are in the slot of bar
}

TEST_F(ClusterCommands, ScriptsStayInTheirSlot) {
  ServeHalf();
  EXPECT_THAT(Run("EVAL 'return redis.call(\"set\", KEYS[1], 1)' 1 bar"), Ok());
  EXPECT_THAT(Run("EVAL 'return redis.call(\"get\", \"foo\")' 1 bar"),
              ErrorStartsWith("ERR Script attempted to access a non local key in a cluster node"));
  EXPECT_THAT(Run("EVAL '#!lua\nreturn redis.call(\"get\", \"{b}1\")' 1 bar"),
              ErrorStartsWith("ERR Script attempted to access keys that do not hash to the same slot"));
  EXPECT_THAT(Run("EVAL '#!lua\nreturn redis.call(\"mget\", \"bar\", \"{b}1\")' 1 bar"),
              ErrorStartsWith("ERR Script attempted to access a non local key in a cluster node"));
  EXPECT_THAT(Run("EVAL '#!lua flags=no-cluster\nreturn 1' 0"),
              Error("ERR Can not run script on cluster, 'no-cluster' flag is set."));
}

TEST_F(ClusterCommands, AReplicaServesReadsToThoseWhoWantThem) {
  ServeHalf();
  view().DropSlotsOf(view().me());
  view().MarkAsReplica(view().me(), other_);
  EXPECT_THAT(Run("GET foo"), Error("MOVED 12182 10.0.0.2:7002"));
  EXPECT_THAT(Run("READONLY"), Ok());
  EXPECT_THAT(Run("CLIENT LIST").Text(), HasSubstr("flags=r "));
  EXPECT_THAT(Run("SET foo 1"), Error("MOVED 12182 10.0.0.2:7002"));
  EXPECT_THAT(Run("READWRITE"), Ok());
  EXPECT_THAT(Run("GET foo"), Error("MOVED 12182 10.0.0.2:7002"));
}

TEST_F(ClusterCommands, ThereIsOneDatabaseAndNoReplicaof) {
  EXPECT_THAT(Run("SELECT 0"), Ok());
  EXPECT_THAT(Run("SELECT 1"), Error("ERR SELECT is not allowed in cluster mode"));
  EXPECT_THAT(Run("SWAPDB 0 0"), Error("ERR SWAPDB is not allowed in cluster mode"));
  EXPECT_THAT(Run("REPLICAOF NO ONE"), Error("ERR REPLICAOF not allowed in cluster mode."));
  EXPECT_THAT(Run("FAILOVER"),
              Error("ERR FAILOVER not allowed in cluster mode. Use CLUSTER FAILOVER command instead."));
  EXPECT_THAT(Run("INFO cluster").Text(), HasSubstr("cluster_enabled:1"));
  EXPECT_THAT(Run("INFO server").Text(), HasSubstr("redis_mode:cluster"));
}

TEST_F(ClusterCommands, SlotsAreGivenAndTaken) {
  EXPECT_THAT(Run("CLUSTER ADDSLOTS 1 2 3"), Ok());
  EXPECT_THAT(Run("CLUSTER ADDSLOTS 4 3"), Error("ERR Slot 3 is already busy"));
  EXPECT_THAT(Run("CLUSTER ADDSLOTS 4 4"), Error("ERR Slot 4 specified multiple times"));
  EXPECT_THAT(Run("CLUSTER ADDSLOTS 16384"), Error("ERR Invalid or out of range slot"));
  EXPECT_THAT(Run("CLUSTER DELSLOTS 4"), Error("ERR Slot 4 is already unassigned"));
  EXPECT_THAT(Run("CLUSTER DELSLOTSRANGE 1 2"), Ok());
  EXPECT_THAT(Run("CLUSTER ADDSLOTSRANGE 9 8"), Error("ERR start slot number 9 is greater than end slot number 8"));
  EXPECT_THAT(Run("CLUSTER FLUSHSLOTS"), Ok());
  EXPECT_EQ(view().me().slot_count, 0);
}

TEST_F(ClusterCommands, FlushSlotIsPropagatedAsDeletions) {
  ServeHalf();
  Run("MSET bar 1 {bar}x 2");
  Run("MULTI");
  Run("CLUSTER FLUSHSLOT 5061");
  EXPECT_THAT(Run("EXEC"), ArrayOf(Ok()));
  EXPECT_THAT(Run("EXISTS bar {bar}x"), Int(0));
  EXPECT_THAT(Run("CLUSTER FLUSHSLOT 5061"), Ok());
  std::vector<std::string> lines = server_.journal().Lines();
  ASSERT_EQ(lines.size(), 3u);
  std::sort(lines.begin() + 1, lines.end());
  EXPECT_EQ(lines, (std::vector<std::string>{"0: MSET bar 1 {bar}x 2", "0: DEL bar", "0: DEL {bar}x"}));
}

TEST_F(ClusterCommands, TrimSlotsDeletesKeysOfForeignSlotsOnly) {
  ServeHalf();
  Run("MSET bar 1 {bar}x 2");
  EXPECT_THAT(Run("TRIMSLOTS RANGES 1 5061 5061"), Error("ERR the slot 5061 is served by this node"));
  EXPECT_THAT(Run("EXISTS bar {bar}x"), Int(2));
  view().Assign(5061, other_);
  EXPECT_THAT(Run("TRIMSLOTS RANGES 2 5061 5061 9000 9001"), Ok());
  EXPECT_THAT(Run("CLUSTER COUNTKEYSINSLOT 5061"), Int(0));
  std::vector<std::string> lines = server_.journal().Lines();
  ASSERT_EQ(lines.size(), 3u);
  std::sort(lines.begin() + 1, lines.end());
  EXPECT_EQ(lines, (std::vector<std::string>{"0: MSET bar 1 {bar}x 2", "0: DEL bar", "0: DEL {bar}x"}));
}

TEST_F(ClusterCommands, TrimSlotsChecksItsRanges) {
  EXPECT_THAT(Run("TRIMSLOTS a b c d"), Error("ERR missing ranges argument"));
  EXPECT_THAT(Run("TRIMSLOTS RANGES x 0 1"), Error("ERR value is not an integer or out of range"));
  for (const char* words : {"0 0 0", "2 0 1", "1 0 5 6", "-1 0 1"}) {
    EXPECT_THAT(Run(StrCat("TRIMSLOTS RANGES ", words)), Error("ERR invalid number of ranges")) << words;
  }
  EXPECT_THAT(Run("TRIMSLOTS RANGES 1 0 16384"), Error("ERR Invalid or out of range slot"));
  EXPECT_THAT(Run("TRIMSLOTS RANGES 1 5 1"), Error("ERR start slot number 5 is greater than end slot number 1"));
  EXPECT_THAT(Run("TRIMSLOTS RANGES 2 0 5 3 8"), Error("ERR Slot 3 specified multiple times"));
}

TEST_F(ClusterCommands, SetSlotChecksTheTimeoutBeforeItActs) {
  ServeHalf();
  const std::string move = "CLUSTER SETSLOT 5061 MIGRATING " + other_->id.String();
  EXPECT_THAT(Run(move + " TIMEOUT"), Error("ERR Missing timeout value"));
  EXPECT_THAT(Run(move + " TIMEOUT x"), Error("ERR timeout is not an integer or out of range"));
  EXPECT_THAT(Run(move + " TIMEOUT -1"), Error("ERR timeout is negative"));
  EXPECT_THAT(Run(move + " TIMEOUT 9223372036854775807"), Error("ERR timeout is out of range"));
  EXPECT_TRUE(view().migrating().empty());
  EXPECT_THAT(Run(move + " TIMEOUT 100"), Ok());
  EXPECT_FALSE(view().migrating().empty());
  const auto bad_action = Error("ERR Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP");
  EXPECT_THAT(Run("CLUSTER SETSLOT 5061 STABLE x"), bad_action);
  EXPECT_THAT(Run("CLUSTER SETSLOT 5061 NODE"), bad_action);
  EXPECT_THAT(Run("CLUSTER SETSLOT 5061 STABLE TIMEOUT 0"), Ok());
  EXPECT_TRUE(view().migrating().empty());
}

TEST_F(ClusterCommands, NodesAreDescribed) {
  ServeHalf();
  EXPECT_THAT(Run("CLUSTER MYID"), Bulk(view().me().id.String()));
  EXPECT_THAT(Run("CLUSTER NODES").Text(), HasSubstr("myself,master - 0 0 "));
  EXPECT_THAT(Run("CLUSTER NODES").Text(), HasSubstr(" 10.0.0.2:7002@17002,other.host master - 0 0 0 disconnected "
                                                     "8192-16383\n"));
  EXPECT_THAT(Run("CLUSTER INFO").Text(), HasSubstr("cluster_state:ok\r\ncluster_slots_assigned:16384\r\n"));
  const TestReply slots = Run("CLUSTER SLOTS");
  ASSERT_EQ(slots.Size(), 2u);
  EXPECT_THAT(slots[1], ArrayOf({Int(8192), Int(16383),
                                 ArrayOf({Bulk("10.0.0.2"), Int(7002), Bulk(other_->id.String()),
                                          ArrayOf({Bulk("hostname"), Bulk("other.host")})})}));
  EXPECT_EQ(Run("CLUSTER SHARDS").Size(), 2u);
  EXPECT_EQ(Run("CLUSTER LINKS").Size(), 0u);
  EXPECT_EQ(Run("CLUSTER REPLICAS " + other_->id.String()).Size(), 0u);
  EXPECT_THAT(Run("CLUSTER COUNT-FAILURE-REPORTS " + other_->id.String()), Int(0));
  EXPECT_THAT(Run("CLUSTER REPLICAS x"), Error("ERR Unknown node x"));
}

TEST_F(ClusterCommands, ShardsShowTheOffsetOfAReplicaWhoseHistoryIsUnconfirmed) {
  ServeHalf();
  other_->offset = 1000 - History::kMaxOffset;
  const TestReply shards = Run("CLUSTER SHARDS");
  std::vector<int64_t> offsets;
  for (size_t i = 0; i < shards.Size(); ++i) {
    const TestReply& node = shards[i][3][0];
    for (size_t field = 0; field + 1 < node.Size(); field += 2) {
      if (node[field].Text() == "replication-offset") offsets.push_back(node[field + 1].Integer());
    }
  }
  EXPECT_THAT(offsets, testing::UnorderedElementsAre(0, 1000));
}

TEST_F(ClusterCommands, OneWordIsEnough) {
  EXPECT_THAT(Run("CLUSTER FAILOVER FORCE x"),
              Error("ERR unknown subcommand or wrong number of arguments for 'FAILOVER'. Try CLUSTER HELP."));
  EXPECT_THAT(Run("CLUSTER FAILOVER x"), Error("ERR syntax error"));
  EXPECT_THAT(Run("CLUSTER RESET HARD SOFT"),
              Error("ERR unknown subcommand or wrong number of arguments for 'RESET'. Try CLUSTER HELP."));
}

// The bus keeps its port, and the other nodes learn of the new port for clients.
TEST_F(ClusterCommands, ThePortForClientsMayChange) {
  const uint16_t bus_port = view().me().address.bus_port;
  server_->services().env.config.MutableSettings().bound_port = 7777;
  server_.RunCronFor(200);
  EXPECT_EQ(view().me().address.tcp_port, 7777);
  EXPECT_EQ(view().me().address.bus_port, bus_port);
}

TEST_F(ClusterCommands, WhatIsImpossibleIsRefused) {
  EXPECT_THAT(Run("CLUSTER FORGET " + view().me().id.String()), Error("ERR I tried hard but I can't forget myself..."));
  EXPECT_THAT(Run("CLUSTER REPLICATE " + view().me().id.String()), Error("ERR Can't replicate myself"));
  EXPECT_THAT(Run("CLUSTER FAILOVER"), Error("ERR You should send CLUSTER FAILOVER to a replica"));
  EXPECT_THAT(Run("CLUSTER MEET 127.0.0.1 x"), Error("ERR Invalid base port specified: x"));
  EXPECT_THAT(Run("CLUSTER MEET nowhere 7000"), Error("ERR Invalid node address specified: nowhere:7000"));
  EXPECT_THAT(Run("CLUSTER SET-CONFIG-EPOCH 5"),
              Error("ERR The user can assign a config epoch only when the node does not know any other node."));
  EXPECT_THAT(Run("CLUSTER FORGET " + other_->id.String()), Ok());
  EXPECT_THAT(Run("CLUSTER SET-CONFIG-EPOCH 5"), Ok());
  EXPECT_THAT(Run("CLUSTER BUMPEPOCH"), Simple("STILL 5"));
}

TEST_F(ClusterCommands, NodesConfSurvives) {
  Run("CLUSTER ADDSLOTSRANGE 0 100");
  const std::string id = view().me().id.String();
  FaultyFiles& files = server_.files();
  const auto text = ReadFile(files, "nodes.conf", 1 << 20);
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(text.value(), HasSubstr(id));
  EXPECT_THAT(text.value(), HasSubstr(" connected 0-100\n"));
  EXPECT_THAT(text.value(), HasSubstr("vars currentEpoch 0 lastVoteEpoch 0\n"));
}

TEST_F(ClusterCommands, SortGetsElementsThemselves) {
  ServeHalf();
  Run("RPUSH bar 3 1");
  EXPECT_THAT(Run("SORT bar GET #"), Bulks({"1", "3"}));
  EXPECT_THAT(Run("SORT_RO bar BY nosort GET #"), Bulks({"3", "1"}));
  EXPECT_THAT(Run("SORT bar GET # GET x*"), Error("ERR GET option of SORT denied in Cluster mode."));
}

TEST_F(ClusterCommands, BlockedClientsAreSentOn) {
  ServeHalf();
  TestClient blocked(server_);
  EXPECT_FALSE(blocked.Run("BLPOP bar 0").HasValue());
  view().Assign(5061, other_);
  server_.RunCronFor(200);
  EXPECT_THAT(blocked.Read(), Error("MOVED 5061 10.0.0.2:7002"));
}

// A failover inside the shard. Redis 7.2 ends the subscriptions at the former and at the new primary.
TEST_F(ClusterCommands, SubscribersAreToldWhenAnotherNodeOfTheShardTakesTheSlot) {
  ServeHalf();
  for (int slot = 0; slot < 8192; ++slot) view().Assign(slot, other_);
  view().MarkAsReplica(view().me(), other_);
  server_.RunCronFor(200);
  TestClient subscriber(server_);
  EXPECT_THAT(subscriber.Run("SSUBSCRIBE bar"), ArrayOf({Bulk("ssubscribe"), Bulk("bar"), Int(1)}));
  view().MarkAsPrimary(view().me());
  for (int slot = 0; slot < 8192; ++slot) view().Assign(slot, &view().me());
  server_.RunCronFor(200);
  EXPECT_THAT(subscriber.Read(), ArrayOf({Bulk("sunsubscribe"), Bulk("bar"), Int(0)}));
  EXPECT_THAT(Run("PUBSUB SHARDNUMSUB bar"), ArrayOf(Bulk("bar"), Int(0)));
  EXPECT_THAT(subscriber.Run("SSUBSCRIBE bar"), ArrayOf({Bulk("ssubscribe"), Bulk("bar"), Int(1)}));
}

TEST_F(ClusterCommands, SubscribersOfALostSlotAreTold) {
  ServeHalf();
  TestClient subscriber(server_);
  subscriber.Run("SSUBSCRIBE bar");
  view().Assign(5061, other_);
  server_.RunCronFor(200);
  EXPECT_THAT(subscriber.Read(), ArrayOf({Bulk("sunsubscribe"), Bulk("bar"), Int(0)}));
}

}  // namespace
}  // namespace respite
