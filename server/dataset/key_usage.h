// KeyUsage: the 24 bits of an entry that record how recently (LRU) or how often (LFU) its key is used.
//
//   LRU   seconds of the wall clock, modulo 2^24 (194 days)
//   LFU   16 bits: minutes of the last decay, modulo 2^16 | 8 bits: logarithmic counter
//
// The maxmemory-policy decides which of the two is used, as in Redis. After a change of the policy old bits are
// misinterpreted until the key is used again.
#pragma once

#include <cstdint>

#include "base/random.h"
#include "server/config/settings.h"

namespace respite {

class KeyUsage {
 public:
  KeyUsage(const Settings& settings, Random& random) : settings_(settings), random_(random) {}

  bool IsLfu() const {
    return settings_.maxmemory_policy == EvictionPolicy::kAllKeysLfu ||
           settings_.maxmemory_policy == EvictionPolicy::kVolatileLfu;
  }
  // Returns the bits for a new key.
  uint32_t Fresh(int64_t now_ms) const { return IsLfu() ? Pack(now_ms, kFreshCounter) : Seconds(now_ms); }
  // Returns the bits for a key that is used now and had the bits `old`.
  uint32_t Used(uint32_t old, int64_t now_ms) const { return IsLfu() ? UsedLfu(old, now_ms) : Seconds(now_ms); }

  // OfIdle returns the bits for a key with this idle time (requires !IsLfu()). OfFrequency returns the bits for this
  // frequency (requires IsLfu()).
  static uint32_t OfIdle(int64_t idle_seconds, int64_t now_ms) {
    return (Seconds(now_ms) - static_cast<uint32_t>(idle_seconds)) & kMask;
  }
  static uint32_t OfFrequency(uint32_t counter, int64_t now_ms) { return Pack(now_ms, counter); }

  // Returns the seconds since the key was last used. Requires: !IsLfu().
  static int64_t IdleSeconds(uint32_t bits, int64_t now_ms) { return (Seconds(now_ms) - bits) & kMask; }
  // Returns the minutes since the last decay, modulo 2^16. Requires: IsLfu().
  static uint32_t IdleMinutes(uint32_t bits, int64_t now_ms) { return (Minutes(now_ms) - (bits >> 8)) & 0xffff; }
  // Returns the counter after the decay that is due. Requires: IsLfu().
  uint32_t Frequency(uint32_t bits, int64_t now_ms) const;

 private:
  static constexpr uint32_t kMask = 0xffffff;
  static constexpr uint32_t kFreshCounter = 5;  // Redis: LFU_INIT_VAL, so that a new key is not evicted immediately

  static uint32_t Seconds(int64_t now_ms) { return static_cast<uint32_t>(now_ms / 1000) & kMask; }
  static uint32_t Minutes(int64_t now_ms) { return static_cast<uint32_t>(now_ms / 60000) & 0xffff; }
  static uint32_t Pack(int64_t now_ms, uint32_t counter) { return (Minutes(now_ms) << 8) | counter; }
  uint32_t UsedLfu(uint32_t old, int64_t now_ms) const;

  const Settings& settings_;
  Random& random_;
};

}  // namespace respite
