// CLUSTER SLOT-STATS: what it counts, and for which slot. tests/system/slot_stats_test.py compares it with Valkey.
#include "server/cluster/slot_stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/key_slot.h"
#include "server/cluster/cluster.h"
#include "server/cluster/cluster_mode.h"
#include "tests/support/reply_matchers.h"
#include "tests/support/test_client.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

class SlotStatsTest : public testing::Test {
 protected:
  SlotStatsTest() {
    EXPECT_EQ(server_->services().cluster.Open(), std::nullopt);
    EXPECT_EQ(server_->services().cluster.Start(), std::nullopt);
    EXPECT_THAT(Run("CLUSTER ADDSLOTSRANGE 0 16383"), Ok());
    server_.RunCronFor(6000);
  }
  TestReply Run(Bytes line) { return client_.Run(line); }
  void TurnOn() { EXPECT_THAT(Run("CONFIG SET cluster-slot-stats-enabled yes"), Ok()); }
  SlotStats::Counters Of(Bytes key) { return server_->services().cluster.slot_stats()->Of(KeySlot(key)); }
  // Returns whether the counters of all slots except the key's are zero.
  bool OthersAreZero(Bytes key) {
    for (int slot = 0; slot < kSlotCount; ++slot) {
      const SlotStats::Counters figures = server_->services().cluster.slot_stats()->Of(slot);
      if (slot != KeySlot(key) && figures.bytes_in + figures.bytes_out + figures.cpu_us != 0) return false;
    }
    return true;
  }

  TestServer server_{TestServer::Options{.directives = {"cluster-enabled yes", "cluster-node-timeout 100000000"}}};
  TestClient client_{server_};
};

TEST_F(SlotStatsTest, ShowsKeysOnlyUntilItIsTurnedOn) {
  Run("SET bar 1");
  EXPECT_THAT(Run("CLUSTER SLOT-STATS SLOTSRANGE 5061 5061"),
              ArrayOf({ArrayOf({Int(5061), ArrayOf({Bulk("key-count"), Int(1)})})}));
  EXPECT_THAT(Run("CLUSTER SLOT-STATS ORDERBY cpu-usec"), Error("ERR Unrecognized sort metric for ORDERBY."));
  EXPECT_EQ(Of("bar").bytes_in, 0u);
  TurnOn();
  Run("SET bar 1");
  EXPECT_THAT(Run("CLUSTER SLOT-STATS ORDERBY network-bytes-in LIMIT 1")[0][0], Int(5061));
  EXPECT_EQ(Run("CLUSTER SLOT-STATS SLOTSRANGE 5061 5061")[0][1].Size(), 8u);
  EXPECT_THAT(Run("CONFIG SET cluster-slot-stats-enabled no"), Ok());
  const uint64_t before = Of("bar").bytes_in;
  Run("SET bar 1");
  EXPECT_EQ(Of("bar").bytes_in, before);
}

TEST_F(SlotStatsTest, CountsRequestsAndReplies) {
  TurnOn();
  Run("SET key value");
  EXPECT_EQ(Of("key").bytes_in, 33u);
  EXPECT_EQ(Of("key").bytes_out, 5u);
  Run("INFO server");
  Run("GET key");
  EXPECT_EQ(Of("key").bytes_in, 33u + 22u);
  EXPECT_EQ(Of("key").bytes_out, 5u + 11u);
  EXPECT_TRUE(OthersAreZero("key"));
  Run("CONFIG RESETSTAT");
  EXPECT_EQ(Of("key").bytes_in, 0u);
}

TEST_F(SlotStatsTest, ATransactionCountsForItsSlot) {
  TurnOn();
  Run("MULTI");
  Run("SET key value");
  EXPECT_EQ(Of("key").bytes_in, 0u);
  Run("EXEC");
  EXPECT_EQ(Of("key").bytes_in, 15u + 33u + 14u);
  EXPECT_EQ(Of("key").bytes_out, 9u + 9u);  // QUEUED, and the reply of EXEC
  EXPECT_TRUE(OthersAreZero("key"));
}

TEST_F(SlotStatsTest, AScriptOfSeveralSlotsCountsForNone) {
  TurnOn();
  EXPECT_THAT(
      Run("EVAL '#!lua flags=allow-cross-slot-keys\nredis.call(\"set\", \"foo\", 1) redis.call(\"set\", \"bar\", "
          "1)' 0"),
      Nil());
  EXPECT_EQ(Of("foo").bytes_in, 0u);
  EXPECT_EQ(Of("bar").bytes_in, 0u);
  Run("EVAL 'redis.call(\"set\", KEYS[1], 1)' 1 bar");
  EXPECT_GT(Of("bar").bytes_in, 0u);
  EXPECT_TRUE(OthersAreZero("bar"));
}

TEST_F(SlotStatsTest, AWaitCountsWhenItIsOver) {
  TurnOn();
  TestClient blocked(server_);
  blocked.Run("BLPOP key 0");
  EXPECT_EQ(Of("key").bytes_in, 0u);
  Run("LPUSH key value");
  EXPECT_EQ(Of("key").bytes_in, 31u + 35u);
  EXPECT_EQ(Of("key").bytes_out, 4u + 24u);
}

TEST_F(SlotStatsTest, MessagesOfShardChannelsCount) {
  TurnOn();
  TestClient subscriber(server_);
  subscriber.Run("SSUBSCRIBE channel");
  EXPECT_EQ(Of("channel").bytes_in, 34u);
  EXPECT_EQ(Of("channel").bytes_out, 38u);
  Run("CONFIG RESETSTAT");
  Run("SPUBLISH channel hello");
  EXPECT_EQ(Of("channel").bytes_in, 42u);
  EXPECT_EQ(Of("channel").bytes_out, 4u + 42u);
  Run("PUBLISH channel hello");
  EXPECT_EQ(Of("channel").bytes_in, 42u);
}

TEST_F(SlotStatsTest, TimeCounts) {
  TurnOn();
  Run("SET bar 1");
  const uint64_t before = Of("bar").cpu_us;
  server_.clock().AdvanceMs(5);
  Run("GET bar");
  EXPECT_GE(Of("bar").cpu_us, before);
}

TEST_F(SlotStatsTest, ASlotThatLeavesBeginsAgain) {
  TurnOn();
  Run("SET bar 1");
  Run("DEL bar");
  EXPECT_THAT(Run("CLUSTER DELSLOTS 5061"), Ok());
  server_.RunCronFor(200);
  EXPECT_EQ(Of("bar").bytes_in, 0u);
  EXPECT_THAT(Run("CLUSTER SLOT-STATS SLOTSRANGE 5061 5061"), ArrayOf({}));
}

TEST_F(SlotStatsTest, OrdersByValueAndThenBySlot) {
  Run("SET bar 1");
  Run("MSET {foo}1 1 {foo}2 1");
  const auto slots = [this](Bytes order) {
    const TestReply reply = Run(order);
    std::vector<int64_t> numbers;
    for (size_t i = 0; i < reply.Size(); ++i) numbers.push_back(reply[i][0].Integer());
    return numbers;
  };
  EXPECT_THAT(slots("CLUSTER SLOT-STATS ORDERBY key-count LIMIT 4"), testing::ElementsAre(12182, 5061, 0, 1));
  EXPECT_THAT(slots("CLUSTER SLOT-STATS ORDERBY key-count ASC LIMIT 2"), testing::ElementsAre(0, 1));
  EXPECT_THAT(slots("CLUSTER SLOT-STATS SLOTSRANGE 3 5"), testing::ElementsAre(3, 4, 5));
  EXPECT_EQ(slots("CLUSTER SLOT-STATS ORDERBY key-count").size(), 16384u);
}

TEST_F(SlotStatsTest, RefusesWhatMakesNoSense) {
  EXPECT_THAT(Run("CLUSTER SLOT-STATS SLOTSRANGE 2 1"),
              Error("ERR Start slot number 2 is greater than end slot number 1"));
  EXPECT_THAT(Run("CLUSTER SLOT-STATS SLOTSRANGE 0 16384"), Error("ERR Invalid or out of range slot"));
  EXPECT_THAT(Run("CLUSTER SLOT-STATS ORDERBY key-count LIMIT 0"),
              Error("ERR Limit has to lie in between 1 and 16384 (maximum number of slots)."));
  EXPECT_THAT(Run("CLUSTER SLOT-STATS ORDERBY key-count ASC DESC"),
              Error("ERR Multiple filters of the same type are disallowed."));
  EXPECT_THAT(Run("CLUSTER SLOT-STATS ORDERBY key-count WHY"), Error("ERR syntax error"));
  EXPECT_THAT(Run("CLUSTER SLOT-STATS NOTHING 1"),
              Error("ERR unknown subcommand or wrong number of arguments for 'SLOT-STATS'. Try CLUSTER HELP."));
}

}  // namespace
}  // namespace respite
