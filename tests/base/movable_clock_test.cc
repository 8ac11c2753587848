#include "base/movable_clock.h"

#include <gtest/gtest.h>

namespace respite {
namespace {

constexpr int64_t kSecondUs = 1'000'000;

class MovableClockTest : public testing::Test {
 protected:
  void Pass(int64_t real_us) { machine_.AdvanceUs(real_us); }

  ManualClock machine_;
  MovableClock clock_{machine_, machine_};
};

TEST_F(MovableClockTest, IsTheMachinesUntilItIsMoved) {
  EXPECT_EQ(clock_.WallUs(), machine_.WallUs());
  EXPECT_EQ(clock_.MonotonicUs(), machine_.MonotonicUs());
  Pass(7);
  machine_.StepWallMs(-3000);
  EXPECT_EQ(clock_.WallUs(), machine_.WallUs());
  EXPECT_EQ(clock_.MonotonicUs(), machine_.MonotonicUs());
  EXPECT_EQ(clock_.RealUsAtMonotonicUs(clock_.MonotonicUs() + 5), machine_.NowUs() + 5);
  EXPECT_EQ(clock_.OffsetUs(), 0);
}

TEST_F(MovableClockTest, StandsStillUntilItIsAdvanced) {
  clock_.Freeze();
  const int64_t wall_us = clock_.WallUs(), monotonic_us = clock_.MonotonicUs();
  Pass(kSecondUs);
  machine_.StepWallMs(60'000);
  EXPECT_EQ(clock_.WallUs(), wall_us);
  EXPECT_EQ(clock_.MonotonicUs(), monotonic_us);
  EXPECT_EQ(clock_.RealUsAtMonotonicUs(monotonic_us + 1), Clock::kNever);
  EXPECT_LE(clock_.RealUsAtMonotonicUs(monotonic_us), machine_.NowUs());
  clock_.AdvanceUs(5);
  EXPECT_EQ(clock_.WallUs(), wall_us + 5);
  EXPECT_EQ(clock_.MonotonicUs(), monotonic_us + 5);
  EXPECT_EQ(clock_.mode(), MovableClock::Mode::kFrozen);
}

TEST_F(MovableClockTest, GoesOnFromAnotherTime) {
  const int64_t wall_us = clock_.WallUs(), monotonic_us = clock_.MonotonicUs();
  clock_.AdvanceUs(10 * kSecondUs);
  Pass(3);
  EXPECT_EQ(clock_.WallUs(), wall_us + 10 * kSecondUs + 3);
  EXPECT_EQ(clock_.MonotonicUs(), monotonic_us + 10 * kSecondUs + 3);
  EXPECT_EQ(clock_.OffsetUs(), 10 * kSecondUs);
  EXPECT_EQ(clock_.mode(), MovableClock::Mode::kReal);
  EXPECT_EQ(clock_.RealUsAtMonotonicUs(clock_.MonotonicUs() + 8), machine_.NowUs() + 8);
}

TEST_F(MovableClockTest, WallTimeMayGoBackMonotonicTimeGoesOn) {
  const int64_t monotonic_us = clock_.MonotonicUs();
  clock_.SetWallUs(1000);
  Pass(5);
  EXPECT_EQ(clock_.WallUs(), 1005);
  EXPECT_EQ(clock_.MonotonicUs(), monotonic_us + 5);
  clock_.Freeze();
  clock_.SetWallUs(7);
  EXPECT_EQ(clock_.WallUs(), 7);
  EXPECT_EQ(clock_.MonotonicUs(), monotonic_us + 5);
}

TEST_F(MovableClockTest, RunsFasterAndSlower) {
  const int64_t wall_us = clock_.WallUs(), monotonic_us = clock_.MonotonicUs();
  clock_.RunAt(1000);
  Pass(2000);
  EXPECT_EQ(clock_.WallUs(), wall_us + 2'000'000);
  EXPECT_EQ(clock_.MonotonicUs(), monotonic_us + 2'000'000);
  EXPECT_EQ(clock_.RealUsAtMonotonicUs(clock_.MonotonicUs() + 1), machine_.NowUs() + 1);
  clock_.RunAt(0.5);
  Pass(2000);
  EXPECT_EQ(clock_.MonotonicUs(), monotonic_us + 2'001'000);
  EXPECT_EQ(clock_.RealUsAtMonotonicUs(clock_.MonotonicUs() + 100), machine_.NowUs() + 200);
  EXPECT_EQ(clock_.mode(), MovableClock::Mode::kScaled);
  clock_.RunAt(1);
  EXPECT_EQ(clock_.mode(), MovableClock::Mode::kReal);
}

TEST_F(MovableClockTest, FollowsTheMachineAgainAndMonotonicTimeDoesNotGoBack) {
  clock_.Freeze();
  clock_.AdvanceUs(3600 * kSecondUs);
  const int64_t monotonic_us = clock_.MonotonicUs();
  clock_.FollowMachine();
  Pass(4);
  EXPECT_EQ(clock_.WallUs(), machine_.WallUs());
  EXPECT_EQ(clock_.MonotonicUs(), monotonic_us + 4);
}

TEST_F(MovableClockTest, FarTimesDoNotOverflow) {
  clock_.RunAt(MovableClock::kMinRate);
  EXPECT_EQ(clock_.RealUsAtMonotonicUs(INT64_MAX), Clock::kNever);
  clock_.RunAt(MovableClock::kMaxRate);
  EXPECT_GT(clock_.RealUsAtMonotonicUs(INT64_MAX), machine_.NowUs());
}

TEST_F(MovableClockTest, ReadingsFromBeforeAMoveDoNotGoBack) {
  const int64_t real_us = machine_.NowUs();
  Pass(10);
  clock_.Freeze();
  EXPECT_EQ(clock_.MonotonicUsAtRealUs(real_us), clock_.MonotonicUs());
}

}  // namespace
}  // namespace respite
