// The line that CLIENT LIST, CLIENT INFO and the log print for a client.
#pragma once

#include <string>

#include "server/session.h"

namespace respite {

class Server;

// "id=3 addr=127.0.0.1:50000 laddr=… fd=8 name= age=0 idle=0 flags=N db=0 …" without a line end.
std::string ClientText(Server& server, const Session& session);

}  // namespace respite
