// Housekeeping: what is done for all clients together: at the end of each Turn, with each tick of the timer, and when
// somebody's wait is over.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/pace.h"
#include "server/clients/waiter.h"
#include "server/dataset/host.h"

namespace respite {

class ActiveExpiry;
class AppendOnlyFile;
class BlockPool;
class ClientLimits;
class ClientMemory;
class Clients;
struct DebugSwitches;
class Executor;
class FunctionLibraries;
class MemoryGauge;
class Phase;
class MigrateLinks;
class Nursery;
class Pause;
class ScriptCache;
class Pulse;
struct ServerStats;
class Shutdown;
class Snapshots;
class Tracking;
class Waiting;
class WatchedKeys;

class Housekeeping {
 public:
  struct Parts {
    const Clock& clock;
    const Pace& pace;
    const HostPort& host;
    const Phase& phase;
    const DebugSwitches& debug;
    ServerStats& stats;
    MemoryGauge& memory;
    BlockPool& blocks;
    Clients& clients;
    Pulse& pulse;
    ClientLimits& limits;
    ClientMemory& client_memory;
    Pause& pause;
    WatchedKeys& watched_keys;
    Waiting& waiting;
    Tracking& tracking;
    Executor& executor;
    ActiveExpiry& expiry;
    Nursery& nursery;
    AppendOnlyFile& aof;
    Snapshots& snapshots;
    Shutdown& shutdown;
    MigrateLinks& migrate_links;
    ScriptCache& script_cache;
    FunctionLibraries& function_libraries;
  };
  explicit Housekeeping(const Parts& parts) : parts_(parts) {}

  // The timer: expiry, client limits, statistics. To be called Pulse::Hz() times a second.
  void Tick();
  // Called at the end of each Turn: journal first, then replies.
  void EndTurn();
  // The same for clients that were served in the middle of a Turn: replies only, since they may change nothing.
  void EndTurnBesides();
  // What a Host was asked for by WakeAt.
  void Wake();

 private:
  void SampleStats();
  void CheckClients();
  // Writes what happened in this Turn. False: that failed, so no reply may be sent, and the server ends.
  bool Journaled();
  // All replies, and what a Turn gives to messages.
  void Send();
  void AskForWake();
  void GoOnInNextTurn();
  void ResumePostponed();
  void ResumeContinued();

  const Parts parts_;
  int64_t wake_at_ms_ = Waiter::kNoDeadline;  // what the Host was asked for
  uint64_t synced_seen_ = 0;                  // AofWriter::Synced, by those who wait for it
  int64_t last_sample_us_ = 0;
};

}  // namespace respite
