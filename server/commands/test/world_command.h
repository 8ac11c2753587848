// Users `world.NAME`: a client that logs in as such a user moves to the isolated server NAME (class Worlds). So a URL
// with this user is enough to select the isolated server.
#pragma once

#include <string>
#include <vector>

#include "server/execution/call.h"

namespace respite {

// Moves the client to the isolated server (world) that the user `world.NAME` names, and creates that server if it does
// not exist. `request` runs there first; if it is empty, the reply is OK. `password` must be the password of the
// default user, unless the default user needs none; a wrong password throws a Refusal. Returns false for a user without
// this prefix, or if the server has no worlds or this client may not use them. The caller then logs the user in as
// usual.
bool LogInToWorld(Call& call, Bytes user,  // user `world.NAME`: enters that isolated server; false: log in as usual
                  Bytes password, std::vector<std::string> request);

}  // namespace respite
