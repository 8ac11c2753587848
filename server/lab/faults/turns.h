// HitSchedule: on which of the requests that it matches a fault acts (TIMES, AFTER and PERCENT of TEST FAULT).
#pragma once

#include <atomic>
#include <cstdint>

#include "base/random.h"

namespace respite {

struct HitSchedule {  // how often a fault acts on the requests that it matches (TIMES, AFTER, PERCENT)
  static constexpr uint64_t kAlways = UINT64_MAX;  // for `times`: no limit; for `chance`: all matches

  uint64_t times = kAlways;   // maximum number of hits (TIMES)
  uint64_t after = 0;         // AFTER: number of first matches that are not hit
  uint64_t chance = kAlways;  // PERCENT: the share of the other matches that are hit, in units of 1/2^64
  uint64_t seed = 0;          // decides with the number of a match whether `chance` makes it a hit
};

class HitCounts {  // how often a fault rule has matched and acted; processes may share it
 public:
  uint64_t Matches() const { return matches_.load(std::memory_order_relaxed); }   // also of those not hit
  uint64_t Hits() const { return hits_.load(std::memory_order_relaxed); }         // number of matches on which it acted
  bool IsSpent(const HitSchedule& turns) const { return Hits() >= turns.times; }  // TIMES is used up
  void Reset();                                                                   // sets both counters to 0
  // Counts a match, and returns whether the fault acts on it. A true result counts as a hit.
  bool Take(const HitSchedule& turns);

 private:
  std::atomic<uint64_t> matches_ = 0;  // number of requests, connections or disk operations that the rule matched
  std::atomic<uint64_t> hits_ = 0;     // number of matches on which it acted
};

inline void HitCounts::Reset() {
  matches_.store(0, std::memory_order_relaxed);
  hits_.store(0, std::memory_order_relaxed);
}

inline bool HitCounts::Take(const HitSchedule& turns) {
  if (IsSpent(turns)) return false;
  const uint64_t number = matches_.fetch_add(1, std::memory_order_relaxed);
  if (number < turns.after) return false;
  if (turns.chance != HitSchedule::kAlways && DerivedSeed(turns.seed, number) >= turns.chance) return false;
  uint64_t hits = Hits();
  do {
    if (hits >= turns.times) return false;
  } while (!hits_.compare_exchange_weak(hits, hits + 1, std::memory_order_relaxed));
  return true;
}

}  // namespace respite
