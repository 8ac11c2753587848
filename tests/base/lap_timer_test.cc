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

// A pace on which a test lets time pass, together with the counter.
class TestPace final : public Pace {
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
void LearnRate(Timer& timer, TestPace& pace) {
  timer.BeginLap();
  pace.PassUs(30'000);
  timer.BeginLap();
}

int ReadingsOf(const TestPace& pace, auto&& work) {
  const int before = pace.readings;
  work();
  return pace.readings - before;
}

TEST(LapTimerTest, AsksThePaceUntilTheRateIsKnown) {
  TestPace pace;
  Timer timer(pace);
  EXPECT_EQ(timer.BeginLap(), pace.now_us);
  pace.PassUs(10);
  EXPECT_EQ(ReadingsOf(pace, [&] { EXPECT_EQ(timer.NowUs(), pace.now_us); }), 1);
}

TEST(LapTimerTest, CountsTicksDuringALap) {
  TestPace pace;
  Timer timer(pace);
  LearnRate(timer, pace);
  const int readings = ReadingsOf(pace, [&] {
    for (int i = 0; i < 300; ++i) {
      pace.PassUs(13);
      EXPECT_NEAR(static_cast<double>(timer.NowUs()), static_cast<double>(pace.now_us), 1);
    }
  });
  EXPECT_EQ(readings, 0);
}

TEST(LapTimerTest, BeginsTheNextLapIfOneIsLong) {
  TestPace pace;
  Timer timer(pace);
  LearnRate(timer, pace);
  pace.PassUs(5'000);
  EXPECT_EQ(ReadingsOf(pace, [&] { EXPECT_EQ(timer.NowUs(), pace.now_us); }), 1);
  pace.PassUs(100);
  EXPECT_EQ(ReadingsOf(pace, [&] { timer.NowUs(); }), 0);
}

TEST(LapTimerTest, NeverGoesBack) {
  TestPace pace;
  Timer timer(pace);
  LearnRate(timer, pace);
  pace.PassUs(1'000);
  const int64_t last_us = timer.NowUs();
  TestTicks::now -= 500 * kTicksPerUs;  // within the lap
  EXPECT_EQ(timer.NowUs(), last_us);
  TestTicks::now -= 900 * kTicksPerUs;  // before its beginning, as if the processor had changed
  const int64_t latest_us = timer.NowUs();
  EXPECT_EQ(latest_us, pace.now_us);
  pace.now_us -= 2'000;
  EXPECT_EQ(timer.BeginLap(), latest_us);
}

TEST(LapTimerTest, LearnsAnotherRate) {
  TestPace pace;
  Timer timer(pace);
  LearnRate(timer, pace);
  for (int i = 0; i < 3000; ++i) {  // the server moved to another machine
    pace.PassUs(1'000, 2 * kTicksPerUs);
    timer.BeginLap();
  }
  const int readings = ReadingsOf(pace, [&] {
    pace.PassUs(1'000, 2 * kTicksPerUs);
    EXPECT_NEAR(static_cast<double>(timer.NowUs()), static_cast<double>(pace.now_us), 1);
  });
  EXPECT_EQ(readings, 0);
}

// Begins a lap every millisecond for `laps` laps, and expects the time within each to pass as the pace's does.
void ExpectRightLaps(Timer& timer, TestPace& pace, int laps) {
  for (int i = 0; i < laps; ++i) {
    EXPECT_EQ(timer.BeginLap(), pace.now_us);
    pace.PassUs(1'000);
    EXPECT_NEAR(static_cast<double>(timer.NowUs()), static_cast<double>(pace.now_us), 1);
  }
}

TEST(LapTimerTest, SurvivesACounterThatWasSetBack) {
  TestPace pace;
  Timer timer(pace);
  LearnRate(timer, pace);
  ExpectRightLaps(timer, pace, 100);
  TestTicks::now = 1000;
  ExpectRightLaps(timer, pace, 3000);
}

TEST(LapTimerTest, SurvivesAMachineThatSlept) {
  TestPace pace;
  Timer timer(pace);
  LearnRate(timer, pace);
  ExpectRightLaps(timer, pace, 100);
  TestTicks::now += uint64_t{3'600'000'000} * kTicksPerUs;  // the pace stood still
  ExpectRightLaps(timer, pace, 3000);
}

TEST(LapTimerTest, StopsUsingTicksThatThePaceNoLongerFollows) {
  TestPace pace;
  Timer timer(pace);
  LearnRate(timer, pace);
  pace.follows_ticks = false;
  for (int i = 0; i < 2000; ++i) {
    pace.PassUs(1'000, kTicksPerUs / 2);
    timer.BeginLap();
  }
  EXPECT_EQ(ReadingsOf(pace, [&] { timer.NowUs(); }), 1);
}

TEST(LapTimerTest, UsesNoTicksThatThePaceDoesNotTrust) {
  TestPace pace;
  pace.follows_ticks = false;
  Timer timer(pace);
  LearnRate(timer, pace);
  EXPECT_EQ(ReadingsOf(pace, [&] { timer.NowUs(); }), 1);
}

TEST(LapTimerTest, UsesNoCounterThatStandsStill) {
  TestPace pace;
  Timer timer(pace);
  for (int i = 0; i < 100; ++i) {
    pace.PassUs(50'000, 0);
    EXPECT_EQ(timer.BeginLap(), pace.now_us);
    pace.PassUs(7, 0);
    EXPECT_EQ(timer.NowUs(), pace.now_us);
  }
}

// On the machine itself: a reading is between two readings of the pace, except for rounding and a small error of the
// rate.
TEST(LapTimerTest, AgreesWithTheMachinesPace) {
  const SystemPace pace;
  LapTimer timer(pace);
  timer.BeginLap();
  const int64_t until_us = pace.NowUs() + 100'000;
  int64_t now_us = 0;
  while (now_us < until_us) {
    const int64_t before_us = pace.NowUs();
    const int64_t own_us = timer.NowUs();
    now_us = pace.NowUs();
    EXPECT_GE(own_us, before_us - 20);
    EXPECT_LE(own_us, now_us + 20);
  }
}

}  // namespace
}  // namespace respite
