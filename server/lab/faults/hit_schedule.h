// HitSchedule: TIMES, AFTER and PERCENT of TEST FAULT. A rule of TEST FAULT may match many requests; these options say
// on which of the matching requests the fault acts.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/random.h"

namespace respite {

struct HitSchedule {  // on which matching requests a fault acts, called hits (TIMES, AFTER, PERCENT)
  static constexpr uint64_t kAlways = UINT64_MAX;  // as `times`: no limit of hits; as `chance`: every match is a hit

  uint64_t times = kAlways;   // TIMES: maximum number of hits
  uint64_t after = 0;         // AFTER: the first `after` matches are no hits
  uint64_t chance = kAlways;  // PERCENT: probability of a hit, for matches beyond `after`, in units of 1/2^64
  uint64_t seed = 0;          // seed for the random choices of PERCENT
};

class HitCounts {  // how often a fault rule has matched, and how often it acted
 public:
  uint64_t Matches() const { return matches_.load(std::memory_order_relaxed); }  // matches so far, hits or not
  uint64_t Hits() const { return hits_.load(std::memory_order_relaxed); }  // number of matches on which the rule acted
  bool IsSpent(const HitSchedule& schedule) const { return Hits() >= schedule.times; }  // true: acts no more (TIMES)
  void Reset();  // sets the numbers of matches and hits to 0
  // Counts a match: a request, connection or disk operation that the rule matches. If the fault acts on it, also counts
  // a hit and returns true. If TIMES is used up, counts nothing and returns false.
  bool CountMatch(const HitSchedule& schedule);  // counts a match, unless TIMES is used up; true: the fault acts

 private:
  std::atomic<uint64_t> matches_ = 0;  // number of matches; stops growing when TIMES is used up
  std::atomic<uint64_t> hits_ = 0;     // number of matches on which the rule acted
};

inline void HitCounts::Reset() {  // sets the numbers of matches and hits to 0
  matches_.store(0, std::memory_order_relaxed);
  hits_.store(0, std::memory_order_relaxed);
}

inline bool HitCounts::CountMatch(const HitSchedule& schedule) {  // counts a match; true: the fault acts
  if (IsSpent(schedule)) return false;
  const uint64_t number = matches_.fetch_add(1, std::memory_order_relaxed);
  if (number < schedule.after) return false;
  if (schedule.chance != HitSchedule::kAlways && DerivedSeed(schedule.seed, number) >= schedule.chance) return false;
  uint64_t hits = Hits();
  do {
    if (hits >= schedule.times) return false;
  } while (!hits_.compare_exchange_weak(hits, hits + 1, std::memory_order_relaxed));
  return true;
}

}  // namespace respite
