// WorkQueue: a queue of expensive steps, of which each turn of the event loop runs a limited share.
//
// A step of a TLS handshake costs as much as a thousand requests, and closing a connection as much as several. Because
// of the limit, other clients are served even when thousands of clients connect or disconnect together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

#include "base/real_clock.h"

namespace respite {

class WorkQueue {  // a queue of expensive steps; each turn of the event loop runs only some
 public:
  // Each turn may spend `share_us` microseconds on steps.
  WorkQueue(const RealClock& real_clock, int64_t share_us) : real_clock_(real_clock), share_us_(share_us) {}

  void AddStep(std::function<void()> step) { steps_.push_back(std::move(step)); }  // queues a step
  bool IsEmpty() const { return steps_.empty(); }                                  // true: no step waits
  size_t Size() const { return steps_.size(); }                                    // number of waiting steps

  void ServeShare(size_t min_steps = 1);     // runs `min_steps` steps (or all), and more while share_us_ has not passed
  void ServeAll() { ServeShare(SIZE_MAX); }  // runs all steps, without a limit of time

 private:
  const RealClock& real_clock_;              // the clock of real elapsed time
  const int64_t share_us_;                   // µs per turn; then no more steps begin, except min_steps
  std::deque<std::function<void()>> steps_;  // the steps, in the order in which they run
};

inline void WorkQueue::ServeShare(size_t min_steps) {  // runs `min_steps` steps; more until share_us_ passed
  const int64_t until_us = real_clock_.NowUs() + share_us_;
  for (size_t done = 0; !IsEmpty() && (done < min_steps || real_clock_.NowUs() < until_us); ++done) {
    const std::function<void()> step = std::move(steps_.front());
    steps_.pop_front();
    step();
  }
}

}  // namespace respite
