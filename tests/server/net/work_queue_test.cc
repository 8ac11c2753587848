#include "server/net/work_queue.h"

#include <gtest/gtest.h>

#include "base/clock.h"

namespace respite {
namespace {

constexpr int64_t kShareUs = 1000;

TEST(WorkLineTest, ATurnTakesAShare) {
  ManualClock clock;
  WorkQueue line(clock, kShareUs);
  int done = 0;
  for (int i = 0; i < 10; ++i) line.AddStep([&] { ++done, clock.AdvanceUs(kShareUs / 2); });
  line.ServeShare();
  EXPECT_EQ(done, 2);
  line.ServeShare();
  EXPECT_EQ(done, 4);
  EXPECT_EQ(line.Size(), 6u);
  line.AddStep([&] { ++done, clock.AdvanceUs(kShareUs * 100); });
  while (!line.IsEmpty()) line.ServeShare();
  EXPECT_EQ(done, 11);
}

TEST(WorkLineTest, TheFirstStepIsTakenHoweverLong) {
  ManualClock clock;
  WorkQueue line(clock, kShareUs);
  int done = 0;
  for (int i = 0; i < 2; ++i) line.AddStep([&] { ++done, clock.AdvanceMs(100); });
  line.ServeShare();
  EXPECT_EQ(done, 1);
}

TEST(WorkLineTest, AnOverloadedTurnRunsTheMinimum) {
  ManualClock clock;
  WorkQueue line(clock, kShareUs);
  int done = 0;
  for (int i = 0; i < 10; ++i) line.AddStep([&] { ++done, clock.AdvanceMs(100); });
  line.ServeShare(4);
  EXPECT_EQ(done, 4);
  line.ServeAll();
  EXPECT_EQ(done, 10);
  line.ServeAll();
}

}  // namespace
}  // namespace respite
