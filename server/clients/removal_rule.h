// RemovalRule: keys expire or are evicted unless clients are paused, a script or loading is in progress, or the server
// stops.
#pragma once

#include "server/clients/pause.h"
#include "server/clients/phase.h"
#include "server/dataset/key_removal.h"

namespace respite {

class RemovalRule final : public KeyRemoval {
 public:
  struct Parts {
    const Phase& phase;
    const Pause& pause;
  };
  explicit RemovalRule(Parts parts) : parts_(parts) {}

  Answer Now() const override {
    if (parts_.phase.IsMidTurn()) return Answer::kLater;
    return parts_.pause.IsOn() || parts_.phase.HasStopped() ? Answer::kNo : Answer::kYes;
  }

 private:
  const Parts parts_;
};

}  // namespace respite
