// The table `redis` (alias `server`), with which scripts call the server.
#pragma once

#include <string>

#include "base/bytes.h"
#include "scripting/lua_api.h"

namespace respite {

// Sets the globals `redis` and `server`, and a pcall that returns the text of an error to the script instead of the
// error table. Requires: an EngineLink in the state's extra space.
void OpenScriptApi(lua_State* lua);

// Returns a name such as "redis.log", or "server.log" if the dialect names the table `server`.
std::string InApi(lua_State* lua, Bytes words);

// Raises the error {err="ERR " .. text}.
int RaiseError(lua_State* lua, Bytes text);

}  // namespace respite
