// ActiveExpiry: removes expired keys in the background (Expiry), in short slices. Clients are served between the
// slices.
#pragma once

#include <cstdint>

#include "base/late_bound.h"
#include "server/config/settings.h"
#include "server/dataset/expiry.h"
#include "server/runtime/env.h"
#include "server/runtime/host.h"
#include "server/runtime/latency.h"

namespace respite {

class ActiveExpiry {  // removes expired keys in the background, in short slices between the requests of clients
 public:
  struct Parts {  // the objects that ActiveExpiry uses; its constructor gets them
    const Env& env;
    const LateBound<const KeyRemovalPermission>& removal;  // says whether expired keys may be removed now
    Expiry& expiry;                                        // removes expired keys
  };
  explicit ActiveExpiry(Parts parts) : parts_(parts) {}

  // Begins a round of active expiry and runs its first slice. Does nothing after Sleep, or while keys must not be
  // removed (KeyRemovalPermission). Called at each timer tick, `hz` times per second.
  void StartRound(int hz);               // begins a round of removals, if permitted now; called `hz` times per second
  void Sleep() { is_asleep_ = true; }    // removes no keys until WakeUp: TEST CLOCK has stopped the clock
  void WakeUp() { is_asleep_ = false; }  // after Sleep: removes expired keys again

 private:
  void Continue();            // runs one slice of removals, and schedules the next slice if needed
  void ContinueInNextTurn();  // schedules the next slice for the next iteration of the event loop

  Parts parts_;                   // the objects that the constructor got
  bool is_slice_posted_ = false;  // the next slice is scheduled for a later iteration of the event loop
  bool is_asleep_ = false;        // no keys are removed, because Sleep was called
};

}  // namespace respite
