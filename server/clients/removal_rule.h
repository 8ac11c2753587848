// RemovalRule: keys expire or are evicted unless clients are paused, a script or loading is in progress, or the server
// stops.
#pragma once

#include "server/clients/pause.h"
#include "server/clients/phase.h"
#include "server/clients/role.h"
#include "server/dataset/key_removal.h"

namespace respite {

class RemovalRule final : public KeyRemoval {
 public:
  // Why keys go: a replica leaves expiry to its primary, and may evict by itself (replica-ignore-maxmemory no).
  enum class Cause : uint8_t { kExpiry, kEviction };
  struct Parts {
    const Phase& phase;
    const Pause& pause;
    const Role& role;
    const Settings& settings;
    Cause cause;
  };
  explicit RemovalRule(Parts parts) : parts_(parts) {}

  Answer Now() const override {
    if (parts_.phase.IsMidTurn() || parts_.phase.load() != Phase::Load::kNone) return Answer::kLater;
    const bool is_followers =
        parts_.role.is_replica && (parts_.cause == Cause::kExpiry || parts_.settings.replica_ignore_maxmemory);
    if (is_followers) return Answer::kNo;
    return parts_.pause.IsOn() || parts_.phase.HasStopped() ? Answer::kNo : Answer::kYes;
  }

 private:
  const Parts parts_;
};

}  // namespace respite
