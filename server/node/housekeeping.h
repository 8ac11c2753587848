// Housekeeping: work for all clients at the end of each turn, at each tick of the timer, and when a timeout expires.
#pragma once

#include <cstdint>
#include <functional>

#include "server/lab/clock_control.h"
#include "server/runtime/timers.h"

namespace respite {

struct Services;

class Housekeeping final : public TimeKeeper {  // periodic work, and work for all clients at the end of a turn
 public:
  explicit Housekeeping(const Services& services) : services_(services) {}

  // Runs expiry, client limits, statistics and other periodic work. Must be called TimerFrequency::Hz() times a second.
  void Tick();
  void EndTurn();  // writes the append-only file, then sends replies. Called at the end of each event loop turn
  // Writes the journal and sends replies for clients that were served in the middle of a turn. Does none of the other
  // work of EndTurn, since it may change data.
  void EndTurnDuringLongTask();  // sends replies to clients that were served in the middle of a turn
  void Wake();                   // runs the timeouts that are due. Called at the time that was passed to Host::WakeAt

  void PassTime(int64_t elapsed_ms, const std::function<void(int64_t)>& advance) override;  // TEST CLOCK
  void OnClockChanged(Motion motion) override;  // computes the next wake-up again

 private:
  void SampleStats();   // updates rates and peak memory for INFO
  void CheckClients();  // applies timeouts and memory limits to a share of the clients
  bool WriteJournal();  // writes this turn's propagated commands; false: that failed, and no reply may be sent
  // Sends all replies, and as many messages as one turn may send.
  void Send();
  void RequestWake();         // requests a call of Wake when the next timeout is due
  void ContinueInNextTurn();  // starts another turn if work remains that takes many turns
  void ResumePaused();        // runs the requests that waited for the end of CLIENT PAUSE
  void ResumeUnblocked();     // continues clients whose blocking command has ended
  void CheckAwaits();         // unblocks clients whose TEST AWAIT condition is met

  const Services& services_;
  int64_t wake_at_ms_ = Timers::kNever;  // the time last passed to Host::WakeAt
  uint64_t synced_seen_ = 0;             // AofWriter::SyncedBytes when clients blocked on it were last served
  int64_t last_sample_us_ = 0;           // when SampleStats last ran
};

}  // namespace respite
