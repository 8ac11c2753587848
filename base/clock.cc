#include "base/clock.h"

#include <time.h>

#include <fstream>
#include <string>

namespace respite {

namespace {

int64_t ReadUs(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

}  // namespace

int64_t SystemClock::WallUs() const { return ReadUs(CLOCK_REALTIME); }

int64_t SystemClock::MonotonicUs() const { return ReadUs(CLOCK_MONOTONIC); }

int64_t SystemRealClock::NowUs() const { return ReadUs(CLOCK_MONOTONIC); }

int64_t SystemRealClock::ThreadCpuMs() const { return ReadUs(CLOCK_THREAD_CPUTIME_ID) / 1000; }

bool SystemRealClock::IsTickCounterReliable() const {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  return file >> name && name == "tsc";
}

void ManualClock::AdvanceUs(int64_t elapsed_us) {
  wall_us_ += elapsed_us;
  monotonic_us_ += elapsed_us;
}

}  // namespace respite
