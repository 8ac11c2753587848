// Timers: work that becomes due at a time of the Clock: timeouts of blocked clients, pauses, and deadlines of keys
// while a test moves the clock. TEST CLOCK can stop and move the Clock; work that depends on real time uses RealClock
// instead.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace respite {

class Timers {  // runs the parts of a server that have work at certain times of its clock
 public:
  static constexpr int64_t kNever = INT64_MAX;  // a due time that never comes

  class Source {  // interface of a component that has work at certain times
   public:
    virtual ~Source() = default;
    virtual int64_t NextDueMs() const = 0;    // when this source has work next (clock time), or kNever
    virtual void RunDue(int64_t now_ms) = 0;  // does the work that is due, at most what one event loop Turn allows
    // Called before TEST CLOCK advances the clock; EndClockJump is called afterwards. Between these calls, NextDueMs
    // may leave out work whose time does not matter for the order of events, because clients do not see the clock's
    // intermediate times.
    virtual void BeginClockJump() {}                  // TEST CLOCK is about to move the clock
    virtual void EndClockJump(int64_t /*now_ms*/) {}  // called when TEST CLOCK has moved the clock to now_ms
    // Returns a text for users that says what happens at the time NextDueMs. Requires: NextDueMs() != kNever.
    virtual std::string NextDueText() const = 0;  // what happens next, for users: "CLIENT PAUSE ends"
  };

  // Registers a component with timed work. `source` is never removed, so it must live as long as this Timers is used.
  void Add(Source& source) { sources_.push_back(&source); }  // registers a component that has work at certain times
  int64_t NextDueMs() const {                                // clock time of the next work of all sources, or kNever
    int64_t next_ms = kNever;
    for (const Source* source : sources_) next_ms = std::min(next_ms, source->NextDueMs());
    return next_ms;
  }
  const Source* Next() const {  // the source whose work is due next; null: none
    const auto next = std::ranges::min_element(sources_, {}, &Source::NextDueMs);
    return next != sources_.end() && (*next)->NextDueMs() != kNever ? *next : nullptr;
  }
  // Must be called before TEST CLOCK advances the clock, and EndClockJump afterwards. Work that becomes due between
  // these calls still runs, in order: the clock stops at each due time (Housekeeping::PassTime).
  void BeginClockJump() {  // tells all sources: TEST CLOCK is about to move the clock
    for (Source* source : sources_) source->BeginClockJump();
  }
  void EndClockJump(int64_t now_ms) {  // tells all sources: TEST CLOCK has moved the clock to now_ms
    for (Source* source : sources_) source->EndClockJump(now_ms);
  }
  void RunDue(int64_t now_ms) {  // calls RunDue of each source that has work due
    for (Source* source : sources_)
      if (source->NextDueMs() <= now_ms) source->RunDue(now_ms);
  }

 private:
  std::vector<Source*> sources_;  // all parts of the server with timed work
};

}  // namespace respite
