// ClientMemory: keeps the memory of all clients together within `maxmemory-clients` by closing the largest of them.
//
// While the limit is set the sum is kept up to date: each session is measured when its input was run, when its output
// was flushed, and by the timer. Sessions stand in classes by their size, eight for each doubling, so that the largest
// is found at once: it is so within 12 %. Without a limit nothing is measured; each place costs a compare.
//
// Clients that said CLIENT NO-EVICT ON count, but are never closed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/clients/session.h"

namespace respite {

class Clients;
class Clock;
class Logger;
class Phase;
struct ServerStats;
struct Settings;

class ClientMemory {
 public:
  // A limit below this would leave no client to raise it.
  static constexpr size_t kLeastLimitBytes = 128 * 1024;

  struct Parts {
    const Settings& settings;
    const Clock& clock;
    Logger& log;
    Clients& clients;
    Phase& phase;
    ServerStats& stats;
  };
  explicit ClientMemory(const Parts& parts) : parts_(parts) {}

  // Takes over maxmemory-clients, and maxmemory if the limit is a share of it. Cost: O(clients) when it begins or ends
  // to hold.
  void AdoptLimit();
  bool IsOn() const { return limit_bytes_ != kNoLimit; }
  bool IsOver() const { return total_bytes_ >= limit_bytes_; }
  // All measured sessions together; 0 without a limit.
  size_t TotalBytes() const { return total_bytes_; }

  // Measures a session anew; `running_bytes` are of a request that is about to run, and no longer the session's own.
  // Requires: IsOn(). Cost: some ns.
  void Update(Session& session, size_t running_bytes = 0);
  // The session is closed.
  void Forget(Session& session);
  // Closes the largest clients until the others are within the limit, and frees their buffers at once. `running` (null:
  // nobody) is the client whose request is about to run: it goes as others do, but its words stay. Requires: IsOver().
  void EvictClients(const Session* running);

 private:
  static constexpr size_t kNoLimit = SIZE_MAX;
  static constexpr int kClassesPerDoubling = 8;
  static constexpr int kClasses = 64 * kClassesPerDoubling;

  static int ClassOf(size_t bytes);
  size_t WantedLimit() const;
  void Enter(Session& session, int size_class);
  void Leave(Session& session);
  // Null when no client may be closed.
  Session* Largest();
  void Evict(Session& session, const Session* running);
  // Redis says so before each command.
  void WarnOfNoneToClose();

  const Parts parts_;
  size_t limit_bytes_ = kNoLimit;
  size_t total_bytes_ = 0;
  std::array<std::vector<Session*>, kClasses> classes_;
  int highest_class_ = 0;    // no session stands in one above
  bool has_warned_ = false;  // since a client was last closed
};

}  // namespace respite
