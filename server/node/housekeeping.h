// Housekeeping: work for all clients at the end of each turn of the event loop, at each tick of the timer, and when a
// timeout expires.
#pragma once

#include <cstdint>
#include <functional>

#include "server/lab/clock_control.h"
#include "server/runtime/timers.h"

namespace respite {

struct Services;

class Housekeeping final : public TimeKeeper {  // a node's work at timer ticks, timeouts and the ends of turns
 public:
  explicit Housekeeping(const Services& services) : services_(services) {}

  // Runs expiry, client limits, statistics and other periodic work, except in a long task and after the shutdown. Must
  // be called TimerFrequency::Hz() times a second.
  void Tick();     // a timer tick: runs expiry, client limits, statistics …
  void EndTurn();  // at the end of each turn: writes the AOF, sends replies …
  // Saves nodes.conf and sends packets on the cluster bus if necessary, writes the append-only file, then sends
  // replies. The other work of EndTurn is not done, because it may change data.
  void EndTurnDuringLongTask();  // during a slow script or load: writes the AOF and sends replies
  void Wake();                   // runs the timeouts that are due, or during a long task asks for Wake in 10 ms

  void PassTime(int64_t elapsed_ms,  // moves the clock in steps with `advance`; between them runs due timeouts
                const std::function<void(int64_t)>& advance) override;
  void OnClockSet(Motion motion) override;  // TEST CLOCK: stops or resumes expiry; the next turn plans Wake again

 private:
  void SampleStats();   // updates rates and peak memory for INFO
  void CheckClients();  // applies idle timeouts and limits to some of the clients
  // Writes the append-only file. Then runs blocked WAITs and WAITAOFs again, if replicas or the disk have confirmed
  // more, or if the append-only file is off.
  bool WriteAof();     // writes this turn's changes to the AOF; false: failed, stops the server, so send no replies
  void Send();         // sends all replies, and as many Pub/Sub messages as fit into a turn
  void RequestWake();  // asks the Host to call Wake when the next timeout is due
  void ContinueInNextTurn();  // frees dropped watched keys; starts another turn if work is left
  void ResumePaused();        // runs the requests that waited for the end of a pause (CLIENT PAUSE, FAILOVER …)
  void ResumeUnblocked();     // runs the requests of clients that no longer wait: blocked commands, MIGRATE …
  void CheckAwaits();         // replies to each TEST AWAIT whose condition is true now, or that has timed out

  const Services& services_;             // all parts of the server
  int64_t wake_at_ms_ = Timers::kNever;  // clock time when Wake will be called; kNever: no call is planned
  uint64_t served_synced_bytes_ = 0;     // AofWriter::SyncedBytes when blocked WAITs and WAITAOFs last ran again
  int64_t last_sample_us_ = 0;           // when SampleStats last ran (real time)
};

}  // namespace respite
