// HandshakeLine: whose TLS handshake goes on next.
//
// A step of a handshake costs a millisecond or more of arithmetic with the private key, as much as a thousand requests.
// So those who are ready for one stand in line, and a Turn serves as many as fit into a small share of time; the
// requests of everybody else go on meanwhile, however many connect.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "base/clock.h"

namespace respite {

class HandshakeLine {
 public:
  static constexpr int64_t kShareUs = 1000;  // of a Turn; the first step of a Turn is always taken

  explicit HandshakeLine(const Clock& clock) : clock_(clock) {}

  void Enter(std::function<void()> step) { steps_.push_back(std::move(step)); }
  bool Empty() const { return steps_.empty(); }
  // The next steps, one at least.
  void ServeShare() {
    const int64_t until_us = clock_.MonotonicUs() + kShareUs;
    do {
      const std::function<void()> step = std::move(steps_.front());
      steps_.pop_front();
      step();
    } while (!steps_.empty() && clock_.MonotonicUs() < until_us);
  }

 private:
  const Clock& clock_;
  std::deque<std::function<void()>> steps_;
};

}  // namespace respite
