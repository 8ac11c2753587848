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

class ActiveExpiry {
 public:
  struct Parts {
    const Env& env;
    const LateBound<const KeyRemoval>& removal;
    Expiry& expiry;
  };
  explicit ActiveExpiry(Parts parts) : parts_(parts) {}

  // Called at each timer tick, `hz` times per second. Begins a round, unless KeyRemoval forbids it now.
  void StartRound(int hz);
  // Stops the removal of keys until WakeUp, because the clock is stopped, and ExactExpiry removes keys when the clock
  // is moved.
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
