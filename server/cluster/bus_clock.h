// BusClock: the time of the cluster bus: real milliseconds since 1970, which never go back. The bus tells others times,
// so its origin is the wall clock at the start; what passes since then is measured on the Pace.
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
