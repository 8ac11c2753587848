#include "server/process/crash/watchdog.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "base/real_clock.h"
#include "server/process/crash/signal_log.h"

namespace respite {
namespace {

using std::chrono::milliseconds;

// Collects what signal handlers write.
class WatchdogTest : public testing::Test {
 protected:
  WatchdogTest() {
    std::string name = testing::TempDir() + "watchdogXXXXXX";
    folder_ = mkdtemp(name.data());
    SetSignalLog((folder_ / "log").string());
  }
  ~WatchdogTest() override {
    SetSignalLog("");
    std::filesystem::remove_all(folder_);
  }

  size_t Mentions(const std::string& text) const {
    std::stringstream content;
    content << std::ifstream(folder_ / "log").rdbuf();
    const std::string log = content.str();
    size_t count = 0;
    for (size_t at = log.find(text); at != std::string::npos; at = log.find(text, at + 1)) ++count;
    return count;
  }
  size_t Reports() const { return Mentions("WATCHDOG TIMER EXPIRED"); }

  // These functions keep their thread busy until the log contains `text`, or clearly never will. Each has its own
  // number, or else the compiler merges both into one function with one name.
  [[gnu::noinline]] bool KeepTheFirstBusyUntil(const std::string& text) const {
    [[maybe_unused]] const volatile int number = 1;
    AwaitMention(text);
    return Mentions(text) != 0;
  }
  [[gnu::noinline]] bool KeepTheSecondBusyUntil(const std::string& text) const {
    [[maybe_unused]] const volatile int number = 2;
    AwaitMention(text);
    return Mentions(text) != 0;
  }
  // Keeps the thread busy for longer than the watchdog's period.
  void KeepBusyFor(milliseconds time) const {
    const int64_t end_ms = real_clock_.NowMs() + time.count();
    while (real_clock_.NowMs() < end_ms) {
    }
  }

  static constexpr milliseconds kPeriod{20};

 private:
  void AwaitMention(const std::string& text) const {
    const int64_t end_ms = real_clock_.NowMs() + 20'000;
    while (Mentions(text) == 0 && real_clock_.NowMs() < end_ms) {
    }
  }

  const SystemRealClock real_clock_;
  std::filesystem::path folder_;
};

TEST_F(WatchdogTest, EachThreadHasOne) {
  const auto watched = [&](auto keep_busy) {
    Watchdog watchdog;
    watchdog.SetPeriod(kPeriod);
    EXPECT_TRUE(keep_busy());
    watchdog.SetPeriod(milliseconds(0));
  };
  std::thread second([&] { watched([&] { return KeepTheSecondBusyUntil("KeepTheSecondBusy"); }); });
  watched([&] { return KeepTheFirstBusyUntil("KeepTheFirstBusy"); });
  second.join();
}

TEST_F(WatchdogTest, OneThatIsTurnedOffLeavesTheOthersAlone) {
  Watchdog watchdog;
  watchdog.SetPeriod(kPeriod);
  std::thread([&] {
    Watchdog other;
    other.SetPeriod(kPeriod);
  }).join();
  watchdog.Feed();
  EXPECT_TRUE(KeepTheFirstBusyUntil("KeepTheFirstBusy"));
}

TEST_F(WatchdogTest, ItFollowsWhoFeedsIt) {
  Watchdog watchdog;
  watchdog.SetPeriod(milliseconds(10'000));  // long enough that it does not report in this test
  std::thread([&] {
    watchdog.SetPeriod(kPeriod);
    EXPECT_TRUE(KeepTheSecondBusyUntil("KeepTheSecondBusy"));
  }).join();
  watchdog.Feed();
  EXPECT_TRUE(KeepTheFirstBusyUntil("KeepTheFirstBusy"));
}

TEST_F(WatchdogTest, ItIsSilentWhileItIsFedAndWhenItIsOff) {
  Watchdog watchdog;
  watchdog.SetPeriod(milliseconds(10'000));
  watchdog.Feed();
  watchdog.SetPeriod(kPeriod);
  watchdog.SetPeriod(milliseconds(0));
  watchdog.Feed();
  KeepBusyFor(3 * kPeriod);
  EXPECT_EQ(Reports(), 0u);
}

}  // namespace
}  // namespace respite
