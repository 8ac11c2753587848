// Pipelines with requests that block, end the connection, or exceed their share of a turn.
#include "server/execution/pump.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {
namespace {

std::string Encode(std::vector<std::string> words) { return EncodeRequest(words); }

TEST(PumpTest, PausedPipelineRunsInOrderWhereverItIsCut) {
  std::string big(RequestParser::kMinBigArgumentBytes + 10'000, 'x');
  std::string input = Encode({"CLIENT", "PAUSE", "1000", "WRITE"}) + Encode({"SET", "a", "1"}) + Encode({"GET", "a"}) +
                      Encode({"SET", "b", big}) + Encode({"STRLEN", "b"}) + "PING\r\n";
  for (size_t cut = 0; cut <= input.size(); cut += cut < 150 || cut + 100 > input.size() ? 1 : 1009) {
    TestServer server;
    TestClient client(server);
    std::string replies = client.Raw(Bytes(input).substr(0, cut));
    replies += client.Raw(Bytes(input).substr(cut));
    ASSERT_EQ(replies, "+OK\r\n") << "cut at " << cut;
    server.clock().AdvanceMs(1001);
    server.Cron();
    replies = client.Raw("");
    ASSERT_EQ(replies, "+OK\r\n$1\r\n1\r\n+OK\r\n:42768\r\n+PONG\r\n") << "cut at " << cut;
  }
}

TEST(PumpTest, LongPipelinesTakeSeveralTurns) {
  constexpr int kRequests = 5000;
  TestServer server;
  TestClient client(server);
  std::string input;
  std::string expected;
  for (int i = 1; i <= kRequests; ++i) {
    input += "INCR n\r\n";
    StrAppend(expected, ":", i, "\r\n");
  }
  EXPECT_EQ(client.Raw(input), expected);
}

// Puts requests into the input of the client, without running them.
void Receive(TestClient& client, Bytes requests) {
  std::vector<char> scratch(requests.size());
  const std::span<char> target = client.session().in.ReadTarget(scratch);
  ASSERT_EQ(target.size(), requests.size());
  std::copy(requests.begin(), requests.end(), target.begin());
  client.session().in.Received(requests.size());
  client.session().in.SaveRest();
}

TEST(PumpTest, ASlowPipelineLetsOtherClientsInBetween) {
  constexpr int64_t kRequests = 100;
  TestServer server;
  TestClient client(server);
  TestClient other(server);
  std::string input;
  for (int i = 0; i < kRequests; ++i) input += "INCR n\r\n";
  Receive(client, input);
  server.clock().AdvanceWithEachReading(100);
  int64_t done = 0;
  while (done < kRequests) {
    const int64_t before = done;
    server.pump().Run(client.session());
    done = std::stoll(other.Run("GET n").Text());
    ASSERT_GT(done, before);
    ASSERT_LE(done, before + 7) << "each takes 0.1 ms, and the pipeline may run for 0.5 ms";
  }
}

TEST(PumpTest, RefusedRequestsCountForTheTimeOfAPipeline) {
  constexpr int64_t kRequests = 10;
  TestServer server;
  TestClient client(server);
  TestClient other(server);
  std::string input;
  for (int i = 0; i < kRequests; ++i) {
    for (int refused = 0; refused < 20; ++refused) input += refused % 2 == 0 ? "NOSUCH x\r\n" : "GET\r\n";
    input += "INCR n\r\n";
  }
  Receive(client, input);
  server.clock().AdvanceWithEachReading(100);
  for (int64_t done = 0; done < kRequests;) {
    const int64_t before = done;
    server.pump().Run(client.session());
    done = std::strtoll(other.Run("GET n").Text().c_str(), nullptr, 10);
    ASSERT_LE(done, before + 1) << "20 refused requests take 2 ms, and the pipeline may run for 0.5 ms";
  }
}

TEST(PumpTest, NothingRunsBehindQuit) {
  TestServer server;
  TestClient client(server);
  EXPECT_EQ(client.Raw("SET a 1\r\nQUIT\r\nSET a 2\r\n"), "+OK\r\n+OK\r\n");
  EXPECT_TRUE(client.Closed());
  EXPECT_THAT(TestClient(server).Run("GET a"), Bulk("1"));
}

TEST(PumpTest, NothingRunsBehindAProtocolError) {
  TestServer server;
  TestClient client(server);
  EXPECT_EQ(client.Raw("SET a 1\r\n*1\r\n$x\r\nSET a 2\r\n"), "+OK\r\n-ERR Protocol error: invalid bulk length\r\n");
  EXPECT_TRUE(client.Closed());
  EXPECT_THAT(TestClient(server).Run("GET a"), Bulk("1"));
}

TEST(PumpTest, StrangersHaveSmallerLimitsUntilTheyAuthenticate) {
  TestServer server({.directives = {"requirepass secret"}});
  std::string many = Encode({"MGET", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"});
  TestClient stranger(server);
  EXPECT_EQ(stranger.Raw("GET k\r\n" + many),
            "-NOAUTH Authentication required.\r\n-ERR Protocol error: unauthenticated multibulk length\r\n");
  EXPECT_TRUE(stranger.Closed());
  // In the same read as AUTH: limits are checked again for each request.
  TestClient friendly(server);
  EXPECT_EQ(friendly.Raw("AUTH secret\r\n" + many).substr(0, 10), "+OK\r\n*11\r\n");
}

TEST(PumpTest, ABigArgumentBehindOthersInOneRead) {
  std::string big(RequestParser::kMinBigArgumentBytes, 'x');
  TestServer server;
  TestClient client(server);
  EXPECT_EQ(client.Raw("PING\r\n" + Encode({"SET", "k", big}) + Encode({"STRLEN", "k"}) + "PING\r\n"),
            "+PONG\r\n+OK\r\n:32768\r\n+PONG\r\n");
}

TEST(PumpTest, TooMuchInputClosesTheConnection) {
  TestServer server({.directives = {"client-query-buffer-limit 1mb"}});
  TestClient client(server);
  client.Raw("*2\r\n$3\r\nGET\r\n$3000000\r\n" + std::string(2'000'000, 'x'));
  EXPECT_TRUE(client.Closed());
}

TEST(PumpTest, UnreadOutputClosesTheConnection) {
  TestServer server({.directives = {"client-output-buffer-limit normal 100kb 0 0"}});
  TestClient client(server);
  client.Run({"SET", "k", std::string(1000, 'x')});
  client.SetReading(TestClient::Reading::kNo);
  for (int i = 0; i < 200 && !client.Closed(); ++i) client.Send("GET k");
  EXPECT_TRUE(client.Closed());
  EXPECT_THAT(TestClient(server).Run("PING"), Simple("PONG"));
}

}  // namespace
}  // namespace respite
