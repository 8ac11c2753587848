#include "server/clients/output_gate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/str_cat.h"

namespace respite {
namespace {

TEST(OutputGateTest, LetsPassWhatStandsBeforeTheFirstBarrier) {
  OutputGate gate;
  EXPECT_EQ(gate.SendableBytes(7), 7u);
  gate.AddHold(3, {.rule_id = 1, .until_ms = 20}, 10);
  gate.AddHold(5, {.rule_id = 2, .until_ms = 15}, 10);
  EXPECT_EQ(gate.SendableBytes(7), 3u);
  EXPECT_EQ(gate.SendableBytes(2), 2u);
  gate.NoteSent(2);
  EXPECT_EQ(gate.SendableBytes(5), 1u);
  gate.Advance(15);
  EXPECT_EQ(gate.SendableBytes(5), 1u) << "the earlier barrier stands";
  EXPECT_EQ(gate.NextDueMs(), 20);
  gate.Advance(20);
  EXPECT_EQ(gate.SendableBytes(5), 5u);
  EXPECT_TRUE(gate.IsOpen());
}

TEST(OutputGateTest, AnEndNeverOpens) {
  OutputGate gate;
  gate.EndOutputAfter(2);
  gate.OpenAllBarriers(1'000'000);
  gate.Advance(OutputGate::kNever);
  EXPECT_EQ(gate.SendableBytes(9), 2u);
  EXPECT_FALSE(gate.HasReachedEnd());
  gate.NoteSent(2);
  EXPECT_TRUE(gate.HasReachedEnd());
  EXPECT_EQ(gate.SendableBytes(7), 0u);
}

TEST(OutputGateTest, ATrickleBeginsWhenNothingStandsBeforeIt) {
  OutputGate gate;
  gate.AddHold(0, {.rule_id = 1, .until_ms = 1000}, 0);
  gate.AddTrickle(4, {.rule_id = 2, .bytes = 10, .bytes_per_second = 100}, 0);
  gate.Advance(1000);
  EXPECT_EQ(gate.SendableBytes(20), 4u);
  EXPECT_EQ(gate.NextDueMs(), 1010);
  gate.Advance(1050);
  EXPECT_EQ(gate.SendableBytes(20), 9u);
  gate.Advance(1100);
  EXPECT_EQ(gate.SendableBytes(20), 20u);
}

TEST(OutputGateTest, HugeTricklesOverflowNothing) {
  OutputGate gate;
  gate.AddTrickle(0, {.rule_id = 1, .bytes = size_t{1} << 40, .bytes_per_second = 1}, 0);
  gate.Advance(INT64_MAX / 2);
  EXPECT_TRUE(gate.IsOpen());
  gate.AddTrickle(0, {.rule_id = 1, .bytes = size_t{1} << 40, .bytes_per_second = 1'000'000'000}, 5);
  gate.Advance(1005);
  EXPECT_EQ(gate.SendableBytes(size_t{1} << 40), 1'000'000'000u);
}

TEST(OutputGateTest, AReplyThatHasBegunWaitsForItsEnd) {
  OutputGate gate;
  gate.BeginPartialReply(3);
  gate.OpenAllBarriers(0);
  EXPECT_EQ(gate.SendableBytes(9), 3u);
  gate.NoteSent(3);
  EXPECT_EQ(gate.EndPartialReply(), 0u);
  EXPECT_EQ(gate.SendableBytes(6), 6u);
}

// All bytes pass in time and none too early, whatever barriers there are.
TEST(OutputGateTest, RandomBarriersLetEveryBytePassInTime) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  for (int round = 0; round < 200; ++round) {
    OutputGate gate;
    size_t waiting = 0, sent = 0, total = 0;
    std::vector<int64_t> earliest;  // earliest time at which each byte may pass
    int64_t now_ms = 0;
    for (int step = 0; step < 60; ++step, now_ms += static_cast<int64_t>(random.Below(30))) {
      gate.Advance(now_ms);
      const size_t bytes = random.Below(50);
      int64_t from_ms = earliest.empty() ? 0 : earliest.back();
      if (random.Below(3) == 0) {
        const int64_t until_ms = now_ms + static_cast<int64_t>(random.Below(100));
        gate.AddHold(waiting, {.rule_id = 1, .until_ms = until_ms}, now_ms);
        from_ms = std::max(from_ms, until_ms);
      } else if (bytes != 0 && random.Below(3) == 0) {
        gate.AddTrickle(waiting, {.rule_id = 1, .bytes = bytes, .bytes_per_second = 1000}, now_ms);
      }
      earliest.resize(total += bytes, from_ms);
      waiting += bytes;
      const size_t portion = random.Below(gate.SendableBytes(waiting) + 1);
      for (size_t i = 0; i < portion; ++i) ASSERT_LE(earliest[sent + i], now_ms);
      gate.NoteSent(portion);
      waiting -= portion;
      sent += portion;
    }
    for (; gate.NextDueMs() != OutputGate::kNever; now_ms = gate.NextDueMs()) gate.Advance(now_ms);
    ASSERT_EQ(gate.SendableBytes(waiting), waiting);
  }
}

}  // namespace
}  // namespace respite
