// Sandbox: tables that scripts can read but not change, so that no script sees what another did.
//
// Lua has no read-only tables. What a script gets is an empty table in front of the real one: reading falls through,
// and as no key ever exists in it, every assignment comes to __newindex, which refuses. The functions that would look
// past the metatable (rawset, rawget, next, pairs, getmetatable, setmetatable) are replaced by ones that know of it.
#pragma once

#include "scripting/lua_api.h"

namespace respite {

// Raises the error of a change that gets round an assignment. Redis: it tells no line.
int RefuseRawChange(lua_State* lua);

// Replaces the table on top of the stack by a read-only one in front of it.
void MakeReadOnly(lua_State* lua);

// For functions that change tables without metamethods.
bool IsReadOnly(lua_State* lua, int index);

// Pushes the table behind a read-only one. False, and nothing pushed, for any other value.
bool PushReal(lua_State* lua, int index);

// Finishes the globals: every library among them becomes read-only, a name that does not exist is an error, and the
// table that scripts have for their globals from now on is a read-only one in front. Call it once, with all libraries
// open. Returns the real table's place in the registry: what is set there (KEYS, ARGV) scripts see.
int ProtectGlobals(lua_State* lua);

// Makes names that are not in the table on top an error, as they are among the globals.
void RefuseUnknownNames(lua_State* lua);

// Until ShowGlobals, names of globals mean what is in the table on top of the stack, which is popped. Functions that
// are made meanwhile see the globals again afterwards. Requires: ProtectGlobals.
void ShowInsteadOfGlobals(lua_State* lua);
void ShowGlobals(lua_State* lua);

}  // namespace respite
