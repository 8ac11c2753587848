// TEST CLOCK over the protocol.
#include "server/lab/clock_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/str_cat.h"
#include "tests/support/reply_matchers.h"
#include "tests/support/test_client.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

using testing::HasSubstr;

constexpr char kNoon[] = "1700000000000";

class TestClockTest : public testing::Test {
 protected:
  int64_t NowMs() { return server_->services().env.clock.WallMs(); }

  TestServer server_{{.directives = {"test-commands yes"}}};
  TestClient client_{server_, RespVersion::kResp3};
};

TEST_F(TestClockTest, IsRefusedUnlessTheDirectiveAllowsIt) {
  TestServer server;
  TestClient client(server);
  EXPECT_EQ(client.Run("TEST CLOCK").Text(),
            "ERR TEST commands are off. Start the server with --test, or with --test-commands local");
  EXPECT_EQ(client.Run("TEST HELP").Text(), client.Run("TEST CLOCK FREEZE").Text());
}

TEST_F(TestClockTest, AFrozenClockStandsUntilItIsMoved) {
  EXPECT_THAT(client_.Run("TEST CLOCK FREEZE " + std::string(kNoon)), Ok());
  client_.Run("SET k v PX 1000");
  server_.clock().AdvanceMs(5'000);  // the machine's
  server_.Cron();
  EXPECT_EQ(client_.Run("PTTL k").Integer(), 1000);
  EXPECT_THAT(client_.Run("TEST CLOCK ADVANCE 999ms"), Ok());
  EXPECT_EQ(client_.Run("PTTL k").Integer(), 1);
  EXPECT_THAT(client_.Run("TEST CLOCK ADVANCE 1"), Ok());
  EXPECT_EQ(server_->services().data.dataset.keyspace[0].Size(), 0u) << "removed before anybody asks";
  EXPECT_EQ(NowMs(), 1'700'000'001'000);
}

TEST_F(TestClockTest, TimeAboveMaxmemoryIsRealTime) {
  client_.Run("CONFIG SET maxmemory 1");
  client_.Run("PING");
  client_.Run("TEST CLOCK ADVANCE 60");
  EXPECT_THAT(client_.Run("INFO stats").Text(), HasSubstr("\r\ncurrent_eviction_exceeded_time:0\r\n"));
  server_.clock().AdvanceMs(250);
  EXPECT_THAT(client_.Run("INFO stats").Text(), HasSubstr("\r\ncurrent_eviction_exceeded_time:250\r\n"));
}

TEST_F(TestClockTest, RequestsOfOnePipelineSeeTheMovedTime) {
  client_.Send("TEST CLOCK FREEZE " + std::string(kNoon));
  client_.Send("SET k v EX 60");
  client_.Send("TEST CLOCK ADVANCE 1m");
  client_.Send("EXISTS k");
  client_.Send("TIME");
  client_.Read();
  client_.Read();
  EXPECT_THAT(client_.Read(), Ok());
  EXPECT_THAT(client_.Read(), Int(0));
  EXPECT_EQ(client_.Read()[0].Text(), "1700000060");
}

TEST_F(TestClockTest, NextJumpsFromOneThingToTheOther) {
  TestClient waits(server_);
  client_.Run("TEST CLOCK FREEZE " + std::string(kNoon));
  client_.Run("SET k v EX 10");
  client_.Run("HSET h f 1");
  client_.Run("HEXPIRE h 20 FIELDS 1 f");
  waits.Run("BLPOP nothing 5");
  const auto what = [](const TestReply& due) { return due[5].Text(); };
  EXPECT_THAT(what(client_.Run("TEST CLOCK NEXT")), HasSubstr("BLPOP of client"));
  EXPECT_TRUE(waits.Read().HasValue());
  EXPECT_EQ(what(client_.Run("TEST CLOCK NEXT")), "key \"k\" of database 0 expires");
  EXPECT_EQ(NowMs(), 1'700'000'010'000);
  EXPECT_EQ(what(client_.Run("TEST CLOCK NEXT")), "a field of key \"h\" of database 0 expires");
  EXPECT_THAT(client_.Run("TEST CLOCK NEXT"), Nil());
  EXPECT_EQ(NowMs(), 1'700'000'020'000);
}

TEST_F(TestClockTest, ABlockedClientWaitsUntilTold) {
  TestClient waits(server_);
  client_.Run("TEST CLOCK FREEZE");
  waits.Run("BLPOP nothing 0.1");
  server_.AdvanceMs(60'000);
  server_.Cron();
  EXPECT_FALSE(waits.Read().HasValue());
  client_.Run("TEST CLOCK ADVANCE 99ms");
  EXPECT_FALSE(waits.Read().HasValue());
  client_.Run("TEST CLOCK ADVANCE 1ms");
  EXPECT_TRUE(waits.Read().HasValue());
}

TEST_F(TestClockTest, APauseEndsAtItsTimeAndDoesNotHoldTest) {
  TestClient paused(server_);
  client_.Run("TEST CLOCK FREEZE");
  EXPECT_THAT(client_.Run("CLIENT PAUSE 100"), Ok());
  EXPECT_FALSE(paused.Run("PING").HasValue());
  EXPECT_THAT(client_.Run("TEST CLOCK ADVANCE 99ms"), Ok());
  EXPECT_FALSE(paused.Read().HasValue());
  EXPECT_THAT(client_.Run("TEST CLOCK ADVANCE 1ms"), Ok());
  EXPECT_EQ(paused.Read().Text(), "PONG");
}

TEST_F(TestClockTest, SetGoesForwardThroughTimeAndBackwardWithoutIt) {
  client_.Run("TEST CLOCK FREEZE " + std::string(kNoon));
  client_.Run("SET k v EX 60");
  const int64_t monotonic_ms = server_->services().env.clock.MonotonicMs();
  EXPECT_THAT(client_.Run("TEST CLOCK SET 1699999000000"), Ok());
  EXPECT_EQ(client_.Run("TTL k").Integer(), 1060);
  EXPECT_EQ(server_->services().env.clock.MonotonicMs(), monotonic_ms);
  EXPECT_THAT(client_.Run("TEST CLOCK SET 1700000060000"), Ok());
  EXPECT_EQ(server_->services().data.dataset.keyspace[0].Size(), 0u);
  EXPECT_EQ(server_->services().env.clock.MonotonicMs(), monotonic_ms + 1'060'000);
}

TEST_F(TestClockTest, RealForgetsTheOffset) {
  client_.Run("TEST CLOCK ADVANCE 7d");
  EXPECT_EQ(NowMs() - server_.clock().WallMs(), 7 * 86'400'000);
  client_.Run("TEST CLOCK REAL");
  EXPECT_EQ(NowMs(), server_.clock().WallMs());
}

TEST_F(TestClockTest, RateMakesTimeRunFaster) {
  EXPECT_THAT(client_.Run("TEST CLOCK RATE 1000"), Ok());
  const int64_t before_ms = NowMs();
  server_.clock().AdvanceMs(60);
  EXPECT_EQ(NowMs() - before_ms, 60'000);
  for (const char* rate : {"0", "-1", "nan", "inf", "100001", "fast"}) {
    EXPECT_THAT(client_.Run("TEST CLOCK RATE " + std::string(rate)), ErrorStartsWith("ERR '")) << rate;
  }
}

TEST_F(TestClockTest, AutoJumpsWhileAllClientsWait) {
  client_.Run("TEST CLOCK FREEZE " + std::string(kNoon));
  client_.Run("TEST CLOCK AUTO ON");
  TestClient waits(server_);
  waits.Run("BLPOP nothing 30");
  server_.EndTurn();
  EXPECT_FALSE(waits.Read().HasValue()) << "one client could still do something";
  client_.Run("BLPOP other 3600");
  server_.EndTurn();
  EXPECT_TRUE(waits.Read().HasValue());
  EXPECT_EQ(NowMs(), 1'700'000'030'000) << "no further: that client has its reply";
  waits.Run("SUBSCRIBE news");
  server_.EndTurn();
  EXPECT_EQ(NowMs(), 1'700'003'600'000);
}

TEST_F(TestClockTest, RefusesWhatItCannotDo) {
  for (const char* change :
       {"ADVANCE -1", "ADVANCE", "ADVANCE 9223372036854775807", "ADVANCE 106751991168d", "ADVANCE 1y", "SET -1",
        "SET 253402300800000", "FREEZE soon", "FREEZE 1 2", "NEXT 1", "AUTO maybe", "BACK"}) {
    EXPECT_THAT(client_.Run("TEST CLOCK " + std::string(change)), ErrorStartsWith("ERR ")) << change;
  }
  client_.Run("MULTI");
  EXPECT_THAT(client_.Run("TEST CLOCK ADVANCE 1"), Error("ERR Command not allowed inside a transaction"));
  EXPECT_THAT(client_.Run("EXEC"), ErrorStartsWith("EXECABORT"));
  EXPECT_THAT(client_.Run("EVAL \"return redis.call('TEST', 'CLOCK', 'NEXT')\" 0"), ErrorStartsWith("ERR "));
  EXPECT_EQ(NowMs(), server_.clock().WallMs());
}

// Requests of one turn, each of which would be allowed alone.
TEST_F(TestClockTest, JumpsThatAddUpEndAtTheirLimits) {
  client_.Run("TEST CLOCK FREEZE " + std::string(kNoon));
  TestClient others[3] = {TestClient(server_), TestClient(server_), TestClient(server_)};
  for (TestClient& other : others) other.Begin("TEST CLOCK SET 253402300799999");
  server_.EndTurn();
  for (TestClient& other : others) EXPECT_THAT(other.Read(), Ok());
  EXPECT_EQ(NowMs(), 253'402'300'799'999);
  client_.Run("TEST CLOCK SET " + std::string(kNoon));
  for (TestClient& other : others) other.Begin("TEST CLOCK ADVANCE 2000000d");
  server_.EndTurn();
  EXPECT_THAT(others[0].Read(), Ok());
  EXPECT_THAT(others[1].Read(), Error("ERR the clock cannot go beyond the end of the year 9999"));
  // Monotonic time never goes back, so it reaches its own limit.
  int passed = 0;
  for (; passed < 100 && client_.Run("TEST CLOCK SET 253402300799999").Text() == "OK"; ++passed) {
    client_.Run("TEST CLOCK SET 0");
  }
  EXPECT_GT(passed, 10);
  EXPECT_LT(passed, 20);
  EXPECT_LE(server_->services().env.clock.MonotonicMs(), ClockControl::kMaxMonotonicMs);
}

TEST_F(TestClockTest, AutoDoesNotTurnForWhatItCannotReach) {
  client_.Run("TEST CLOCK FREEZE " + std::string(kNoon));
  client_.Run("SET k v PXAT 9223372036854770000");
  client_.Run("TEST CLOCK AUTO ON");
  client_.Run("SUBSCRIBE news");
  server_.EndTurn();  // would never end
  EXPECT_EQ(NowMs(), 1'700'000'000'000);
}

TEST_F(TestClockTest, AClientWaitsForItsJumpHoweverLongItIs) {
  client_.Run("CONFIG SET timeout 10");
  EXPECT_THAT(client_.Run("TEST CLOCK ADVANCE 1h"), Ok());
  EXPECT_FALSE(client_.Closed());
}

// A clock that runs by itself behaves as in Redis: a key lives through the millisecond of its deadline, since its time
// began somewhere within a millisecond. A clock that is moved by hand removes it exactly at its deadline.
TEST_F(TestClockTest, OnlyAMovedClockEndsAKeyWithinTheMillisecondOfItsDeadline) {
  client_.Run("TEST CLOCK FREEZE " + std::string(kNoon));
  client_.Run("SET k v PX 20");
  client_.Run("HSET h f 1 g 2");
  client_.Run("HPEXPIRE h 20 FIELDS 1 f");
  client_.Run("TEST CLOCK ADVANCE 19");
  EXPECT_EQ(server_->services().data.dataset.keyspace[0].Size(), 2u);
  client_.Run("TEST CLOCK ADVANCE 1");
  EXPECT_EQ(server_->services().data.dataset.keyspace[0].Size(), 1u);
  EXPECT_THAT(client_.Run("HLEN h"), Int(1));
}

// Timer ticks come at real times, so what they remove would differ from run to run.
TEST_F(TestClockTest, NothingIsRemovedWhileTheClockStands) {
  client_.Run("TEST CLOCK FREEZE " + std::string(kNoon));
  client_.Run("SET k v PXAT 1");
  server_.RunCronFor(1'000);
  EXPECT_EQ(server_->services().data.dataset.keyspace[0].Size(), 1u);
  client_.Run("TEST CLOCK ADVANCE 1");
  EXPECT_EQ(server_->services().data.dataset.keyspace[0].Size(), 0u);
  client_.Run("SET k v PXAT 1");
  client_.Run("TEST CLOCK RATE 1");
  server_.RunCronFor(1'000);
  EXPECT_EQ(server_->services().data.dataset.keyspace[0].Size(), 0u);
}

TEST_F(TestClockTest, AClientThatLeavesDuringAJumpLeavesNothingBehind) {
  {
    TestClient leaves(server_);
    leaves.Send("TEST CLOCK ADVANCE 1h");
  }
  server_.EndTurn();
  EXPECT_THAT(client_.Run("TEST CLOCK ADVANCE 1h"), Ok());
}

// Two servers with the same seed and the same requests give the same replies and events in the same order.
TEST_F(TestClockTest, ManyDeadlinesAtOnceEndInAReproducibleOrder) {
  const auto story = [] {
    TestServer server({.directives = {"test-commands yes"}});
    TestClient client(server);
    TestClient listener(server, RespVersion::kResp3);
    client.Run("TEST CLOCK FREEZE " + std::string(kNoon));
    client.Run("CONFIG SET notify-keyspace-events Ex");
    listener.Run("PSUBSCRIBE *");
    for (int i = 0; i < 200; ++i) {
      client.Run(StrCat("SET k:", i, " v PX ", 1 + i % 7));
    }
    client.Run("TEST CLOCK ADVANCE 10");
    std::ostringstream seen;
    for (TestReply event = listener.Read(); event.HasValue(); event = listener.Read()) seen << event << "\n";
    return seen.str();
  };
  const std::string first = story();
  EXPECT_THAT(first, HasSubstr("k:0"));
  EXPECT_EQ(first, story());
}

}  // namespace
}  // namespace respite
