#include "server/event_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

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

}  // namespace
}  // namespace respite
