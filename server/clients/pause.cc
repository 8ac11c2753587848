#include "server/clients/pause.h"

#include <algorithm>

namespace respite {

void Pause::Start(Scope scope, int64_t until_ms, int64_t now_ms) {
  scope_ = std::max(scope_, scope);
  until_ms_ = std::max(until_ms_, until_ms);
  if (until_ms_ <= now_ms) End();
}

}  // namespace respite
