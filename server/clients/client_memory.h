// ClientMemory: closes the largest clients when all clients together use more memory than `maxmemory-clients`.
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
  static constexpr size_t kMinLimitBytes = 128 * 1024;  // lowest limit: below it, no client could raise it again

  struct Parts {  // the objects that ClientMemory uses; its constructor gets them
    const Env& env;
    Clients& clients;  // all sessions
  };
  explicit ClientMemory(const Parts& parts) : parts_(parts) {}

  // Applies maxmemory-clients, which may be a percentage of maxmemory. Cost: O(clients) when it is turned on or off.
  void ApplyConfiguredLimit();                                  // applies maxmemory-clients as it is now
  bool IsOn() const { return limit_bytes_ != kNoLimit; }        // maxmemory-clients is set
  bool IsOver() const { return total_bytes_ >= limit_bytes_; }  // all clients together reach maxmemory-clients
  size_t TotalBytes() const { return total_bytes_; }            // of all clients except replicas; 0: not measured

  // Measures the memory of the session again. `running_bytes` is the size of a request that is about to run and that
  // the session no longer holds. Requires: IsOn(). Cost: a few ns.
  void Remeasure(Session& session, size_t running_bytes = 0);  // measures the session again
  void Forget(Session& session);                               // subtracts its memory, because it closes
  // Closes the largest clients until the others fit into maxmemory-clients or none of them may be closed, and frees
  // their buffers immediately. `running` (may be null) is the client that is about to run a request: it may be closed,
  // but keeps its arguments. Requires: IsOver().
  void EvictClients(const Session* running);  // closes the largest clients until the others fit

 private:
  static constexpr size_t kNoLimit = SIZE_MAX;                      // maxmemory-clients is off
  static constexpr int kClassesPerDoubling = 8;                     // each size class is 2^(1/8) times the former
  static constexpr int kSizeClassCount = 64 * kClassesPerDoubling;  // number of classes, for all sizes up to 2^64

  static int MemoryClassOf(size_t bytes);                 // index in classes_ for this memory
  size_t ConfiguredLimitBytes() const;                    // the limit that maxmemory-clients and maxmemory set
  void AddToSizeClass(Session& session, int size_class);  // makes it known to FindLargestSession
  void RemoveFromSizeClass(Session& session);             // hides it from FindLargestSession
  Session* FindLargestSession();                          // null if no client may be closed
  void Evict(Session& session, const Session* running);  // closes `session`; if it is `running`, it keeps its arguments
  void WarnThatNoClientMayBeClosed();                    // once; Redis repeats this warning before each command

  const Parts parts_;                                           // the objects that the constructor got
  size_t limit_bytes_ = kNoLimit;                               // the limit that maxmemory-clients sets
  size_t total_bytes_ = 0;                                      // memory of all clients except replicas; 0 while off
  std::array<std::vector<Session*>, kSizeClassCount> classes_;  // sessions by size class
  int highest_class_ = 0;                                       // no session is in a higher class
  bool has_warned_ = false;  // has logged that no client may be closed; reset when one was closed
};

}  // namespace respite
