// KeyUsage: the 24 bits of an entry that record how recently (LRU) or how often (LFU) its key is used.
//
//   LRU   seconds of the wall clock, modulo 2^24 (194 days)
//   LRM   like LRU, but only modifications of the key count, not reads
//   LFU   16 bits: minutes of the wall clock at the last use, modulo 2^16 | 8 bits: logarithmic counter
//
// As in Redis, maxmemory-policy decides which of the formats is used. After a change of this policy, old bits are
// misinterpreted until the key is used again.
#pragma once

#include <cstdint>

#include "base/random.h"
#include "server/config/settings.h"

namespace respite {

class KeyUsage {  // computes the LRU or LFU bits of an entry
 public:
  KeyUsage(const Settings& settings, Random& random) : settings_(settings), random_(random) {}

  bool IsLfu() const {  // maxmemory-policy is an LFU policy
    return settings_.maxmemory_policy == EvictionPolicy::kAllKeysLfu ||
           settings_.maxmemory_policy == EvictionPolicy::kVolatileLfu;
  }
  bool IsLrm() const {  // maxmemory-policy evicts the key that was not modified for the longest time
    return settings_.maxmemory_policy == EvictionPolicy::kAllKeysLrm ||
           settings_.maxmemory_policy == EvictionPolicy::kVolatileLrm;
  }
  uint32_t BitsForNewKey(int64_t now_ms) const {  // LRU or LFU bits of a new key
    return IsLfu() ? Pack(now_ms, kInitialLfuCounter) : LruClock(now_ms);
  }
  uint32_t BitsAfterUse(uint32_t old_bits, int64_t now_ms) const {  // new LRU or LFU bits of a key that is used now
    if (IsLrm()) return old_bits;                                   // only modifications count
    return IsLfu() ? LfuBitsAfterUse(old_bits, now_ms) : LruClock(now_ms);
  }

  // BitsForIdleTime returns the bits for a key with this idle time (requires !IsLfu()). BitsForFrequency returns the
  // bits for this frequency (requires IsLfu()).
  static uint32_t BitsForIdleTime(int64_t idle_seconds, int64_t now_ms) {  // LRU bits of a key idle for this time
    return (LruClock(now_ms) - static_cast<uint32_t>(idle_seconds)) & kMask;
  }
  static uint32_t BitsForFrequency(uint32_t counter, int64_t now_ms) {  // LFU bits of a key with this counter
    return Pack(now_ms, counter);
  }

  static int64_t IdleSeconds(uint32_t bits, int64_t now_ms) {  // seconds since the last use; requires !IsLfu()
    return (LruClock(now_ms) - bits) & kMask;
  }
  static uint32_t IdleMinutes(uint32_t bits, int64_t now_ms) {  // minutes since the last use, modulo 2^16 (LFU)
    return (LfuClock(now_ms) - (bits >> 8)) & 0xffff;
  }
  uint32_t Frequency(uint32_t bits, int64_t now_ms) const;  // the LFU counter in `bits`, after its decay up to now_ms

 private:
  static constexpr uint32_t kMask = 0xffffff;        // the 24 usage bits that an entry stores
  static constexpr uint32_t kInitialLfuCounter = 5;  // Redis: LFU_INIT_VAL; a new key is not evicted immediately

  static uint32_t LruClock(int64_t now_ms) { return static_cast<uint32_t>(now_ms / 1000) & kMask; }     // in seconds
  static uint32_t LfuClock(int64_t now_ms) { return static_cast<uint32_t>(now_ms / 60000) & 0xffff; }   // in minutes
  static uint32_t Pack(int64_t now_ms, uint32_t counter) { return (LfuClock(now_ms) << 8) | counter; }  // the LFU bits
  // Returns the new LFU bits: the counter decays with time, and this use increments the counter with some probability.
  uint32_t LfuBitsAfterUse(uint32_t old_bits, int64_t now_ms) const;  // new LFU bits of a key that is used now

  const Settings& settings_;  // values of the directives
  Random& random_;            // decides by chance whether an LFU counter grows
};

}  // namespace respite
