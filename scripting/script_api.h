// The table `redis` (and its other name `server`) that scripts talk to the server through.
#pragma once

#include "base/bytes.h"
#include "scripting/lua_api.h"

namespace respite {

// Sets the globals `redis` and `server`, and the pcall that hands a script the text of an error instead of the table
// around it. Requires: an EngineLink in the state's extra space.
void OpenScriptApi(lua_State* lua);

// Raises the error {err="ERR " .. text}.
int RaiseError(lua_State* lua, Bytes text);

}  // namespace respite
