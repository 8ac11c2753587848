#include <gtest/gtest.h>

#include "server/commands/data/collection_words.h"
#include "tests/support/command_test.h"

namespace respite {
namespace {

const std::vector<std::string> kManyEncodings = {"set-max-listpack-entries 0", "hash-max-listpack-entries 2",
                                                 "zset-max-listpack-entries 2"};

void MakeOneOfEach(TestServer& server) {
  TestClient writer(server);
  for (const char* line : {"SADD set 1 2", "SADD table a b c", "HSET hash f v", "HSET fields a 1 b 2 c 3",
                           "ZADD zset 1 a", "ZADD tree 1 a 2 b 3 c"}) {
    writer.Run(line);
  }
}

// Commands without their count and the arguments after it.
struct Draw {
  const char* words;
  const char* rest;
};
class DrawTest : public testing::TestWithParam<Draw> {
 protected:
  static std::string Line(const char* count) { return std::string(GetParam().words) + count + GetParam().rest; }
};

INSTANTIATE_TEST_SUITE_P(Commands, DrawTest,
                         testing::Values(Draw{"SRANDMEMBER set ", ""}, Draw{"SRANDMEMBER table ", ""},
                                         Draw{"HRANDFIELD hash ", ""}, Draw{"HRANDFIELD fields ", " WITHVALUES"},
                                         Draw{"ZRANDMEMBER zset ", ""}, Draw{"ZRANDMEMBER tree ", " WITHSCORES"}));

// A client that exceeds its output limit is closed; the server does not run out of memory.
TEST_P(DrawTest, EndsAtTheOutputLimit) {
  std::vector<std::string> directives = kManyEncodings;
  directives.emplace_back("client-output-buffer-limit normal 1mb 0 0");
  TestServer server({.directives = directives});
  MakeOneOfEach(server);
  TestClient client(server);
  client.SetReading(TestClient::Reading::kNo);
  client.Send(Line("-9000000"));
  EXPECT_TRUE(client.Closed());
  EXPECT_EQ(server->services().env.stats.output_limit_disconnections, 1u);
}

TEST_P(DrawTest, RefusesMoreElementsThanAnyReplyHas) {
  TestServer server({.directives = kManyEncodings});
  MakeOneOfEach(server);
  TestClient client(server);
  for (const char* count : {"-10000001", "-1000000000000", "-4611686018427387903"})
    EXPECT_THAT(client.Run(Line(count)), Error(refusals::kReplyTooLong));
  EXPECT_THAT(client.Run("PING"), Simple("PONG"));
  EXPECT_EQ(client.Run(Line("-5")).Size(), std::string(GetParam().rest).empty() ? 5u : 10u);
  std::string words = Line("-1000000000000");
  for (size_t at = 0; (at = words.find(' ', at)) != std::string::npos; at += 3) words.replace(at, 1, "','");
  EXPECT_THAT(client.Run("EVAL \"return redis.call('" + words + "')\" 0").Text(),
              testing::HasSubstr(refusals::kReplyTooLong));
}

// Scripts run in a session that belongs to no client, so the output limits of clients do not apply.
TEST(Draw, ScriptsHaveNoOutputLimit) {
  TestServer server({.directives = {"client-output-buffer-limit normal 1mb 0 0"}});
  TestClient client(server);
  client.Run({"EVAL", "redis.call('SADD', 's', ('x'):rep(10000))", "0"});
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(client.Run({"EVAL", "return #redis.call('SRANDMEMBER', 's', -9000)", "0"}), Int(9000));
  EXPECT_FALSE(client.Closed());
}

// Redis: output that CLIENT REPLY suppresses needs no memory.
TEST(Draw, UnsentOutputHasNoLimit) {
  TestServer server({.directives = {"client-output-buffer-limit normal 1mb 0 0"}});
  TestClient client(server);
  client.Run({"SADD", "s", std::string(10000, 'x')});
  client.Send("CLIENT REPLY OFF");
  client.Send("SRANDMEMBER s -9000");
  ASSERT_FALSE(client.Closed());
  EXPECT_THAT(client.Run("CLIENT REPLY ON"), Ok());
}

TEST(Draw, RefusesAReplyOfTooManyBytes) {
  TestServer server;
  TestClient client(server);
  client.Run({"HSET", "h", "f", std::string(8 * 1024 * 1024, 'v')});
  EXPECT_THAT(client.Run("HRANDFIELD h -1000 WITHVALUES"), Error(refusals::kReplyTooLong));
  EXPECT_EQ(client.Run("HRANDFIELD h -2").Size(), 2u);
}

}  // namespace
}  // namespace respite
