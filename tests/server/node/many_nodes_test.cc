// Many servers in one process: on one loop, and on several loops with a thread each.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <asio/io_context.hpp>
#include <atomic>
#include <deque>
#include <thread>

#include "base/memory.h"
#include "base/str_cat.h"
#include "server/net/socket_address.h"
#include "tests/support/test_node.h"

namespace respite {
namespace {

// A client that blocks until its replies arrive.
class BlockingClient {
 public:
  explicit BlockingClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    EXPECT_EQ(connect(socket_.Get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  void Send(const std::string& requests) {
    for (size_t sent = 0; sent < requests.size();) {
      const ssize_t bytes = send(socket_.Get(), requests.data() + sent, requests.size() - sent, MSG_NOSIGNAL);
      if (bytes <= 0) return;
      sent += static_cast<size_t>(bytes);
    }
  }
  // Reads `size` bytes, or fewer if the server hangs up.
  std::string Read(size_t size) {
    std::string text(size, '\0');
    size_t got = 0;
    while (got < size) {
      const ssize_t bytes = recv(socket_.Get(), text.data() + got, size - got, 0);
      if (bytes <= 0) break;
      got += static_cast<size_t>(bytes);
    }
    text.resize(got);
    return text;
  }
  std::string Ask(const std::string& requests, const std::string& expected) {
    Send(requests);
    return Read(expected.size());
  }

 private:
  Descriptor socket_;
};

// A pipeline, and the replies that a server must give when it receives it for the n-th time.
std::string Pipeline(const std::string& name) {
  return "SET who " + name + "\r\nINCR n\r\nGET who\r\nPUBLISH c x\r\nEVAL \"return redis.call('dbsize')\" 0\r\n";
}
std::string PipelineReply(const std::string& name, int nth) {
  return StrCat("+OK\r\n:", nth, "\r\n$", name.size(), "\r\n", name, "\r\n:0\r\n:2\r\n");
}

// Sends to every port in turn, `rounds` times. Returns the number of wrong replies.
int Load(const std::vector<int>& ports, int rounds) {
  int wrong = 0;
  std::deque<BlockingClient> clients;
  for (const int port : ports) clients.emplace_back(port);
  for (int round = 1; round <= rounds; ++round) {
    for (size_t i = 0; i < ports.size(); ++i) clients[i].Send(Pipeline(std::to_string(ports[i])));
    for (size_t i = 0; i < ports.size(); ++i) {
      const std::string expected = PipelineReply(std::to_string(ports[i]), round);
      wrong += clients[i].Read(expected.size()) == expected ? 0 : 1;
    }
  }
  return wrong;
}

TEST(ManyNodesTest, TwoHundredOnOneLoopUnderLoad) {
  constexpr int kNodes = 200;
  const SystemClock clock;
  const SystemRealClock real_clock;
  EventLoop loop(real_clock);
  std::deque<TestNode> nodes;
  std::vector<int> ports;
  for (int i = 0; i < kNodes; ++i) ports.push_back(nodes.emplace_back(loop, clock).port());
  std::atomic<int> wrong{-1};
  std::thread load([&] {
    wrong = Load(ports, 20);
    BlockingClient(ports[0]).Send("SHUTDOWN NOSAVE\r\n");
  });
  loop.Run();
  load.join();
  EXPECT_EQ(wrong, 0);
  for (TestNode& node : nodes) EXPECT_GE(node->services().env.stats.commands, 100u);
}

TEST(ManyNodesTest, ANodeTakesUnderHundredKilobytes) {
  constexpr int kNodes = 100;
  const SystemClock clock;
  const SystemRealClock real_clock;
  EventLoop loop(real_clock);
  TestNode first(loop, clock);  // creates the state that all nodes share
  const int64_t before = ThreadMemory::OfThisThread().HeldBytes();
  std::deque<TestNode> nodes;
  for (int i = 0; i < kNodes; ++i) nodes.emplace_back(loop, clock);
  const int64_t each = (ThreadMemory::OfThisThread().HeldBytes() - before) / kNodes;
  EXPECT_LT(each, 100'000);
  RecordProperty("bytes_per_node", static_cast<int>(each));
}

TEST(ManyNodesTest, FourLoopsWithAThreadEach) {
  constexpr int kLoops = 4;
  constexpr int kNodesPerLoop = 5;
  const SystemClock clock;
  const SystemRealClock real_clock;
  std::atomic<int> ready{0};
  std::array<std::vector<int>, kLoops> ports;
  std::vector<std::thread> threads;
  for (int i = 0; i < kLoops; ++i) {
    threads.emplace_back([&, i] {
      EventLoop loop(real_clock);
      std::deque<TestNode> nodes;
      for (int n = 0; n < kNodesPerLoop; ++n) {
        ports[static_cast<size_t>(i)].push_back(nodes.emplace_back(loop, clock).port());
      }
      ready.fetch_add(1);
      ready.notify_all();
      loop.Run();
    });
  }
  for (int seen = ready; seen < kLoops; seen = ready) ready.wait(seen);
  std::vector<int> all;
  for (const auto& some : ports) all.insert(all.end(), some.begin(), some.end());
  std::atomic<int> wrong{0};
  std::thread other([&] { wrong += Load({ports[0][1], ports[1][1], ports[2][1]}, 10); });
  wrong += Load({ports[0][0], ports[1][0], ports[2][0], ports[3][0]}, 50);
  other.join();
  EXPECT_EQ(wrong, 0);
  for (const auto& some : ports) BlockingClient(some[0]).Send("SHUTDOWN NOSAVE\r\n");
  for (std::thread& thread : threads) thread.join();
}

// Runs a long function, sends requests until the server replies that it is busy, and ends the function. Returns whether
// the server ever replied so. The function also ends by itself, so that the test fails instead of hanging.
bool FindsALateFunction(int port) {
  BlockingClient runs(port), asks(port);
  runs.Send("FCALL late 0\r\n");
  constexpr Bytes kBusy = "-BUSY", kNull = "$-1\r\n";
  std::string answer;
  for (int i = 0; i < 10'000 && answer != kBusy; ++i) {
    asks.Send("GET k\r\n");
    answer = asks.Read(kBusy.size());
    if (answer != kBusy && answer != kNull) return false;
  }
  BlockingClient kills(port);
  return kills.Ask("FUNCTION KILL\r\n", "+OK\r\n") == "+OK\r\n" && answer == kBusy;
}

// The functions are loaded on the first thread, as at the start of a server, and run on others.
TEST(ManyNodesTest, LateFunctionsAreFoundOnEachLoop) {
  constexpr int kLoops = 2;
  constexpr char kLibrary[] =
      "#!lua name=l\nredis.register_function('late', function() for i = 1, 2000000000 do end end)";
  const SystemClock clock;
  const SystemRealClock real_clock;
  std::deque<EventLoop> loops;
  std::deque<TestNode> nodes;
  std::vector<std::thread> threads;
  for (int i = 0; i < kLoops; ++i) {
    TestNode& node =
        nodes.emplace_back(loops.emplace_back(real_clock), clock, std::vector<std::string>{"busy-reply-threshold 20"});
    ASSERT_TRUE(node->services().execution.function_libraries.Load(kLibrary, FunctionLibraries::OnExisting::kRefuse));
  }
  for (EventLoop& loop : loops) threads.emplace_back([&loop] { loop.Run(); });
  std::atomic<int> found{0};
  std::thread other([&] { found += FindsALateFunction(nodes[1].port()) ? 1 : 0; });
  found += FindsALateFunction(nodes[0].port()) ? 1 : 0;
  other.join();
  EXPECT_EQ(found, kLoops);
  for (TestNode& node : nodes) BlockingClient(node.port()).Send("SHUTDOWN NOSAVE\r\n");
  for (std::thread& thread : threads) thread.join();
}

// Nodes are created and destroyed while others serve clients.
TEST(ManyNodesTest, NodesComeAndGoBesideOthers) {
  const SystemClock clock;
  const SystemRealClock real_clock;
  EventLoop loop(real_clock);
  TestNode stays(loop, clock);
  int comes_and_goes = 0;
  std::unique_ptr<TestNode> guest;
  std::function<void()> change = [&] {
    guest = guest == nullptr ? std::make_unique<TestNode>(loop, clock) : nullptr;
    if (++comes_and_goes < 50) loop.Post(nullptr, change);
  };
  loop.Post(nullptr, change);
  std::atomic<int> wrong{-1};
  std::thread load([&] {
    wrong = Load({stays.port()}, 100);
    BlockingClient(stays.port()).Send("SHUTDOWN NOSAVE\r\n");
  });
  loop.Run();
  load.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(comes_and_goes, 50);
}

// Both timers have expired when the first handler runs.
TEST(ManyNodesTest, ANodeGoesWhenItsTimerHasRung) {
  const SystemClock clock;
  const SystemRealClock real_clock;
  EventLoop loop(real_clock);
  TestNode stays(loop, clock, {"hz 500"});
  auto guest = std::make_unique<TestNode>(loop, clock, std::vector<std::string>{"hz 500"});
  int guest_ticks = 0;
  guest->host().SetTickHandler([&] { ++guest_ticks; });
  stays.host().SetTickHandler([&] {
    guest.reset();
    loop.Post(nullptr, [&] { loop.Stop(0); });
  });
  const int64_t rung_us = real_clock.NowUs() + 2 * 1'000'000 / 500;
  while (real_clock.NowUs() < rung_us) {
  }
  loop.Run();
  EXPECT_EQ(guest, nullptr);
  EXPECT_EQ(guest_ticks, 0);
}

// SHUTDOWN ends the node that received it. The node's owner decides whether the loop ends.
TEST(ManyNodesTest, ANodeThatIsShutDownLeavesTheOthersAlone) {
  const SystemClock clock;
  const SystemRealClock real_clock;
  EventLoop loop(real_clock);
  TestNode stays(loop, clock);
  auto guest = std::make_unique<TestNode>(loop, clock);
  const int guest_port = guest->port();
  int exit_code = -1;
  guest->host().SetStopHandler([&](int code) {
    exit_code = code;
    loop.Post(nullptr, [&] { guest.reset(); });
  });
  std::atomic<int> wrong{-1};
  std::thread load([&] {
    BlockingClient client(stays.port());
    int errors = client.Ask("SET k v\r\n", "+OK\r\n") == "+OK\r\n" ? 0 : 1;
    BlockingClient ends(guest_port);
    ends.Send("SHUTDOWN NOSAVE\r\n");
    errors += ends.Read(1).empty() ? 0 : 1;  // waits until the client closes
    errors += client.Ask("GET k\r\n", "$1\r\nv\r\n") == "$1\r\nv\r\n" ? 0 : 1;
    wrong = errors;
    client.Send("SHUTDOWN NOSAVE\r\n");
  });
  loop.Run();
  load.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(exit_code, 0);
  EXPECT_EQ(guest, nullptr);
}

// The timer of the loop would overflow, expire immediately, and keep the processor busy.
TEST(ManyNodesTest, TheLongestWaitDoesNotWakeTheLoop) {
  const SystemClock clock;
  const SystemRealClock real_clock;
  EventLoop loop(real_clock);
  std::deque<TestNode> nodes;
  for (const int64_t wait_ms : {int64_t{1} << 40, INT64_MAX / 1'000'000, INT64_MAX / 1000, INT64_MAX - 1}) {
    nodes.emplace_back(loop, clock, std::vector<std::string>{"hz 1"}).host().WakeAt(wait_ms);
    EXPECT_EQ(loop.Context().poll(), 0u) << wait_ms;
  }
}

}  // namespace
}  // namespace respite
