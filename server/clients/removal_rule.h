// RemovalRule: decides whether keys may be expired or evicted now. They may not while clients are paused, data is
// imported (import-mode), a script or loading is in progress, or the server has stopped.
#pragma once

#include "server/clients/pause.h"
#include "server/clients/role.h"
#include "server/dataset/key_removal.h"
#include "server/runtime/env.h"
#include "server/runtime/server_phase.h"

namespace respite {

class RemovalRule final : public KeyRemoval {
 public:
  // kExpiry: a replica leaves this to its primary. kEviction: a replica may evict keys (replica-ignore-maxmemory no).
  enum class Cause : uint8_t { kExpiry, kEviction };
  struct Parts {
    const Env& env;
    const Pause& pause;
    const Role& role;
    Cause cause;
  };
  explicit RemovalRule(Parts parts) : parts_(parts) {}

  Answer Now() const override;

 private:
  const Parts parts_;
};

inline KeyRemoval::Answer RemovalRule::Now() const {
  if (parts_.env.phase.IsMidTurn() || parts_.env.phase.load() != ServerPhase::Load::kNone) return Answer::kLater;
  const bool is_followers =
      parts_.role.is_replica && (parts_.cause == Cause::kExpiry || parts_.env.settings.replica_ignore_maxmemory);
  if (is_followers) return Answer::kNo;
  const bool imports = parts_.env.settings.import_mode && !parts_.role.is_replica;
  return imports || parts_.pause.IsOn() || parts_.env.phase.HasStopped() ? Answer::kNo : Answer::kYes;
}

}  // namespace respite
