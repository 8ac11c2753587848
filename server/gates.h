// Gates: every reason to refuse a command before it runs, in Redis' order.
#pragma once

#include <optional>
#include <span>

#include "base/refusal.h"
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

// What the request may do: CommandFlag bits of its command, or what the card says where that depends on the request.
inline uint32_t EffectiveFlags(Server& server, const Session& session, const Command& command,
                               std::span<const Bytes> words) {
  const FlagsHook hook = command.Spec().flags_of;
  return hook == nullptr ? command.flags : hook(server, session, words, command.flags);
}

// Why a command that writes, or a script that says it may, is refused: what it does could not be persisted. Nothing
// when it could. Cost: a compare or two.
enum class DiskUser : uint8_t { kCommand, kScript };
std::optional<Refusal> DiskTrouble(const Server& server, DiskUser user);
// Writes find too few replicas (min-replicas-to-write). There are none yet.
bool LacksReplicas(const Server& server);

// Throws the refusal of the first gate that is shut. Cost: a few compares when all are open.
void PassGates(const GateContext& context);

}  // namespace respite
