// ActiveExpiry: runs the rounds of Expiry in slices, between which clients are served.
#pragma once

#include <cstdint>

#include "base/late_bound.h"
#include "server/config/settings.h"
#include "server/dataset/expiry.h"
#include "server/dataset/key_removal.h"
#include "server/runtime/host.h"
#include "server/runtime/latency.h"

namespace respite {

class ActiveExpiry {
 public:
  struct Parts {
    const Settings& settings;
    const KeyRemoval& removal;
    const LateBound<Host>& host;
    LatencyMonitor& latency;
    Expiry& expiry;
  };
  explicit ActiveExpiry(Parts parts) : parts_(parts) {}

  // Called at each tick of the timer, `hz` times a second: begins a round, unless KeyRemoval forbids it now.
  void StartRound(int hz);
  // Asleep it removes nothing: the clock stands still, and whoever moves it removes what expires.
  void Sleep() { sleeps_ = true; }
  void WakeUp() { sleeps_ = false; }

 private:
  void Continue();
  void ContinueInNextTurn();

  Parts parts_;
  bool posted_ = false;  // the next slice waits for its Turn
  bool sleeps_ = false;
};

}  // namespace respite
