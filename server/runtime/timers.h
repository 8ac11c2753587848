// Timers: work that becomes due at a time of the Clock: waits, pauses, and deadlines of keys while the clock is moved
// by hand. The Clock may stop, jump and go on; what depends on real time uses Pace instead.
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
    // Monotonic; kNever if nothing will be due.
    virtual int64_t NextDueMs() const = 0;
    // Does the work that is due now, or as much of it as one Turn may take.
    virtual void RunDue(int64_t now_ms) = 0;
    // Until the jump ends nobody sees what happens in between: only what changes the order of things need be due.
    virtual void BeginJump() {}
    virtual void EndJump(int64_t /*now_ms*/) {}
    // What will happen at NextDueMs, for people: "CLIENT PAUSE ends". Requires: something will.
    virtual std::string WhatIsDue() const = 0;
  };

  // The source must outlive the last call.
  void Add(Source& source) { sources_.push_back(&source); }
  // When RunDue has something to do next. Cost: O(sources), of which there are a handful.
  int64_t NextDueMs() const {
    int64_t next_ms = kNever;
    for (const Source* source : sources_) next_ms = std::min(next_ms, source->NextDueMs());
    return next_ms;
  }
  // The source of that; null: nothing will be due.
  const Source* Next() const {
    const auto next = std::ranges::min_element(sources_, {}, &Source::NextDueMs);
    return next != sources_.end() && (*next)->NextDueMs() != kNever ? *next : nullptr;
  }
  // The clock is about to go over what is due at once, and has done so.
  void BeginJump() {
    for (Source* source : sources_) source->BeginJump();
  }
  void EndJump(int64_t now_ms) {
    for (Source* source : sources_) source->EndJump(now_ms);
  }
  // Calls each source that is due once.
  void RunDue(int64_t now_ms) {
    for (Source* source : sources_)
      if (source->NextDueMs() <= now_ms) source->RunDue(now_ms);
  }

 private:
  std::vector<Source*> sources_;
};

}  // namespace respite
