#include <gtest/gtest.h>

#include "tests/support/command_test.h"

namespace respite {
namespace {

// Whoever asks for endless elements is closed at the limit, not when the server has no memory left.
class DrawTest : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Commands, DrawTest,
                         testing::Values("SRANDMEMBER set -1000000000000", "SRANDMEMBER table -1000000000000",
                                         "HRANDFIELD hash -1000000000000",
                                         "HRANDFIELD fields -1000000000000 WITHVALUES",
                                         "ZRANDMEMBER zset -1000000000000",
                                         "ZRANDMEMBER tree -1000000000000 WITHSCORES"));

TEST_P(DrawTest, EndsAtTheOutputLimit) {
  TestServer server({.directives = {"client-output-buffer-limit normal 1mb 0 0", "set-max-listpack-entries 0",
                                    "hash-max-listpack-entries 2", "zset-max-listpack-entries 2"}});
  TestClient writer(server);
  for (const char* line : {"SADD set 1 2", "SADD table a b c", "HSET hash f v", "HSET fields a 1 b 2 c 3",
                           "ZADD zset 1 a", "ZADD tree 1 a 2 b 3 c"}) {
    writer.Run(line);
  }
  TestClient client(server);
  client.SetReading(TestClient::Reading::kNo);
  client.Send(GetParam());
  EXPECT_TRUE(client.Closed());
  EXPECT_EQ(server->stats().output_limit_disconnections, 1u);
}

}  // namespace
}  // namespace respite
