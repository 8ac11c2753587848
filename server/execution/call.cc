#include "server/execution/call.h"

#include <algorithm>

#include "server/clients/blocked_clients.h"
#include "server/clients/client_subsystem.h"
#include "server/execution/services.h"
#include "server/runtime/host.h"

namespace respite {

void Call::Wait(const BlockCondition& awaited) {
  if (!services.clients.current_execution.MayBlock()) return awaited.answer(reply, services, session);
  services.clients.blocked.Block(session, command, args.Words(), awaited);
}

bool Call::MayContinueLater() const {
  return services.clients.current_execution.MayBlock() && session.replies.IsOn() &&
         static_cast<bool>(services.env.host);
}

uint64_t Call::MaxStringBytes() const {
  constexpr uint64_t kEver = UINT32_MAX;  // an entry stores its size in 32 bits
  return unit.IsReplaying() ? kEver : std::min(kEver, static_cast<uint64_t>(services.env.settings.proto_max_bulk_len));
}

}  // namespace respite
