// Users world.NAME: a connection that logs in as one becomes a client of that world, so that a URL alone leads there.
#pragma once

#include <string>
#include <vector>

#include "server/execution/call.h"

namespace respite {

// Returns false if the user is an ordinary one, or this server has no worlds for this client. Otherwise moves the
// client to the world, which is created if it does not exist. `request` runs there first; if it is empty, the reply is
// OK. Any password is accepted if the server has none; otherwise it must match the password of the default user.
bool LogInToWorld(Call& call, Bytes user, Bytes password, std::vector<std::string> request);  // false: no world user

}  // namespace respite
