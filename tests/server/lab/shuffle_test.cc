// TEST SHUFFLE: elements without a promised order come in another order each time, and are otherwise unchanged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "tests/support/reply_matchers.h"
#include "tests/support/test_client.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

constexpr int kMembers = 20;
constexpr int kAsked = 10;

ReplyTree TreeOf(const TestReply& reply) { return reply.tree.value_or(ReplyTree{}); }

class ShuffleTest : public testing::TestWithParam<int> {
 protected:
  ShuffleTest() {
    client_.Run(StrCat("HELLO ", GetParam()));
    for (int i = 0; i < kMembers; ++i) {
      const std::string text = std::to_string(i);
      client_.Run("SADD set m" + text);
      client_.Run("HSET hash f" + text + " v" + text);
      client_.Run("ZADD zset " + text + " z" + text);
      client_.Run("SET key:" + text + " x");
    }
    EXPECT_THAT(client_.Run("TEST SHUFFLE ON"), Ok());
  }

  // Returns the elements of the reply, joining `together` of them into one; for a SCAN reply, the elements after the
  // cursor.
  static std::vector<std::string> Parts(const ReplyTree& reply, size_t together) {
    const bool is_walk = reply.children.size() == 2 && reply.children[1].kind == ReplyKind::kArray;
    const ReplyTree& list = is_walk ? reply.children[1] : reply;
    std::vector<std::string> parts;
    for (size_t i = 0; i < list.children.size(); ++i) {
      if (i % together == 0) parts.emplace_back();
      parts.back() += list.children[i].ReadableText() + " ";
    }
    return parts;
  }

  TestServer server_{{.directives = {"test-commands yes"}}};
  TestClient client_{server_};
};

TEST_P(ShuffleTest, ChangesTheOrderAndNothingElse) {
  struct Row {
    std::string command;
    size_t together;
  };
  for (const Row& row :
       {Row{"SMEMBERS set", 1}, Row{"SUNION set set", 1}, Row{"SINTER set set", 1}, Row{"SDIFF set none", 1},
        Row{"HGETALL hash", 2}, Row{"HKEYS hash", 1}, Row{"HVALS hash", 1}, Row{"KEYS key:*", 1},
        Row{"SCAN 0 COUNT 1000 MATCH key:*", 1}, Row{"SSCAN set 0 COUNT 1000", 1}, Row{"HSCAN hash 0 COUNT 1000", 2},
        Row{"HSCAN hash 0 MATCH * COUNT 1000 NOVALUES", 1}, Row{"ZSCAN zset 0 COUNT 1000", 2},
        Row{"CONFIG GET maxmemory*", 2}}) {
    client_.Run("TEST SHUFFLE OFF");
    auto expected = Parts(TreeOf(client_.Run(row.command)), row.together);
    std::ranges::sort(expected);
    client_.Run("TEST SHUFFLE ON");
    std::set<std::vector<std::string>> orders;
    for (int i = 0; i < kAsked; ++i) {
      auto parts = Parts(TreeOf(client_.Run(row.command)), row.together);
      orders.insert(parts);
      std::ranges::sort(parts);
      EXPECT_EQ(parts, expected) << row.command;
    }
    EXPECT_GT(orders.size(), size_t{kAsked} / 2) << row.command;
  }
}

TEST_P(ShuffleTest, LeavesPromisedOrdersErrorsAndSmallRepliesAlone) {
  client_.Run("RPUSH list 1 2 3 4 5 6 7 8 9");
  client_.Run("SADD one m");
  EXPECT_THAT(client_.Run("LRANGE list 0 -1"), Bulks({"1", "2", "3", "4", "5", "6", "7", "8", "9"}));
  EXPECT_THAT(client_.Run("ZRANGE zset 0 2"), Bulks({"z0", "z1", "z2"}));
  EXPECT_THAT(client_.Run("SMEMBERS list"), ErrorStartsWith("WRONGTYPE"));
  EXPECT_EQ(client_.Run("SMEMBERS one").Size(), 1u);
  EXPECT_EQ(client_.Run("SMEMBERS none").Size(), 0u);
}

TEST_P(ShuffleTest, ScriptsAndTransactionsMeetItToo) {
  std::set<std::string> orders;
  for (int i = 0; i < kAsked; ++i) {
    orders.insert(
        client_.Run({"EVAL", "return table.concat(redis.call('SMEMBERS', KEYS[1]), ' ')", "1", "set"}).Text());
    client_.Run("MULTI");
    client_.Run("SMEMBERS set");
    client_.Run("PING");
    const ReplyTree replies = TreeOf(client_.Run("EXEC"));
    ASSERT_EQ(replies.children.size(), 2u);
    EXPECT_EQ(replies.children[0].children.size(), size_t{kMembers});
    orders.insert(replies.children[0].ReadableText());
  }
  EXPECT_GT(orders.size(), size_t{kAsked});
}

TEST_P(ShuffleTest, TheSameSeedGivesTheSameOrders) {
  const auto ask = [&] {
    client_.Run("TEST SEED 7");
    return TreeOf(client_.Run("SMEMBERS set")).ReadableText() + TreeOf(client_.Run("HGETALL hash")).ReadableText();
  };
  const std::string first = ask();
  EXPECT_EQ(ask(), first);
}

TEST_P(ShuffleTest, ResetTurnsItOff) {
  EXPECT_THAT(client_.Run("TEST SHUFFLE"), Simple("on"));
  client_.Run("TEST RESET SHUFFLE");
  EXPECT_THAT(client_.Run("TEST SHUFFLE"), Simple("off"));
  EXPECT_EQ(TreeOf(client_.Run("SMEMBERS set")), TreeOf(client_.Run("SMEMBERS set")));
  EXPECT_THAT(client_.Run("TEST SHUFFLE maybe"), ErrorStartsWith("ERR 'maybe'"));
}

INSTANTIATE_TEST_SUITE_P(Resp, ShuffleTest, testing::Values(2, 3));

}  // namespace
}  // namespace respite
