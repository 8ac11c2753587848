// Timers: work that becomes due at a time of the Clock: waits, pauses, and deadlines of keys while a test moves the
// clock. The Clock may stop, jump and continue; work that depends on real time uses Pace instead.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace respite {

class Timers {
 public:
  static constexpr int64_t kNever = INT64_MAX;

  class Source {
   public:
    virtual ~Source() = default;
    // Returns the monotonic time of the next due work, or kNever.
    virtual int64_t NextDueMs() const = 0;
    // Does the work that is due now, but no more than fits into one Turn.
    virtual void RunDue(int64_t now_ms) = 0;
    // Called before and after TEST CLOCK advances the clock. Clients cannot observe intermediate states in between. So
    // NextDueMs need only report work that affects the order of events.
    virtual void BeginJump() {}
    virtual void EndJump(int64_t /*now_ms*/) {}
    // Describes the event at NextDueMs for users: "CLIENT PAUSE ends". Requires: NextDueMs() != kNever.
    virtual std::string WhatIsDue() const = 0;
  };

  // The source must outlive the last call.
  void Add(Source& source) { sources_.push_back(&source); }
  // Returns when RunDue next has work to do. Cost: O(sources), of which there are a handful.
  int64_t NextDueMs() const {
    int64_t next_ms = kNever;
    for (const Source* source : sources_) next_ms = std::min(next_ms, source->NextDueMs());
    return next_ms;
  }
  // Returns the source that is due next, or null.
  const Source* Next() const {
    const auto next = std::ranges::min_element(sources_, {}, &Source::NextDueMs);
    return next != sources_.end() && (*next)->NextDueMs() != kNever ? *next : nullptr;
  }
  // Called before and after TEST CLOCK advances the clock. Work that becomes due in between still runs, in order: the
  // clock stops at each due time (Housekeeping::PassTime).
  void BeginJump() {
    for (Source* source : sources_) source->BeginJump();
  }
  void EndJump(int64_t now_ms) {
    for (Source* source : sources_) source->EndJump(now_ms);
  }
  // Calls RunDue once for each source that is due.
  void RunDue(int64_t now_ms) {
    for (Source* source : sources_)
      if (source->NextDueMs() <= now_ms) source->RunDue(now_ms);
  }

 private:
  std::vector<Source*> sources_;
};

}  // namespace respite
