// Gates: every reason to refuse a command before it runs, in Redis' order.
#pragma once

#include <span>

#include "server/command_table.h"
#include "server/session.h"

namespace respite {

class Server;

struct GateContext {
  Server& server;
  Session& session;
  const Command& command;
  uint32_t flags;  // EffectiveFlags
  std::span<const Bytes> words;
};

// What the command may do: its CommandFlag bits, for EXEC those of all that is queued as well.
uint32_t EffectiveFlags(const Session& session, const Command& command);

// Throws the refusal of the first gate that is shut. Cost: a few compares when all are open.
void PassGates(const GateContext& context);

}  // namespace respite
