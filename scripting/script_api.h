// The table `redis` (alias `server`), with which scripts call the server.
#pragma once

#include <string>

#include "base/bytes.h"
#include "scripting/lua_api.h"

namespace respite {

// Sets the globals `redis` and `server`, and a pcall that returns the text of an error to the script instead of the
// error table. Requires: the state of a ScriptEngine.
void OpenScriptApi(lua_State* lua);  // sets the globals `redis`, `server` and `pcall`

std::string PrefixTableName(lua_State* lua, Bytes text);  // "redis." or "server." before a text

int RaiseError(lua_State* lua, Bytes text);  // raises {err="ERR " .. text}; never returns

}  // namespace respite
