// ClientMemory: closes the largest clients when all clients together use as much memory as `maxmemory-clients`.
//
// While maxmemory-clients is set, the sum is kept up to date: a session is measured after its input was run, after its
// output was flushed, and by the timer. Sessions are grouped by size into classes, eight for each doubling of the size.
// So a session of the highest class is found in O(1); it is at most 12 % smaller than the largest one. While
// maxmemory-clients is 0, sessions are not measured; each call costs a comparison.
//
// Clients that sent CLIENT NO-EVICT ON are counted but never closed. Replicas and the primary are not counted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/runtime/env.h"

namespace respite {

class Clients;
struct Session;

class ClientMemory {  // closes the largest clients above maxmemory-clients
 public:
  static constexpr size_t kMinLimitBytes = 128 * 1024;  // lowest limit: with less, no client could raise it again

  struct Parts {  // the objects that ClientMemory uses; its constructor gets them
    const Env& env;
    Clients& clients;  // all sessions
  };
  explicit ClientMemory(const Parts& parts) : parts_(parts) {}

  // Takes over the value of maxmemory-clients, which may be a percentage of maxmemory. Cost: O(clients) when the limit
  // is turned on or off.
  void ApplyConfiguredLimit();                                  // takes over the value of maxmemory-clients
  bool IsOn() const { return limit_bytes_ != kNoLimit; }        // maxmemory-clients is set
  bool IsOver() const { return total_bytes_ >= limit_bytes_; }  // true: all clients together reach maxmemory-clients
  size_t TotalBytes() const { return total_bytes_; }  // memory of all clients except replicas and primary; 0 while off

  // Measures the memory of the session again and updates the total. `running_bytes` is the size of a request that is
  // about to run and that the session no longer stores. Requires: IsOn(). Cost: a few ns.
  void Remeasure(Session& session, size_t running_bytes = 0);  // measures its memory again, updates the total
  void Forget(Session& session);  // the session closes: subtracts its memory from the total
  // Closes the largest clients until the total is below maxmemory-clients or no client is left that may be closed.
  // Frees their buffers immediately. `running` (may be null) is the client that is about to run a request: it may be
  // closed, but keeps its arguments. Requires: IsOver().
  void EvictClients(const Session* running);  // closes the largest clients until the total is below the limit

 private:
  static constexpr size_t kNoLimit = SIZE_MAX;   // value of limit_bytes_ while maxmemory-clients is off
  static constexpr int kClassesPerDoubling = 8;  // size classes for each doubling of the size
  static constexpr int kSizeClassCount = 64 * kClassesPerDoubling;  // number of classes, for all sizes up to 2^64

  static int MemoryClassOf(size_t bytes);                 // index in classes_ for a session of this size
  size_t ConfiguredLimitBytes() const;                    // the limit by maxmemory-clients and maxmemory
  void AddToSizeClass(Session& session, int size_class);  // adds it to classes_, where FindLargestSession searches
  void RemoveFromSizeClass(Session& session);             // removes it from classes_
  Session* FindLargestSession();                          // returns about the largest one; null if none may be closed
  void Evict(Session& session, const Session* running);  // closes `session`; if it is `running`, it keeps its arguments
  void WarnThatNoClientMayBeClosed();                    // logs it once; Redis logs it before each command

  const Parts parts_;              // the objects that the constructor got
  size_t limit_bytes_ = kNoLimit;  // the limit that maxmemory-clients sets, in bytes
  size_t total_bytes_ = 0;         // memory of all clients except replicas and primary; 0 while off
  std::array<std::vector<Session*>, kSizeClassCount> classes_;  // sessions that may be closed, by size class
  int highest_class_ = 0;                                       // no session is in a higher class
  bool has_warned_ = false;  // has logged that no client may be closed; reset when one was closed
};

}  // namespace respite
