#include "server/clients/pause.h"

#include <algorithm>

namespace respite {

void Pause::Start(Scope scope, int64_t until_ms, int64_t now_ms) {
  scope_ = std::max(scope_, scope);
  until_ms_ = std::max(until_ms_, until_ms);
  if (until_ms_ <= now_ms) End();
}

std::string_view Pause::Reason() const {
  if (scope_ != Scope::kNone) return "client_pause";
  if ((holders_ & kShutdown) != 0) return "shutdown_in_progress";
  return holders_ != 0 ? "failover_in_progress" : "none";
}

}  // namespace respite
