// Users `world.NAME`: a client that logs in as such a user moves to the isolated server NAME (class Worlds). So a URL
// with this user is enough to select the isolated server.
#pragma once

#include <string>
#include <vector>

#include "server/execution/call.h"

namespace respite {

// Called by AUTH and HELLO. For a user `world.NAME`, moves the client to the isolated server (world) NAME, and creates
// that server if it does not exist. `request` runs there first; if `request` is empty, the reply is OK. Throws a
// Refusal unless `password` is the password of the default user, or the default user needs none. Returns false for any
// other user, or if the server has no worlds or this client may not use them. The caller then logs the user in as
// usual.
bool LogInToWorld(Call& call, Bytes user,  // user `world.NAME`: enters that isolated server; false: log in as usual
                  Bytes password, std::vector<std::string> request);

}  // namespace respite
