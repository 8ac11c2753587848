// Pace: how long things really take. Shares of a Turn, late scripts, rates, sockets and disks use it; it never stops
// and never goes back. What data and clients see uses Clock, which tests and operators may move.
#pragma once

#include <cstdint>

namespace respite {

class Pace {
 public:
  virtual ~Pace() = default;

  virtual int64_t NowUs() const = 0;  // from an unspecified origin

  // True if the tick counter of the processor runs as evenly as this pace, so that it may fill the time between two
  // readings (LapTimer).
  virtual bool FollowsTicks() const { return false; }

  int64_t NowMs() const { return NowUs() / 1000; }
};

// The monotonic clock of the machine. Cost: one vDSO call (about 20 ns) per reading.
class SystemPace final : public Pace {
 public:
  int64_t NowUs() const override;
  // As the kernel decides: it compares the counters of all processors, and uses them itself if they agree. Cost: reads
  // a small file.
  bool FollowsTicks() const override;
};

}  // namespace respite
