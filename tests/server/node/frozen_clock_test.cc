// A server whose Clock is stopped and set by the test, while its RealClock runs.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <span>
#include <thread>
#include <vector>

#include "tests/support/test_client.h"
#include "tests/support/test_node.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kFrozenHourMs = 3'600'000;

// Advances the time of a server.
void PassTime(TestServer& server, int64_t elapsed_ms) {
  server->housekeeping().PassTime(elapsed_ms, [&](int64_t step_ms) { server.clock().AdvanceMs(step_ms); });
}

TEST(FrozenClockTest, ADayPassesAndEverythingDueHappensInOrder) {
  TestServer server;
  TestClient client(server), waits_long(server), waits_short(server), paused(server);
  TestClient listener(server, RespVersion::kResp3);
  client.Run("CONFIG SET notify-keyspace-events Ex");
  listener.Run("PSUBSCRIBE __keyevent@*__:expired");
  client.Run("SET third v EX 10800");
  client.Run("SET first v EX 3600");
  client.Run("SET later v EX 864000");
  client.Run("HSET h f 1 g 2");
  client.Run("HPEXPIRE h 7200000 FIELDS 1 f");
  waits_long.Run("BLPOP nothing 16200");  // 4.5 hours
  waits_short.Run("BLPOP nothing 5400");  // 1.5 hours
  const int64_t began_ms = server.clock().MonotonicMs();
  std::vector<std::pair<std::string, int64_t>> seen;
  const auto note = [&](const std::string& what) {
    seen.emplace_back(what, (server.clock().MonotonicMs() - began_ms) / 60'000);
  };
  RecordingJournal journal;
  server->services().data.dataset.journals.Attach(journal);
  server->housekeeping().PassTime(24 * kFrozenHourMs, [&](int64_t step_ms) {
    for (const std::string& line : journal.Lines()) note(line);
    journal = {};
    if (waits_short.Read().HasValue()) note("short wait");
    if (waits_long.Read().HasValue()) note("long wait");
    server.clock().AdvanceMs(step_ms);
  });
  server->services().data.dataset.journals.Detach(journal);
  EXPECT_THAT(seen,
              ElementsAre(std::pair{"0: DEL first", 60}, std::pair{"short wait", 90}, std::pair{"0: HDEL h f", 120},
                          std::pair{"0: DEL third", 180}, std::pair{"long wait", 270}));
  EXPECT_EQ(client.Run("EXISTS later h").Integer(), 2);
  EXPECT_EQ(server.clock().MonotonicMs() - began_ms, 24 * kFrozenHourMs);
}

TEST(FrozenClockTest, APauseEndsOnTheWayAndHoldsExpiryBackUntilThen) {
  TestServer server;
  TestClient client(server), other(server);
  client.Run("SET k v EX 60");
  client.Run("CLIENT PAUSE 120000 WRITE");
  other.Send("INCR n");
  PassTime(server, 119'000);
  EXPECT_EQ(server->services().data.dataset.keyspace[0].Size(), 1u) << "hidden, but there";
  EXPECT_FALSE(other.Read().HasValue());
  PassTime(server, 2'000);
  EXPECT_EQ(server->services().data.dataset.keyspace[0].Find("k"), nullptr);
  EXPECT_TRUE(other.Read().HasValue());
}

// A server on a real event loop with a stopped clock.
class FrozenNodeTest : public testing::Test {
 protected:
  FrozenNodeTest() : node_(loop_, clock_, {"busy-reply-threshold 20"}), thread_([this] { loop_.Run(); }) {}
  ~FrozenNodeTest() override {
    const Descriptor socket(Connect());
    const std::string request = "SHUTDOWN NOSAVE\r\n";
    send(socket.Get(), request.data(), request.size(), MSG_NOSIGNAL);
    thread_.join();
  }

  int Connect() {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(node_.port()));
    EXPECT_EQ(connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return socket;
  }
  // Sends one request on its own connection; returns the first piece of the reply.
  std::string Ask(const std::string& request) {
    const Descriptor socket(Connect());
    send(socket.Get(), request.data(), request.size(), MSG_NOSIGNAL);
    std::string text(4096, '\0');
    const ssize_t bytes = recv(socket.Get(), text.data(), text.size(), 0);
    text.resize(bytes > 0 ? static_cast<size_t>(bytes) : 0);
    return text;
  }

  const SystemRealClock real_clock_;
  ManualClock clock_;
  EventLoop loop_{real_clock_};
  TestNode node_;
  std::thread thread_;
};

TEST_F(FrozenNodeTest, ItServesAndItsTimeStandsStill) {
  const std::string time = Ask("TIME\r\n");
  EXPECT_EQ(Ask("SET k v PX 1\r\n"), "+OK\r\n");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Ask("GET k\r\n"), "$1\r\nv\r\n");
  EXPECT_EQ(Ask("TIME\r\n"), time);
}

TEST_F(FrozenNodeTest, ALateScriptIsFoundAndKilled) {
  const Descriptor script(Connect());
  const std::string endless = "EVAL \"while true do end\" 0\r\n";
  send(script.Get(), endless.data(), endless.size(), 0);
  std::string answer;
  while (answer.find("BUSY") == std::string::npos) answer = Ask("GET k\r\n");
  EXPECT_EQ(Ask("SCRIPT KILL\r\n"), "+OK\r\n");
  EXPECT_EQ(Ask("PING\r\n"), "+PONG\r\n");
}

TEST_F(FrozenNodeTest, ItSavesASnapshot) { EXPECT_EQ(Ask("SAVE\r\n"), "+OK\r\n"); }

// Otherwise a pipeline of slow commands would delay all clients.
TEST(FrozenClockTest, AShareOfATurnEndsByThePace) {
  const ManualClock clock;
  ManualClock real_clock;
  EventLoop loop(real_clock);
  TestNode node(loop, clock);
  Session& session = node->services().clients.registry.Create(clock.MonotonicMs());
  std::string pipeline;
  for (int i = 0; i < 100; ++i) pipeline += "INCR n\r\n";
  std::vector<char> scratch(pipeline.size());
  const std::span<char> target = session.in.ReadTarget(scratch);
  std::copy(pipeline.begin(), pipeline.end(), target.begin());
  session.in.Received(pipeline.size());
  real_clock.AdvanceWithEachReading(1000);
  EXPECT_EQ(node.host().pump().Run(session), Pump::Outcome::kMore);
  EXPECT_LT(session.usage.commands, 100u);
  while (node.host().pump().Run(session) == Pump::Outcome::kMore) node->housekeeping().EndTurn();
  EXPECT_EQ(session.usage.commands, 100u);
  node->services().clients.registry.Close(session);
}

}  // namespace
}  // namespace respite
