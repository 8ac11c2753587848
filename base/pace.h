// Pace: measures how long things really take. It serves time limits within one round of the event loop, slow scripts,
// rates, sockets and disks. It never stops and never goes back. The time that data and clients see is Clock, which
// tests and operators may move.
#pragma once

#include <cstdint>

namespace respite {

class Pace {  // the clock of real elapsed time; tests cannot move it (Clock: the time that clients see)
 public:
  virtual ~Pace() = default;

  virtual int64_t NowUs() const = 0;  // real elapsed time, from an unspecified origin

  // Returns true if the tick counter of the processor runs as evenly as this pace. LapTimer then uses ticks to compute
  // the time between two readings.
  virtual bool IsTickCounterReliable() const { return false; }  // true: the ticks run as evenly as this pace

  int64_t NowMs() const { return NowUs() / 1000; }  // real elapsed time, from an unspecified origin
};

// Cost: one vDSO call (about 20 ns) per reading.
class SystemPace final : public Pace {  // the machine's monotonic clock, which tests cannot move
 public:
  int64_t NowUs() const override;  // real elapsed time in µs, from the machine's monotonic clock
  // Returns true if the kernel uses the tick counters itself. The kernel does so only if the counters of all processors
  // agree. Cost: reads a small file.
  bool IsTickCounterReliable() const override;  // true if the kernel itself relies on the processor's tick counters
};

}  // namespace respite
