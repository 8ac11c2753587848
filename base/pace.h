// Pace: measures how long things really take. It serves time limits within one round of the event loop, slow scripts,
// rates, sockets and disks. It never stops and never goes back. The time that data and clients see is Clock, which
// tests and operators may move.
#pragma once

#include <cstdint>

namespace respite {

class Pace {  // the clock of real elapsed time; tests cannot move it (Clock: the time that clients see)
 public:
  virtual ~Pace() = default;  // measures real time, which TEST CLOCK cannot move (Clock: the time that clients see)

  virtual int64_t NowUs() const = 0;  // the real time in µs, from an arbitrary origin

  // Returns true if the tick counter of the processor runs as evenly as this pace. LapTimer then uses ticks to compute
  // the time between two readings.
  virtual bool IsTickCounterReliable() const { return false; }  // true: processor ticks are as even as this clock

  int64_t NowMs() const { return NowUs() / 1000; }  // the real time in ms, from an arbitrary origin
};

// Cost: one vDSO call (about 20 ns) per reading.
class SystemPace final : public Pace {  // the machine's monotonic clock
 public:
  int64_t NowUs() const override;  // the real time in µs, from the machine's monotonic clock
  // Returns true if the kernel uses the tick counters itself. The kernel does so only if the counters of all processors
  // agree. Cost: reads a small file.
  bool IsTickCounterReliable() const override;  // true: the kernel itself relies on the processor's tick counters
};

}  // namespace respite
