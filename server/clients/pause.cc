#include "server/clients/pause.h"

#include <algorithm>

#include "server/config/settings.h"
#include "server/runtime/server_phase.h"

namespace respite {

void Pause::Start(Scope scope, int64_t until_ms, int64_t now_ms) {
  scope_ = std::max(scope_, scope);
  until_ms_ = std::max(until_ms_, until_ms);
  if (until_ms_ <= now_ms) End();
}

std::string_view Pause::Reason() const {
  if (scope_ != Scope::kNone) return "client_pause";
  if ((pausing_owners_ & kShutdown) != 0) return "shutdown_in_progress";
  return pausing_owners_ != 0 ? "failover_in_progress" : "none";
}

KeyRemovalPermission::Answer KeyRemovalRule::Now() const {
  if (parts_.env.phase.IsInLongTask() || parts_.env.phase.load() != ServerPhase::Load::kNone) return Answer::kLater;
  const bool is_followers =
      parts_.role.is_replica && (parts_.cause == Cause::kExpiry || parts_.env.settings.replica_ignore_maxmemory);
  if (is_followers) return Answer::kNo;
  const bool imports = parts_.env.settings.import_mode && !parts_.role.is_replica;
  if (imports || parts_.pause.IsOn() || parts_.env.phase.HasStopped()) return Answer::kNo;
  return parts_.role.is_replica ? Answer::kYesHere : Answer::kYes;
}

}  // namespace respite
