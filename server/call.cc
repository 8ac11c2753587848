#include "server/call.h"

#include "server/server.h"

namespace respite {

void Call::Wait(const Awaited& awaited) {
  if (!server.executor().MayWait()) return awaited.answer(reply, server, session);
  server.waiting().Park(*this, awaited);
}

}  // namespace respite
