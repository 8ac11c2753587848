#include "base/clock.h"

#include <gtest/gtest.h>

#include <ctime>

namespace respite {
namespace {

TEST(SystemClock, AgreesWithTheMachine) {
  const SystemClock clock;
  const auto before = static_cast<int64_t>(std::time(nullptr)) * 1'000'000;
  const int64_t now = clock.WallUs();
  EXPECT_GE(now, before - 1'000'000);
  EXPECT_LE(now, before + 60'000'000);
}

TEST(SystemClock, NeverGoesBack) {
  const SystemClock clock;
  int64_t last = clock.MonotonicUs();
  for (int i = 0; i < 1000; i++) {
    const int64_t now = clock.MonotonicUs();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(ManualClock, StandsStillUntilAdvanced) {
  ManualClock clock;
  const int64_t wall = clock.WallUs();
  const int64_t monotonic = clock.MonotonicUs();
  EXPECT_EQ(clock.WallUs(), wall);
  clock.AdvanceMs(5);
  EXPECT_EQ(clock.WallUs(), wall + 5000);
  EXPECT_EQ(clock.MonotonicUs(), monotonic + 5000);
  clock.AdvanceUs(7);
  EXPECT_EQ(clock.MonotonicUs(), monotonic + 5007);
}

TEST(ManualClock, MovesOnlyWallTime) {
  ManualClock clock;
  const int64_t monotonic = clock.MonotonicUs();
  clock.SetWallMs(1'700'000'000'123);
  EXPECT_EQ(clock.WallMs(), 1'700'000'000'123);
  clock.StepWallMs(-1000);
  EXPECT_EQ(clock.WallMs(), 1'699'999'999'123);
  EXPECT_EQ(clock.MonotonicUs(), monotonic);
  EXPECT_EQ(clock.MonotonicMs(), monotonic / 1000);
}

}  // namespace
}  // namespace respite
