// ActiveExpiry: runs the rounds of Expiry in slices; clients are served between the slices.
#pragma once

#include <cstdint>

#include "base/late_bound.h"
#include "server/config/settings.h"
#include "server/dataset/expiry.h"
#include "server/runtime/env.h"
#include "server/runtime/host.h"
#include "server/runtime/latency.h"

namespace respite {

class ActiveExpiry {  // runs the rounds of Expiry in slices; clients are served between the slices
 public:
  struct Parts {  // the objects that this one uses
    const Env& env;
    const LateBound<const KeyRemovalPermission>& removal;  // says whether expired keys may be removed now
    Expiry& expiry;
  };
  explicit ActiveExpiry(Parts parts) : parts_(parts) {}

  // Called at each timer tick, `hz` times per second. Begins a round, unless KeyRemovalPermission forbids it now.
  void StartRound(int hz);            // called at each timer tick, `hz` times per second
  void Sleep() { sleeps_ = true; }    // removes no keys until WakeUp, because the clock is stopped
  void WakeUp() { sleeps_ = false; }  // ends Sleep

 private:
  void Continue();            // runs the next slice of the round
  void ContinueInNextTurn();  // after the clients of this iteration of the event loop

  Parts parts_;          // the objects that this one uses
  bool posted_ = false;  // the next slice waits for its Turn
  bool sleeps_ = false;  // see Sleep
};

}  // namespace respite
