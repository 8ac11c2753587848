// Eviction: keeps memory within `maxmemory` by removing keys according to `maxmemory-policy`.
//
//   command ─► FreeMemoryBeforeCommand ─ below the limit: does almost nothing
//                           └─ above the limit: frees spare blocks, then evicts keys for as long as
//                              maxmemory-eviction-tenacity allows; continues in later Turns (iterations of the
//                              event loop), a little in each
//
// The limit applies to the memory in use by the allocator. Not counted are the buffer of the append-only file, output
// for slow replicas, script engines, and values that wait for the background thread. An evicted key is propagated as
// DEL or UNLINK, and causes the keyspace event "evicted".
//
// Keys are not evicted while a file is loaded, in the middle of a slow script, while clients or writes are paused, or
// while import-mode is on. A replica evicts no keys, unless replica-ignore-maxmemory is `no`.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/late_bound.h"
#include "server/dataset/eviction_pool.h"
#include "server/dataset/unit.h"
#include "server/runtime/env.h"

namespace respite {

class BlockPool;
class LazyFree;
class KeyRemovalPermission;
class MemoryGauge;
class LazyFreeThread;

class Eviction {  // keeps memory within maxmemory by removing keys
 public:
  struct Parts {  // the objects that Eviction uses; its constructor gets them
    const Env& env;
    Dataset& data;
    const LateBound<const KeyRemovalPermission>& eviction_rule;  // says whether keys may be evicted now
    const LazyFree& lazy_free;                                   // tells how many bytes evictions have freed
    const MemoryGauge& memory;                                   // measures used memory
    BlockPool& blocks;                                           // spare memory, freed before keys are evicted
  };
  explicit Eviction(const Parts& parts);

  void FreeMemoryBeforeCommand();  // evicts keys if maxmemory is exceeded; called before each command
  void StartInNextTurn();          // frees memory in the next iterations of the event loop, a little in each
  // Returns whether more than maxmemory was used before the running command, and eviction could not free enough. If so,
  // commands that use memory are refused.
  bool LacksMemory() const;       // true: before this command, maxmemory was exceeded, and eviction did not free enough
  size_t UncountedBytes() const;  // bytes in use that do not count for maxmemory: AOF and replica buffers, scripts …
  // Sets a function that returns the memory of script engines in bytes. As in Redis, `maxmemory` does not count that
  // memory, because uncollected garbage of scripts must not cause evictions.
  void SetScriptBytes(std::function<size_t()> script_bytes) {  // sets how to get the bytes of script engines
    uncounted_script_bytes_ = std::move(script_bytes);
  }

 private:
  enum class Outcome : uint8_t {
    kWithin,   // at most maxmemory is used, or no keys may be evicted now
    kRunning,  // more than maxmemory is used; the next Turn continues
    kFailed,   // more than maxmemory is used, and no key can be evicted
  };

  Outcome FreeMemory();                    // frees spare blocks, then evicts keys
  Outcome EvictKeys(size_t excess_bytes);  // evicts until this number of bytes is freed, or time is up
  void EvictOne(Unit& unit, const EvictionPool::Choice& choice);  // removes the chosen key
  size_t ExcessBytes() const;                                     // bytes by which the counted memory exceeds maxmemory
  void NoteOutcome(Outcome outcome);                              // measures for INFO how long maxmemory is exceeded

  std::function<size_t()> uncounted_script_bytes_ = [] { return size_t{0}; };  // returns the bytes of script engines

  const Parts parts_;             // the objects that the constructor got
  EvictionPool pool_;             // finds the keys to evict
  size_t freed_bytes_ = 0;        // bytes of removed values that the current round has freed
  bool lacks_memory_ = false;     // maxmemory was exceeded, and FreeMemoryBeforeCommand found no key to evict
  bool is_round_posted_ = false;  // a round is scheduled for a later iteration of the event loop
};

}  // namespace respite
