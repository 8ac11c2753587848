// Eviction: keeps memory within `maxmemory` by removing keys, as `maxmemory-policy` says.
//
//   command ─► BeforeCommand ─ within the limit: two loads and a compare
//                           └─ above: spare blocks go, then keys, for as long as maxmemory-eviction-tenacity allows;
//                              the rest in later Turns, a little in each
//
// The memory that counts is what the allocator handed out, without the buffer of the append-only file and the values
// that wait for the background thread. Each removed key is journaled and announced as a deleted one is.
//
// Nothing is evicted while a file is loaded, in the middle of a late script, or while CLIENT PAUSE holds writes back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/late_bound.h"
#include "server/dataset/eviction_pool.h"
#include "server/dataset/unit.h"

namespace respite {

class BlockPool;
class Clock;
class LazyFree;
class Host;
class KeyRemoval;
class LatencyMonitor;
class MemoryGauge;
class Pace;
class LazyFreeThread;
struct ServerStats;
struct Settings;

class Eviction {
 public:
  struct Parts {
    const Settings& settings;
    const Clock& clock;
    const Pace& pace;
    const LateBound<Host>& host;
    Dataset& data;
    const KeyRemoval& removal;
    const LazyFree& lazy_free;
    const LazyFreeThread& lazy_free_thread;
    const MemoryGauge& memory;
    BlockPool& blocks;
    ServerStats& stats;
    LatencyMonitor& latency;
  };
  explicit Eviction(const Parts& parts);

  // Makes room, if memory is short. Requires: maxmemory is set; no command is running.
  void BeforeCommand();
  // Makes room in the following Turns until memory is within the limit.
  void StartInNextTurn();
  // Memory was above the limit before the running command, and nothing could be evicted: commands that take memory are
  // refused.
  bool LacksMemory() const;
  // Bytes of used memory that `maxmemory` does not count.
  size_t UncountedBytes() const;
  // Sets what returns the bytes of script engines. Redis: `maxmemory` does not count them, and no key must go because
  // of what a script has left for the garbage collector.
  void SetScriptBytes(std::function<size_t()> script_bytes) { script_bytes_ = std::move(script_bytes); }

 private:
  enum class Outcome : uint8_t {
    kWithin,   // the limit
    kRunning,  // above it; the next Turn continues
    kFailed,   // above it, and nothing can be evicted
  };

  Outcome MakeRoom();
  Outcome EvictKeys(size_t excess_bytes);
  void EvictOne(Unit& unit, const EvictionPool::Choice& choice);
  size_t ExcessBytes() const;
  void NoteOutcome(Outcome outcome);

  std::function<size_t()> script_bytes_ = [] { return size_t{0}; };

  const Parts parts_;
  EvictionPool pool_;
  size_t freed_bytes_ = 0;     // by the round that is under way
  bool lacks_memory_ = false;  // as of the last command
  bool posted_ = false;        // the next round waits for its Turn
};

}  // namespace respite
