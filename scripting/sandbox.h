// Sandbox: tables that scripts can read but not change, so that no script sees what another did.
//
// Lua has no read-only tables. A script gets an empty proxy table in front of the real one: reads fall through to the
// real table, and because no key ever exists in the proxy, every assignment calls __newindex, which refuses it. The
// functions that bypass the metatable (rawset, rawget, next, pairs, getmetatable, setmetatable) are replaced by ones
// that know the proxies.
#pragma once

#include "scripting/lua_api.h"

namespace respite {

// Raises the error for a change that bypasses assignment. Redis: this error has no line number.
int RefuseRawChange(lua_State* lua);

// Replaces the table on top of the stack by a read-only proxy for it.
void MakeReadOnly(lua_State* lua);

// For functions that change tables without metamethods.
bool IsReadOnly(lua_State* lua, int index);

// Pushes the table behind a read-only proxy. Returns false and pushes nothing for any other value.
bool PushReal(lua_State* lua, int index);

// Finishes the globals: every library among them becomes read-only, reading a name that does not exist is an error, and
// scripts from now on see a read-only proxy as their globals. Call it once, after all libraries are open. Returns the
// registry reference of the real table: what is set there (KEYS, ARGV) is visible to scripts.
int ProtectGlobals(lua_State* lua);

// Makes it an error to read a missing name of the table on top, as it is for the globals.
void RefuseUnknownNames(lua_State* lua);

// Until ShowGlobals, global names refer to the table on top of the stack, which is popped. Functions created meanwhile
// see the globals again afterwards. Requires: ProtectGlobals.
void ShowInsteadOfGlobals(lua_State* lua);
void ShowGlobals(lua_State* lua);

}  // namespace respite
