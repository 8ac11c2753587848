#include "server/event_loop.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/connection.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

// Replies leave between two posted tasks, so that a chain of them holds nobody up.
TEST(EventLoopTest, WhatATaskPostsRunsInALaterTurn) {
  TestServer server;
  EventLoop loop(*server);
  std::vector<uint64_t> turns;
  std::function<void()> task = [&] {
    turns.push_back(server->stats().turns);
    if (turns.size() == 3) return loop.Stop(7);
    loop.Post(task);
  };
  loop.Post(task);
  EXPECT_EQ(loop.Run(), 7);
  ASSERT_EQ(turns.size(), 3u);
  EXPECT_LT(turns[0], turns[1]);
  EXPECT_LT(turns[1], turns[2]);
}

// What has arrived so far.
std::string Received(const Descriptor& socket) {
  std::string text(1 << 20, '\0');
  const ssize_t octets = recv(socket.Get(), text.data(), text.size(), MSG_DONTWAIT);
  text.resize(octets > 0 ? static_cast<size_t>(octets) : 0);
  return text;
}
void Send(const Descriptor& socket, const std::string& text) {
  ASSERT_EQ(send(socket.Get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
}

// Else the rest of a long reply would take those with it whose effects are not on the disk yet.
TEST(ConnectionTest, NothingLeavesBeforeTheEndOfTheTurn) {
  TestServer server;
  EventLoop loop(*server);
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  const Descriptor peer(ends[0]);
  const int room = 100'000;
  setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  Session& session = server->clients().Create(0);
  const auto connection = std::make_shared<Connection>(loop, session, ByteStream(Descriptor(ends[1])));
  connection->Start();
  Send(peer, "SETRANGE k 399999 x\r\nGET k\r\n");
  connection->OnReadable();
  server->EndTurn();
  ASSERT_TRUE(connection->AwaitsRoom());
  size_t octets = Received(peer).size();
  ASSERT_GT(octets, 0u);

  Send(peer, "INCR n\r\n");
  connection->OnReadable();
  std::string last;
  for (int turns = 0; turns < 100 && !session.out.Empty(); ++turns) {
    connection->OnWritable();
    EXPECT_EQ(Received(peer), "");
    server->EndTurn();
    last = Received(peer);
    octets += last.size();
  }
  EXPECT_TRUE(last.ends_with("x\r\n:1\r\n"));
  EXPECT_EQ(octets, 400'000 + std::string(":400000\r\n$400000\r\n\r\n:1\r\n").size());
}

}  // namespace
}  // namespace respite
