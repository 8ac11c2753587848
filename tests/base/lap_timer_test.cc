#include "base/lap_timer.h"

#include <gtest/gtest.h>

namespace respite {
namespace {

// A counter that a test sets.
struct TestTicks {
  static inline uint64_t now = 0;
  static uint64_t Now() { return now; }
};

constexpr uint64_t kTicksPerUs = 2600;

// A real_clock on which a test lets time pass, together with the counter.
class TestRealClock final : public RealClock {
 public:
  int64_t NowUs() const override {
    ++readings;
    return now_us;
  }
  bool IsTickCounterReliable() const override { return follows_ticks; }

  void PassUs(int64_t elapsed_us, uint64_t ticks_per_us = kTicksPerUs) {
    now_us += elapsed_us;
    TestTicks::now += static_cast<uint64_t>(elapsed_us) * ticks_per_us;
  }

  int64_t now_us = 5'000'000;
  bool follows_ticks = true;
  mutable int readings = 0;
};

using Timer = LapTimerOf<TestTicks>;

// Lets enough time pass that the timer knows the rate, and begins a lap.
void LearnRate(Timer& timer, TestRealClock& real_clock) {
  timer.BeginLap();
  real_clock.PassUs(30'000);
  timer.BeginLap();
}

int ReadingsOf(const TestRealClock& real_clock, auto&& work) {
  const int before = real_clock.readings;
  work();
  return real_clock.readings - before;
}

TEST(LapTimerTest, AsksThePaceUntilTheRateIsKnown) {
  TestRealClock real_clock;
  Timer timer(real_clock);
  EXPECT_EQ(timer.BeginLap(), real_clock.now_us);
  real_clock.PassUs(10);
  EXPECT_EQ(ReadingsOf(real_clock, [&] { EXPECT_EQ(timer.NowUs(), real_clock.now_us); }), 1);
}

TEST(LapTimerTest, CountsTicksDuringALap) {
  TestRealClock real_clock;
  Timer timer(real_clock);
  LearnRate(timer, real_clock);
  const int readings = ReadingsOf(real_clock, [&] {
    for (int i = 0; i < 300; ++i) {
      real_clock.PassUs(13);
      EXPECT_NEAR(static_cast<double>(timer.NowUs()), static_cast<double>(real_clock.now_us), 1);
    }
  });
  EXPECT_EQ(readings, 0);
}

TEST(LapTimerTest, BeginsTheNextLapIfOneIsLong) {
  TestRealClock real_clock;
  Timer timer(real_clock);
  LearnRate(timer, real_clock);
  real_clock.PassUs(5'000);
  EXPECT_EQ(ReadingsOf(real_clock, [&] { EXPECT_EQ(timer.NowUs(), real_clock.now_us); }), 1);
  real_clock.PassUs(100);
  EXPECT_EQ(ReadingsOf(real_clock, [&] { timer.NowUs(); }), 0);
}

TEST(LapTimerTest, NeverGoesBack) {
  TestRealClock real_clock;
  Timer timer(real_clock);
  LearnRate(timer, real_clock);
  real_clock.PassUs(1'000);
  const int64_t last_us = timer.NowUs();
  TestTicks::now -= 500 * kTicksPerUs;  // within the lap
  EXPECT_EQ(timer.NowUs(), last_us);
  TestTicks::now -= 900 * kTicksPerUs;  // before its beginning, as if the processor had changed
  const int64_t latest_us = timer.NowUs();
  EXPECT_EQ(latest_us, real_clock.now_us);
  real_clock.now_us -= 2'000;
  EXPECT_EQ(timer.BeginLap(), latest_us);
}

TEST(LapTimerTest, LearnsAnotherRate) {
  TestRealClock real_clock;
  Timer timer(real_clock);
  LearnRate(timer, real_clock);
  for (int i = 0; i < 3000; ++i) {  // the server moved to another machine
    real_clock.PassUs(1'000, 2 * kTicksPerUs);
    timer.BeginLap();
  }
  const int readings = ReadingsOf(real_clock, [&] {
    real_clock.PassUs(1'000, 2 * kTicksPerUs);
    EXPECT_NEAR(static_cast<double>(timer.NowUs()), static_cast<double>(real_clock.now_us), 1);
  });
  EXPECT_EQ(readings, 0);
}

// Begins a lap every millisecond for `laps` laps, and expects the time within each to pass as the real_clock's does.
void ExpectRightLaps(Timer& timer, TestRealClock& real_clock, int laps) {
  for (int i = 0; i < laps; ++i) {
    EXPECT_EQ(timer.BeginLap(), real_clock.now_us);
    real_clock.PassUs(1'000);
    EXPECT_NEAR(static_cast<double>(timer.NowUs()), static_cast<double>(real_clock.now_us), 1);
  }
}

TEST(LapTimerTest, SurvivesACounterThatWasSetBack) {
  TestRealClock real_clock;
  Timer timer(real_clock);
  LearnRate(timer, real_clock);
  ExpectRightLaps(timer, real_clock, 100);
  TestTicks::now = 1000;
  ExpectRightLaps(timer, real_clock, 3000);
}

TEST(LapTimerTest, SurvivesAMachineThatSlept) {
  TestRealClock real_clock;
  Timer timer(real_clock);
  LearnRate(timer, real_clock);
  ExpectRightLaps(timer, real_clock, 100);
  TestTicks::now += uint64_t{3'600'000'000} * kTicksPerUs;  // the real_clock stood still
  ExpectRightLaps(timer, real_clock, 3000);
}

TEST(LapTimerTest, StopsUsingTicksThatThePaceNoLongerFollows) {
  TestRealClock real_clock;
  Timer timer(real_clock);
  LearnRate(timer, real_clock);
  real_clock.follows_ticks = false;
  for (int i = 0; i < 2000; ++i) {
    real_clock.PassUs(1'000, kTicksPerUs / 2);
    timer.BeginLap();
  }
  EXPECT_EQ(ReadingsOf(real_clock, [&] { timer.NowUs(); }), 1);
}

TEST(LapTimerTest, UsesNoTicksThatThePaceDoesNotTrust) {
  TestRealClock real_clock;
  real_clock.follows_ticks = false;
  Timer timer(real_clock);
  LearnRate(timer, real_clock);
  EXPECT_EQ(ReadingsOf(real_clock, [&] { timer.NowUs(); }), 1);
}

TEST(LapTimerTest, UsesNoCounterThatStandsStill) {
  TestRealClock real_clock;
  Timer timer(real_clock);
  for (int i = 0; i < 100; ++i) {
    real_clock.PassUs(50'000, 0);
    EXPECT_EQ(timer.BeginLap(), real_clock.now_us);
    real_clock.PassUs(7, 0);
    EXPECT_EQ(timer.NowUs(), real_clock.now_us);
  }
}

// On the machine itself: a reading is between two readings of the real_clock, except for rounding and a small error of
// the rate.
TEST(LapTimerTest, AgreesWithTheMachinesPace) {
  const SystemRealClock real_clock;
  LapTimer timer(real_clock);
  timer.BeginLap();
  const int64_t until_us = real_clock.NowUs() + 100'000;
  int64_t now_us = 0;
  while (now_us < until_us) {
    const int64_t before_us = real_clock.NowUs();
    const int64_t own_us = timer.NowUs();
    now_us = real_clock.NowUs();
    EXPECT_GE(own_us, before_us - 20);
    EXPECT_LE(own_us, now_us + 20);
  }
}

}  // namespace
}  // namespace respite
