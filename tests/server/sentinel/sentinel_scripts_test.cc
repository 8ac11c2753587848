// Notification and reconfiguration scripts of the operator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/sentinel_world.h"

namespace respite {
namespace {

using testing::Contains;
using testing::ElementsAre;

SentinelWorld::Options WithScripts() {
  return {.sentinels = 1,
          .quorum = 1,
          .more_lines =
              "sentinel notification-script mymaster /bin/notify\n"
              "sentinel client-reconfig-script mymaster /bin/reconfigure\n"};
}

class SentinelScriptsTest : public testing::Test {
 protected:
  SentinelScriptsTest() : world_(WithScripts()) { world_.Step(1000); }

  SentinelWorld::Member& sentinel() { return world_[0]; }
  size_t Starts() { return sentinel().programs.size(); }
  void EndAll(int exit_code) {
    for (size_t i = 1; i <= Starts(); ++i) sentinel().ended.push_back({static_cast<int64_t>(i), exit_code, 0});
    world_.Step(500);
  }

  SentinelWorld world_;
};

TEST_F(SentinelScriptsTest, WarningsAreTold) {
  EXPECT_THAT(sentinel().programs,
              ElementsAre(ElementsAre("/bin/notify", "+monitor", "master mymaster 127.0.0.1 7000 quorum 1")));
}

TEST_F(SentinelScriptsTest, TheLeaderTellsWhereThePrimaryGoes) {
  sentinel().primary().notification_script.clear();
  world_.Step(15'000);
  world_.StopServer(0);
  ASSERT_TRUE(world_.StepUntil([&] { return sentinel().HasTold("+switch-master"); }, 60'000));
  const std::string port = std::to_string(sentinel().primary().address.port);
  world_.Step(500);
  EXPECT_THAT(sentinel().programs, Contains(ElementsAre("/bin/reconfigure", "mymaster", "leader", "start", "127.0.0.1",
                                                        "7000", "127.0.0.1", port)));
}

TEST_F(SentinelScriptsTest, AProgramThatAsksForItRunsAgainAfterLongerAndLonger) {
  EndAll(1);
  world_.Step(29'000);
  EXPECT_EQ(Starts(), 1u);
  world_.Step(2000);
  EXPECT_EQ(Starts(), 2u);
  sentinel().ended.push_back({2, 1, 0});
  world_.Step(59'000);
  EXPECT_EQ(Starts(), 2u);
  world_.Step(2500);
  EXPECT_EQ(Starts(), 3u);
}

TEST_F(SentinelScriptsTest, AnotherCodeIsAnErrorAndTheEnd) {
  EndAll(3);
  EXPECT_TRUE(sentinel().HasTold("-script-error /bin/notify 0 3"));
  world_.Step(60'000);
  EXPECT_EQ(sentinel()->scripts().running_count(), 0);
}

TEST_F(SentinelScriptsTest, AProgramThatHangsIsKilled) {
  world_.Step(62'000);
  EXPECT_TRUE(sentinel().HasTold("-script-timeout /bin/notify 1"));
  EXPECT_THAT(sentinel().killed, Contains(1));
}

TEST_F(SentinelScriptsTest, AtMostSixteenRun) {
  for (int i = 0; i < 300; ++i) sentinel()->events().Tell(LogLevel::kWarning, "+test", sentinel().primary());
  world_.Step(500);
  EXPECT_EQ(Starts(), 16u);
  EXPECT_EQ(sentinel()->scripts().jobs().size(), 256u);
}

}  // namespace
}  // namespace respite
