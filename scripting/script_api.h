// The table `redis` (second name: `server`), with which scripts call the server.
#pragma once

#include <string>

#include "base/bytes.h"
#include "scripting/lua_api.h"

namespace respite {

// Sets the globals `redis` and, if the emulated version has it, `server`. Replaces Lua's pcall: as in Redis, if pcall
// catches an error table {err=TEXT}, it returns TEXT instead of the table. Requires: the state of a ScriptEngine.
void OpenScriptApi(lua_State* lua);  // adds the globals `redis`, `server` (if the version has it), `pcall`

std::string PrefixTableName(lua_State* lua, Bytes text);  // "call" becomes "redis.call" or, in Valkey, "server.call"

int RaiseError(lua_State* lua, Bytes text);  // raises the Lua error {err="ERR " .. text}

}  // namespace respite
