// RealClock: measures how long things really take: time limits within one round of the event loop, slow scripts, rates,
// sockets and disks. A RealClock never goes back, and stops only while the machine sleeps (or in unit tests:
// ManualClock). The time that data and clients see is Clock, which the command TEST CLOCK may move.
#pragma once

#include <cstdint>

namespace respite {

class RealClock {  // real elapsed time, which TEST CLOCK cannot move (Clock: the time that clients see)
 public:
  virtual ~RealClock() = default;

  virtual int64_t NowUs() const = 0;  // the real time in µs, from an arbitrary origin
  // Counts only the time in which a processor runs the thread, not the time in which the thread waits or the machine
  // sleeps. The default implementation, for clocks of tests, returns NowMs(). Cost: a system call.
  virtual int64_t ThreadCpuMs() const { return NowMs(); }  // processor time of the calling thread in ms

  // Returns whether LapTimer may use the tick counter of the processor to compute the time between two readings of this
  // RealClock.
  virtual bool IsTickCounterReliable() const { return false; }  // true: processor ticks run as evenly as this RealClock

  int64_t NowMs() const { return NowUs() / 1000; }  // the real time in ms, from an arbitrary origin
};

// Cost: one vDSO call (about 20 ns) per reading.
class SystemRealClock final : public RealClock {  // the machine's monotonic clock
 public:
  int64_t NowUs() const override;        // the real time in µs, from the machine's monotonic clock
  int64_t ThreadCpuMs() const override;  // processor time of the calling thread in ms
  // The kernel uses the tick counters only if the counters of all processors agree. Cost: reads a small file.
  bool IsTickCounterReliable() const override;  // true: the kernel itself relies on the processor's tick counters
};

}  // namespace respite
