// Logging in as user `world.NAME` makes a connection a client of that world, so that a URL alone leads there.
#pragma once

#include <string>
#include <vector>

#include "server/execution/call.h"

namespace respite {

// False: the user is an ordinary one, or this server has no worlds for this client. Otherwise the client goes there,
// where `request` runs first (none: the reply is OK); a world that is not there is made. Refuses a wrong password: any
// will do while the server has none, else that of its default user.
bool LogInToWorld(Call& call, Bytes user, Bytes password, std::vector<std::string> request);

}  // namespace respite
