// Gates: every reason to refuse a command before it runs, in Redis' order.
#pragma once

#include <span>
#include <string>

#include "server/command_table.h"
#include "server/session.h"

namespace respite {

class Server;

struct GateContext {
  Server& server;
  Session& session;
  const Command& command;
  std::span<const Bytes> words;
};

// The error text, or empty when the command may run.
std::string FirstRefusal(const GateContext& context);

}  // namespace respite
