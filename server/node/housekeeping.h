// Housekeeping: work for all clients at the end of each turn of the event loop, at each tick of the timer, and when a
// timeout expires.
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
  void EndTurn();  // called at the end of each turn: writes the append-only file, then sends replies
  // Writes the append-only file, then sends replies. Leaves out the other work of EndTurn, since that work may change
  // data.
  void EndTurnDuringLongTask();  // replies to clients that were served in the middle of a turn
  void Wake();                   // runs the timeouts that are due; called at the time passed to Host::WakeAt

  void PassTime(int64_t elapsed_ms, const std::function<void(int64_t)>& advance) override;  // advances a test's clock
  void OnClockChanged(Motion motion) override;  // computes again when to wake up

 private:
  void SampleStats();   // updates rates and peak memory for INFO
  void CheckClients();  // applies timeouts and memory limits to a share of the clients
  bool WriteJournal();  // writes this turn's propagated commands; false: that failed, and no reply may be sent
  // Sends all replies, and as many Pub/Sub messages as one turn may send.
  void Send();
  void RequestWake();         // requests a call of Wake when the next timeout is due
  void ContinueInNextTurn();  // starts another turn if work remains that takes many turns
  void ResumePaused();        // runs the requests that waited for the end of CLIENT PAUSE
  void ResumeUnblocked();     // continues clients whose blocking command has ended
  void CheckAwaits();         // ends TEST AWAIT of clients whose condition is met

  const Services& services_;             // all parts of the server
  int64_t wake_at_ms_ = Timers::kNever;  // monotonic time last passed to Host::WakeAt
  uint64_t served_synced_bytes_ = 0;     // AofWriter::SyncedBytes when blocked WAITAOF requests were last run
  int64_t last_sample_us_ = 0;           // when SampleStats last ran, in real elapsed time
};

}  // namespace respite
