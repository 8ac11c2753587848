// ClientMemory: closes the largest clients when all clients together use as much memory as `maxmemory-clients`.
//
// While maxmemory-clients is set, the total is kept up to date: a session is measured after its input was run, after
// its output was sent, and by the timer. Sessions are grouped by size into classes, eight for each doubling of the
// size. So a session of the highest class is found in O(1); it is at most 12 % smaller than the largest one. While
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

class ClientMemory {  // closes the largest clients when all together reach maxmemory-clients
 public:
  static constexpr size_t kMinLimitBytes = 128 * 1024;  // minimum of the limit; lower values are raised to it

  struct Parts {  // the objects that ClientMemory uses; its constructor gets them
    const Env& env;
    Clients& clients;  // the sessions of all clients
  };
  explicit ClientMemory(const Parts& parts) : parts_(parts) {}

  // Takes over the value of maxmemory-clients, which may be a percentage of maxmemory. Cost: O(clients) when the limit
  // is turned on or off.
  void ApplyConfiguredLimit();                                          // applies the directive maxmemory-clients
  bool IsOn() const { return limit_bytes_ != kNoLimit; }                // true: maxmemory-clients is set
  bool IsLimitReached() const { return total_bytes_ >= limit_bytes_; }  // true: all clients together reach the limit
  size_t TotalBytes() const { return total_bytes_; }  // memory of all clients except replicas and primary; 0 while off

  // Measures the memory of the session again and updates the total. `request_bytes` is the size of a request that is
  // about to run and that the session no longer stores. Requires: IsOn(). Cost: a few ns.
  void Remeasure(Session& session, size_t request_bytes = 0);  // measures the session's memory, updates the total
  void Forget(Session& session);  // subtracts the memory of a session that closes from the total
  // Closes the largest clients until the total is below maxmemory-clients or no client is left that may be closed.
  // Frees their buffers immediately, except those of a client whose own slow script or load (TEST LOAD …) runs.
  // `running` (may be null) is the client that is about to run a request: it may be closed, but keeps its arguments.
  // Requires: IsLimitReached().
  void EvictClients(const Session* running);  // closes the largest clients until the total is below the limit

 private:
  static constexpr size_t kNoLimit = SIZE_MAX;   // limit_bytes_ while maxmemory-clients is off
  static constexpr int kClassesPerDoubling = 8;  // size classes for each doubling of a session's size
  static constexpr int kSizeClassCount = 64 * kClassesPerDoubling;  // number of size classes, for all sizes up to 2^64

  static int SizeClassIndexOf(size_t bytes);  // index in classes_ for a session of this size
  size_t ConfiguredLimitBytes() const;        // the limit in bytes that maxmemory-clients and maxmemory yield
  void AddToSizeClass(Session& session, int size_class);  // puts the session into classes_[size_class]
  void RemoveFromSizeClass(Session& session);             // removes the session from classes_
  // Returns a session that is at most 12 % smaller than the largest one, or null if there is none.
  Session* FindSessionToEvict();  // one of the largest sessions (highest size class in use); null: none may be closed
  void Evict(Session& session, const Session* running);  // closes and frees; keeps the input of `running`
  void WarnThatNoClientMayBeClosed();                    // logs it once, until a client was closed again

  const Parts parts_;              // the objects that the constructor got
  size_t limit_bytes_ = kNoLimit;  // limit for all clients in bytes, from maxmemory-clients
  size_t total_bytes_ = 0;         // memory of all clients except replicas and primary; 0 while off
  std::array<std::vector<Session*>, kSizeClassCount> classes_;  // sessions that may be closed, by size class
  int highest_class_ = 0;                                       // all classes above this one are empty
  bool has_warned_ = false;  // true: logged that no client may be closed; false again after closing one
};

}  // namespace respite
