#include "server/call.h"

#include <algorithm>

#include "server/server.h"

namespace respite {

void Call::Wait(const Awaited& awaited) {
  if (!server.executor().MayWait()) return awaited.answer(reply, server, session);
  server.waiting().Park(*this, awaited);
}

bool Call::MayGoOnLater() const {
  return server.executor().MayWait() && session.reply_mode == ReplyMode::kOn && server.host() != nullptr;
}

uint64_t Call::LongestText() const {
  constexpr uint64_t kEver = UINT32_MAX;  // an entry keeps its size in 32 bits
  return unit.RepeatsRecord() ? kEver : std::min(kEver, static_cast<uint64_t>(server.settings().proto_max_bulk_len));
}

}  // namespace respite
