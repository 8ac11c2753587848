// Sandbox: tables that scripts can read but not change, so that no script sees changes of another script.
//
// Lua has no read-only tables. Instead of the real table, a script gets an empty proxy table. Reads of the proxy are
// passed to the real table. The proxy never contains a key, so every assignment calls __newindex, which raises an
// error. Functions that bypass the metatable (rawset, rawget, next, pairs, getmetatable, setmetatable) are replaced by
// versions that handle proxies.
#pragma once

#include "scripting/lua_api.h"

namespace respite {

// The error is for changes that are not assignments. As in Redis, this error has no line number.
int RefuseRawChange(lua_State* lua);  // raises the error of rawset, table.insert … for a read-only table

void MakeReadOnly(lua_State* lua);  // replaces the table on top of Lua's stack by a read-only proxy of it

// Functions that change tables without metamethods must call IsReadOnly first.
bool IsReadOnly(lua_State* lua, int index);  // true: a read-only proxy is at this index of Lua's stack

bool PushReal(lua_State* lua, int index);  // pushes a read-only proxy's real table; false: no proxy, nothing pushed

// Finishes the globals. Every library among them becomes read-only, and reading a name that does not exist becomes an
// error. Scripts now see a read-only proxy as their globals. Call this once, after all libraries are open. Returns the
// registry reference of the real table; fields set there (KEYS, ARGV) are visible to scripts.
int ProtectGlobals(lua_State* lua);  // makes all globals read-only; returns the registry index of the real table

void RefuseUnknownNames(lua_State* lua);  // makes reading a missing field of the table on top of Lua's stack an error

// ShowInsteadOfGlobals makes global names refer to the table on top of the stack, and pops that table. ShowGlobals
// reverts this, also for functions created since then. Requires: ProtectGlobals was called.
void ShowInsteadOfGlobals(lua_State* lua);  // pops a table, which scripts now see instead of the globals
void ShowGlobals(lua_State* lua);           // ends ShowInsteadOfGlobals: scripts see the globals

}  // namespace respite
