// Timers: what becomes due at moments of the Clock: waits, pauses, and deadlines of keys while the clock is moved by
// hand. The Clock may stand still, jump and go on; how long things really take is none of their business.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace respite {

class Timers {
 public:
  static constexpr int64_t kNever = INT64_MAX;

  class Source {
   public:
    virtual ~Source() = default;
    // Monotonic; kNever while nothing is to come.
    virtual int64_t NextDueMs() const = 0;
    // Does what is due at this moment, or as much of it as a Turn should have.
    virtual void RunDue(int64_t now_ms) = 0;
  };

  // The source must outlive the last call.
  void Add(Source& source) { sources_.push_back(&source); }
  // When RunDue has something to do next. Cost: O(sources), of which there are a handful.
  int64_t NextDueMs() const {
    int64_t next_ms = kNever;
    for (const Source* source : sources_) next_ms = std::min(next_ms, source->NextDueMs());
    return next_ms;
  }
  // Each source whose time has come has one turn.
  void RunDue(int64_t now_ms) {
    for (Source* source : sources_)
      if (source->NextDueMs() <= now_ms) source->RunDue(now_ms);
  }

 private:
  std::vector<Source*> sources_;
};

}  // namespace respite
