// ClientMemory: closes the largest clients when all clients together use more memory than `maxmemory-clients`.
//
// While maxmemory-clients is set, the sum is kept up to date: a session is measured after its input was run, after its
// output was flushed, and by the timer. Sessions are grouped by size into eight classes per doubling. So the largest
// session is found in O(1), within 12 %. While maxmemory-clients is 0, sessions are not measured; each call costs a
// comparison.
//
// Clients that sent CLIENT NO-EVICT ON are counted but never closed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/runtime/env.h"

namespace respite {

class Clients;
struct Session;

class ClientMemory {
 public:
  // With a lower limit, no client could raise it again.
  static constexpr size_t kLeastLimitBytes = 128 * 1024;

  struct Parts {
    const Env& env;
    Clients& clients;
  };
  explicit ClientMemory(const Parts& parts) : parts_(parts) {}

  // Applies maxmemory-clients, which may be a percentage of maxmemory. Cost: O(clients) when maxmemory-clients is
  // turned on or off.
  void AdoptLimit();
  bool IsOn() const { return limit_bytes_ != kNoLimit; }
  bool IsOver() const { return total_bytes_ >= limit_bytes_; }
  // Returns the memory of all clients; 0 while maxmemory-clients is off, because nothing is measured then.
  size_t TotalBytes() const { return total_bytes_; }

  // Measures a session again. `running_bytes` is the size of a request that is about to run and that the session no
  // longer holds. Requires: IsOn(). Cost: a few ns.
  void Update(Session& session, size_t running_bytes = 0);
  // Subtracts the memory of a session from the sum. Must be called when the session closes.
  void Forget(Session& session);
  // Closes the largest clients until all clients together use less than maxmemory-clients, and frees their buffers
  // immediately. `running` (may be null) is the client that is about to run a request: it may be closed, but keeps its
  // arguments. Requires: IsOver().
  void EvictClients(const Session* running);

 private:
  static constexpr size_t kNoLimit = SIZE_MAX;
  static constexpr int kClassesPerDoubling = 8;
  static constexpr int kClasses = 64 * kClassesPerDoubling;

  static int ClassOf(size_t bytes);
  size_t WantedLimit() const;
  void Enter(Session& session, int size_class);
  void Leave(Session& session);
  // Returns null if no client may be closed.
  Session* Largest();
  void Evict(Session& session, const Session* running);
  // Logs that no client may be closed, once. Redis repeats this warning before each command.
  void WarnOfNoneToClose();

  const Parts parts_;
  size_t limit_bytes_ = kNoLimit;
  size_t total_bytes_ = 0;
  std::array<std::vector<Session*>, kClasses> classes_;
  int highest_class_ = 0;    // no session is in a higher class
  bool has_warned_ = false;  // since the last client was closed
};

}  // namespace respite
