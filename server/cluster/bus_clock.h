// BusClock: the time of the cluster bus in milliseconds since 1970; it never goes back. Packets contain times, so its
// origin is the wall clock at the start. The time since then is measured by the Pace.
#pragma once

#include <cstdint>

#include "base/pace.h"

namespace respite {

class BusClock {
 public:
  BusClock(const Pace& pace, int64_t wall_ms) : pace_(pace), origin_ms_(wall_ms - pace.NowMs()) {}

  int64_t NowMs() const { return origin_ms_ + pace_.NowMs(); }

 private:
  const Pace& pace_;
  const int64_t origin_ms_;
};

}  // namespace respite
