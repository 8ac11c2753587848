// Eviction: keeps memory within `maxmemory` by removing keys, as `maxmemory-policy` says.
//
//   command ─► BeforeCommand ─ within the limit: two loads and a compare
//                           └─ above: spare blocks go, then keys, for as long as maxmemory-eviction-tenacity allows;
//                              the rest in later Turns, a little in each
//
// What counts is what the allocator handed out, less what is on its way out: the buffer of the append-only file, and
// values that wait for the background thread. Each removed key is journaled, and everybody hears of it, as if somebody
// had deleted it.
//
// Nothing is evicted while a file is loaded, in the middle of a late script, or while CLIENT PAUSE holds writes back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "server/eviction_pool.h"
#include "server/unit.h"

namespace respite {

class Server;

class Eviction {
 public:
  explicit Eviction(Server& server);

  // Makes room, if memory is short. Requires: maxmemory is set; no command is running.
  void BeforeCommand();
  // Makes room in the next Turn, and those after it until memory is within the limit.
  void StartInNextTurn();
  // There was no room before the running command, and nothing that could be evicted: what takes memory is refused.
  bool LacksMemory() const;
  // Bytes of used memory that `maxmemory` does not count.
  size_t UncountedBytes() const;

  // Frees what was evicted.
  void Free(EntryPtr entry);

 private:
  enum class Outcome : uint8_t {
    kWithin,   // of the limit
    kRunning,  // above it, and to be continued
    kFailed,   // above it, and nothing can be done
  };

  bool MayEvict() const;
  Outcome MakeRoom();
  Outcome EvictKeys(size_t excess_bytes);
  void EvictOne(Unit& unit, const EvictionPool::Choice& choice);
  size_t ExcessBytes() const;
  // What is used, less what waits for the background thread.
  int64_t HeldBytes() const;
  void NoteFreed(int64_t held_before_bytes);
  void NoteOutcome(Outcome outcome);

  Server& server_;
  EvictionPool pool_;
  size_t freed_bytes_ = 0;     // by the round that is under way
  bool lacks_memory_ = false;  // as of the last command
  bool posted_ = false;        // the next round waits for its Turn
};

}  // namespace respite
