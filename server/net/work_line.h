// WorkLine: work of the event loop that comes in crowds, and of which a Turn does only a share.
//
// A step of a TLS handshake costs as much as a thousand requests, and to close a connection several times what a
// request costs. When thousands want the same at once, the requests of everybody else go on meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

#include "base/pace.h"

namespace respite {

class WorkLine {
 public:
  // `share_us` of a Turn are given to it.
  WorkLine(const Pace& pace, int64_t share_us) : pace_(pace), share_us_(share_us) {}

  void Enter(std::function<void()> step) { steps_.push_back(std::move(step)); }
  bool Empty() const { return steps_.empty(); }
  size_t Size() const { return steps_.size(); }

  // As many steps as fit into the share, but `at_least` so many.
  void ServeShare(size_t at_least = 1) {
    const int64_t until_us = pace_.NowUs() + share_us_;
    for (size_t done = 0; !Empty() && (done < at_least || pace_.NowUs() < until_us); ++done) {
      const std::function<void()> step = std::move(steps_.front());
      steps_.pop_front();
      step();
    }
  }
  void ServeAll() { ServeShare(SIZE_MAX); }

 private:
  const Pace& pace_;
  const int64_t share_us_;
  std::deque<std::function<void()>> steps_;
};

}  // namespace respite
