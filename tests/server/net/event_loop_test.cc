#include "server/net/event_loop.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/str_cat.h"
#include "server/node/connection.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

// Replies are sent between two posted tasks, so a chain of tasks delays no client.
TEST(EventLoopTest, WhatATaskPostsRunsInALaterTurn) {
  TestServer server;
  EventLoop loop(server->services().env.real_clock);
  NodeHost host(loop, *server);
  std::vector<uint64_t> turns;
  std::function<void()> task = [&] {
    turns.push_back(server->services().env.stats.turns);
    if (turns.size() == 3) return loop.Stop(7);
    host.Post(task);
  };
  host.Post(task);
  EXPECT_EQ(loop.Run(), 7);
  ASSERT_EQ(turns.size(), 3u);
  EXPECT_LT(turns[0], turns[1]);
  EXPECT_LT(turns[1], turns[2]);
}

// A participant that logs when its turns end.
struct FakeParticipant final : EventLoop::Participant {
  explicit FakeParticipant(std::vector<std::string>& seen, std::string own_name)
      : log(seen), name(std::move(own_name)) {}
  void EndTurn(int64_t) override {
    log.push_back(name + " ends");
    if (at_end) at_end();
  }
  void EndTurnDuringLongTask() override {
    log.push_back(name + " besides");
    if (besides) besides();
  }
  std::vector<std::string>& log;
  std::string name;
  std::function<void()> at_end;
  std::function<void()> besides;
};

// The clients of one server would otherwise wait for their replies until the long command of the other has ended.
TEST(EventLoopTest, WhoWaitsForTheEndOfItsTurnIsServedBesidesAnother) {
  const SystemRealClock real_clock;
  EventLoop loop(real_clock);
  std::vector<std::string> log;
  FakeParticipant busy(log, "busy"), waits(log, "waits");
  busy.at_end = [&] {
    loop.MarkActive(busy);
    loop.ServeDuringLongTask(nullptr);
    busy.at_end = [&] { loop.Stop(0); };
  };
  loop.MarkActive(busy);
  loop.MarkActive(waits);
  loop.Post(nullptr, [] {});
  loop.Run();
  EXPECT_THAT(log, testing::ElementsAre("busy ends", "waits besides", "busy besides", "waits ends", "busy ends"));
}

// The other task may belong to a replica that takes over new data, in the middle of a script.
TEST(EventLoopTest, ATaskOfTheSameTurnWaitsWhileOthersAreServedBesides) {
  const SystemRealClock real_clock;
  EventLoop loop(real_clock);
  std::vector<std::string> log;
  loop.Post(nullptr, [&] {
    log.emplace_back("first begins");
    loop.ServeDuringLongTask(nullptr);
    loop.ServeDuringLongTask(nullptr);
    log.emplace_back("first ends");
  });
  loop.Post(nullptr, [&] { log.emplace_back("second"); });
  loop.Post(nullptr, [&] { loop.Stop(0); });
  loop.Run();
  EXPECT_THAT(log, testing::ElementsAre("first begins", "first ends", "second"));
}

// Asio must not conclude that it has nothing left to wait for.
TEST(EventLoopTest, ALongTaskWithOthersBehindItDoesNotEndTheLoop) {
  const SystemRealClock real_clock;
  EventLoop loop(real_clock);
  std::vector<std::string> log;
  loop.Post(nullptr, [&] {
    for (int i = 0; i < 100; ++i) loop.ServeDuringLongTask(nullptr);
    log.emplace_back("long");
  });
  for (int i = 0; i < 5; ++i) loop.Post(nullptr, [&] { log.emplace_back("behind"); });
  loop.RunAfter(1, [&] {
    log.emplace_back("timer");
    loop.Post(nullptr, [&] { loop.Stop(7); });
  });
  EXPECT_EQ(loop.Run(), 7);
  EXPECT_THAT(log, testing::IsSupersetOf({"long", "behind", "behind", "behind", "behind", "behind", "timer"}));
}

TEST(EventLoopTest, AResidentMayLeaveWhileOthersAreServedBesides) {
  const SystemRealClock real_clock;
  EventLoop loop(real_clock);
  std::vector<std::string> log;
  auto busy = std::make_unique<FakeParticipant>(log, "busy");
  auto first = std::make_unique<FakeParticipant>(log, "first");
  auto second = std::make_unique<FakeParticipant>(log, "second");
  const auto leave = [&](std::unique_ptr<FakeParticipant>& hosted) {
    loop.RemoveParticipant(*hosted);
    hosted.reset();
  };
  busy->at_end = [&] {
    loop.ServeDuringLongTask(nullptr);
    loop.Stop(0);
  };
  first->besides = [&] {
    leave(second);
    loop.Post(nullptr, [&] { leave(first); });
  };
  loop.MarkActive(*busy);
  loop.MarkActive(*first);
  loop.MarkActive(*second);
  loop.Run();
  EXPECT_THAT(log, testing::ElementsAre("busy ends", "first besides", "first ends"));
  EXPECT_EQ(second, nullptr);
}

// Returns the bytes that have arrived so far.
std::string Received(const Descriptor& socket) {
  std::string text(1 << 20, '\0');
  const ssize_t bytes = recv(socket.Get(), text.data(), text.size(), MSG_DONTWAIT);
  text.resize(bytes > 0 ? static_cast<size_t>(bytes) : 0);
  return text;
}
void Send(const Descriptor& socket, const std::string& text) {
  ASSERT_EQ(send(socket.Get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
}

// A socket that always has something to read, since it is never read.
struct ReadySocket final : SocketPoller::Watcher {
  ReadySocket(EventLoop& owner, std::function<void()> task, bool is_slow = false)
      : loop(owner), serve(std::move(task)), takes_long(is_slow) {
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    EXPECT_EQ(send(ends[1], "x", 1, 0), 1);
    EXPECT_TRUE(loop.poller().ChangeEvents(ends[0], *this, {}, {.readable = true}));
  }
  ~ReadySocket() override {
    loop.poller().ChangeEvents(ends[0], *this, {.readable = true}, {});
    close(ends[0]);
    close(ends[1]);
  }
  void OnReadable() override { serve(); }
  void OnWritable() override {}
  bool MayTakeLong() const override { return takes_long; }
  void WaitForOutputBriefly() {  // as a client's connection does whose output did not fit into the socket
    EXPECT_TRUE(loop.poller().ChangeEvents(ends[0], *this, {.readable = true}, {.readable = true, .writable = true}));
    EXPECT_TRUE(loop.poller().ChangeEvents(ends[0], *this, {.readable = true, .writable = true}, {.readable = true}));
  }

  EventLoop& loop;
  std::function<void()> serve;
  bool takes_long;
  int ends[2] = {-1, -1};
};

struct TimingParticipant final : EventLoop::Participant {
  void EndTurn(int64_t turn_us) override { last_us = turn_us; }
  void EndTurnDuringLongTask() override {}
  int64_t last_us = 0;
};

void Spend(int64_t us) {
  const SystemRealClock real_clock;
  const int64_t until_us = real_clock.NowUs() + us;
  while (real_clock.NowUs() < until_us) {
  }
}

// INFO shows the sum, and operators monitor it.
TEST(EventLoopTest, ATurnTakesAsLongAsTheRequestsInIt) {
  const SystemRealClock real_clock;
  EventLoop loop(real_clock);
  TimingParticipant hosted;
  ReadySocket socket(loop, [&] {
    loop.MarkActive(hosted);
    Spend(2000);
    loop.Stop(0);
  });
  loop.Run();
  EXPECT_GE(hosted.last_us, 2000);
}

// A client that always has much input used to keep all others waiting that may take long, such as new clients.
TEST(EventLoopTest, SocketsThatMayTakeLongTakeTurns) {
  const SystemRealClock real_clock;
  EventLoop loop(real_clock);
  std::string order;
  const auto serve = [&](char name) {
    return [&, name] {
      order += name;
      Spend(400);
      if (order.size() == 12) loop.Stop(0);
    };
  };
  ReadySocket a(loop, serve('a'), true), b(loop, serve('b'), true), c(loop, serve('c'), true);
  loop.Run();
  EXPECT_EQ(order, "abcabcabcabc");
}

TEST(EventLoopTest, ASocketKeepsItsTurnWhenItsOutputWaits) {
  const SystemRealClock real_clock;
  EventLoop loop(real_clock);
  std::string order;
  std::unique_ptr<ReadySocket> a;
  const auto serve = [&](char name) {
    return [&, name] {
      order += name;
      Spend(400);
      if (name != 'a') a->WaitForOutputBriefly();
      if (order.size() == 12) loop.Stop(0);
    };
  };
  a = std::make_unique<ReadySocket>(loop, serve('a'), true);
  ReadySocket b(loop, serve('b'), true), c(loop, serve('c'), true);
  loop.Run();
  EXPECT_EQ(order, "abcabcabcabc");
}

TEST(EventLoopTest, SomeTasksAlsoRunInsideALongTask) {
  const SystemRealClock real_clock;
  EventLoop loop(real_clock);
  TimingParticipant other;
  std::string order;
  loop.Post(nullptr, [&] {
    loop.Post(nullptr, [&] { order += "A"; });
    loop.Post(
        &other, [&] { order += "B"; }, EventLoop::InLongTask::kRuns);
    loop.Post(
        nullptr,
        [&] {
          order += "1";
          loop.Post(
              nullptr, [&] { order += "2"; }, EventLoop::InLongTask::kRuns);
        },
        EventLoop::InLongTask::kRuns);
    for (const char* mark : {"(", ")"}) {
      order += mark;
      loop.ServeDuringLongTask(nullptr);
    }
    order += "|";
    loop.Post(nullptr, [&] { loop.Stop(0); });
  });
  loop.Run();
  EXPECT_EQ(order, "(1)2|AB");
}

TEST(EventLoopTest, ASocketWhoseCallWaitsForALaterTurnMayGo) {
  const SystemRealClock real_clock;
  EventLoop loop(real_clock);
  int calls_of_gone = 0, calls = 0;
  std::unique_ptr<ReadySocket> gone;
  const auto serve = [&] {
    if (++calls == 2) gone.reset();  // in the second turn, its call has waited since the first
    if (calls == 6) loop.Stop(0);
    Spend(400);
  };
  ReadySocket first(loop, serve, true), second(loop, serve, true);
  gone = std::make_unique<ReadySocket>(
      loop, [&] { ++calls_of_gone; }, true);
  loop.Run();
  EXPECT_EQ(calls_of_gone, 0);
}

// While sockets are busy, the loop does not wait in Asio, which also serves the timers, new connections and other
// threads.
TEST(EventLoopTest, BusySocketsDoNotHoldBackAnythingElse) {
  const SystemRealClock real_clock;
  EventLoop loop(real_clock);
  int first = 0, second = 0;
  ReadySocket first_socket(loop, [&] { ++first; }), second_socket(loop, [&] { ++second; });
  std::vector<std::string> log;
  std::thread outside;
  loop.RunAfter(1, [&] {
    log.emplace_back("timer");
    loop.Post(nullptr, [&] {
      log.emplace_back("task");
      outside = std::thread([&] {
        loop.PostFromAnyThread([&] {
          log.emplace_back("outside");
          loop.Stop(0);
        });
      });
    });
  });
  loop.Run();
  outside.join();
  EXPECT_THAT(log, testing::ElementsAre("timer", "task", "outside"));
  EXPECT_GT(first, 1);
  EXPECT_EQ(first, second);
}

// Otherwise the rest of a long reply would be sent together with replies whose effects are not on the disk yet.
TEST(ConnectionTest, NothingLeavesBeforeTheEndOfTheTurn) {
  TestServer server;
  EventLoop loop(server->services().env.real_clock);
  NodeHost host(loop, *server);
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  const Descriptor peer(ends[0]);
  const int room = 100'000;
  setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  Session& session = server->services().clients.registry.Create(0);
  const auto connection = std::make_shared<Connection>(host, session, ByteStream(Descriptor(ends[1])));
  connection->Start();
  Send(peer, "SETRANGE k 399999 x\r\nGET k\r\n");
  connection->OnReadable();
  server->housekeeping().EndTurn();
  ASSERT_TRUE(connection->IsWaitingToWrite());
  size_t bytes = Received(peer).size();
  ASSERT_GT(bytes, 0u);

  Send(peer, "INCR n\r\n");
  connection->OnReadable();
  std::string last;
  for (int turns = 0; turns < 100 && !session.out.IsEmpty(); ++turns) {
    connection->OnWritable();
    EXPECT_EQ(Received(peer), "");
    server->housekeeping().EndTurn();
    last = Received(peer);
    bytes += last.size();
  }
  EXPECT_TRUE(last.ends_with("x\r\n:1\r\n"));
  EXPECT_EQ(bytes, 400'000 + std::string(":400000\r\n$400000\r\n\r\n:1\r\n").size());
}

// A client whose socket the test holds.
struct Peer {
  explicit Peer(NodeHost& host) : session(host.services().clients.registry.Create(0)) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    socket = Descriptor(ends[0]);
    std::make_shared<Connection>(host, session, ByteStream(Descriptor(ends[1])))->Start();
  }
  Session& session;  // freed soon after the socket closes
  Descriptor socket;
};

// Runs the loop until `condition` holds at the end of a turn. Must be called only one time per loop.
void RunUntil(NodeHost& host, const std::function<bool()>& condition) {
  std::function<void()> look = [&] {
    if (condition()) return host.Stop(0);
    host.Post(look);
  };
  host.Post(look);
  host.Start();
  host.loop().Run();
}

TEST(EventLoopTest, ThousandsOfSubscriptionsLeaveInManyTurns) {
  TestServer server;
  EventLoop loop(server->services().env.real_clock);
  NodeHost host(loop, *server);
  constexpr int kPatterns = 10'000;
  auto subscriber = std::make_unique<Peer>(host);
  for (int i = 0; i < kPatterns; ++i) {
    server->services().clients.pubsub.Subscribe(subscriber->session, PubSubKind::kPattern, StrCat("a*", i));
    server->services().clients.watched_keys.Watch(subscriber->session, std::to_string(i), 0);
  }
  subscriber.reset();
  uint64_t began = 0;
  RunUntil(host, [&] {
    const size_t left = server->services().clients.pubsub.NamesMatching(PubSubKind::kPattern, nullptr).size();
    if (left < kPatterns && began == 0) began = server->services().env.stats.turns;
    // Publishing to the session meanwhile is safe.
    server->services().clients.pubsub.Publish("a9999", "message");
    return server->services().clients.registry.Count() == 0 && server->services().clients.watched_keys.IsEmpty();
  });
  EXPECT_TRUE(server->services().clients.pubsub.NamesMatching(PubSubKind::kPattern, nullptr).empty());
  EXPECT_GE(server->services().env.stats.turns - began, 8u);
}

TEST(EventLoopTest, APublisherFasterThanTheSocketIsSlowedDown) {
  TestServer server;
  EventLoop loop(server->services().env.real_clock);
  NodeHost host(loop, *server);
  constexpr int kMessages = 50;
  constexpr Bytes kMessage = "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nx\r\n";
  std::vector<std::unique_ptr<Peer>> subscribers;
  for (int i = 0; i < 8; ++i) {
    subscribers.push_back(std::make_unique<Peer>(host));
    server->services().clients.pubsub.Subscribe(subscribers.back()->session, PubSubKind::kChannel, "c");
  }
  Peer publisher(host);
  server.clock().AdvanceWithEachReading(600);  // a turn sends at most two or three messages
  int sent = 0;
  size_t longest = 0;
  size_t received = 0;
  RunUntil(host, [&] {
    if (sent == 0 || (sent < kMessages && !Received(publisher.socket).empty())) {
      Send(publisher.socket, "PUBLISH c x\r\n");
      ++sent;
    }
    for (const auto& one : subscribers) longest = std::max(longest, one->session.out.Size());
    received += Received(subscribers.back()->socket).size();
    return received == kMessages * kMessage.size();
  });
  EXPECT_LE(longest, 2 * kMessage.size()) << "more than two messages wait for one subscriber";
}

TEST(EventLoopTest, RequestsAreServedBeforeThousandsOfHangUps) {
  TestServer server;
  EventLoop loop(server->services().env.real_clock);
  NodeHost host(loop, *server);
  std::vector<std::unique_ptr<Peer>> crowd;
  crowd.reserve(500);
  while (crowd.size() < 500) crowd.push_back(std::make_unique<Peer>(host));
  Peer speaker(host);
  Send(speaker.socket, "PING\r\n");
  bool crowd_is_gone = false;
  size_t left = 0;
  RunUntil(host, [&] {
    const bool answered = Received(speaker.socket) == "+PONG\r\n";
    if (answered && !crowd_is_gone) {  // it is no longer new
      crowd_is_gone = true;
      crowd.clear();
      Send(speaker.socket, "PING\r\n");
      server.clock().AdvanceWithEachReading(50);
    } else if (answered) {
      left = server->services().clients.registry.Count();
    }
    return server->services().clients.registry.Count() == 1;
  });
  EXPECT_GT(left, 400u) << "it waited for those who hung up";
}

}  // namespace
}  // namespace respite
