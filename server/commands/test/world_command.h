// Users `world.NAME`: a client that logs in as such a user moves to the isolated server NAME (Worlds). So a URL alone
// leads there.
#pragma once

#include <string>
#include <vector>

#include "server/execution/call.h"

namespace respite {

// Returns false if the user is an ordinary one, or if this server has no worlds for this client. Otherwise moves the
// client to the world, which is created if it does not exist. `request` runs there first; if it is empty, the reply is
// OK. If the default user needs no password, any password is accepted; otherwise the default user's password is
// required.
bool LogInToWorld(Call& call, Bytes user, Bytes password, std::vector<std::string> request);  // false: not `world.NAME`

}  // namespace respite
