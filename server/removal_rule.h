// RemovalRule: keys go by themselves unless clients are paused, somebody is in the middle of something, or the server
// stops.
#pragma once

#include "server/key_removal.h"
#include "server/mid_turn.h"
#include "server/pause.h"
#include "server/storage/shutdown.h"

namespace respite {

class RemovalRule final : public KeyRemoval {
 public:
  struct Parts {
    const MidTurn& mid_turn;
    const Pause& pause;
    const Shutdown& shutdown;
  };
  explicit RemovalRule(Parts parts) : parts_(parts) {}

  Answer Now() const override {
    if (parts_.mid_turn.Is()) return Answer::kLater;
    return parts_.pause.IsOn() || parts_.shutdown.Done() ? Answer::kNo : Answer::kYes;
  }

 private:
  const Parts parts_;
};

}  // namespace respite
