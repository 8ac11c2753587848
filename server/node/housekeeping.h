// Housekeeping: work for all clients at the end of each turn, at each tick of the timer, and when a timeout expires.
#pragma once

#include <cstdint>
#include <functional>

#include "server/lab/clock_control.h"
#include "server/runtime/timers.h"

namespace respite {

struct Services;

class Housekeeping final : public TimeKeeper {
 public:
  explicit Housekeeping(const Services& services) : services_(services) {}

  // Runs expiry, client limits, statistics and other periodic work. Must be called TimerFrequency::Hz() times a second.
  void Tick();
  // Writes the journal, then sends replies. Called at the end of each turn.
  void EndTurn();
  // Writes the journal and sends replies for clients that were served in the middle of a turn. Does none of the other
  // work of EndTurn, since it may change data.
  void EndTurnDuringLongTask();
  // Runs the timeouts that are due. Called at the time that was passed to Host::WakeAt.
  void Wake();

  // TimeKeeper. Runs each timeout, pause and key deadline within the elapsed time in its own turn. Then the timer ticks
  // once. Cost: O(n log n) for n deadlines in that time.
  void PassTime(int64_t elapsed_ms, const std::function<void(int64_t)>& advance) override;
  void OnClockChanged(Motion motion) override;

 private:
  void SampleStats();
  void CheckClients();
  // Writes the propagated commands of this turn. Returns false if that failed: then no reply may be sent, and the
  // server stops.
  bool Journaled();
  // Sends all replies, and as many messages as one turn may send.
  void Send();
  void AskForWake();
  void ContinueInNextTurn();
  void ResumePaused();
  void ResumeUnblocked();
  void EndAwaits();

  const Services& services_;
  int64_t wake_at_ms_ = Timers::kNever;  // the time last passed to Host::WakeAt
  uint64_t synced_seen_ = 0;             // AofWriter::Synced when clients blocked on it were last served
  int64_t last_sample_us_ = 0;
};

}  // namespace respite
