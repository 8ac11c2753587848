// Disables metamethods that tables do not have in 5.1. The operator # ignores __len. __gc has no effect, so that no
// script can make the collector run its code later. A __mode that makes only keys weak is ignored. A __call that is no
// function is ignored. Of the values that Lua 5.4 closes at the end of a block, only userdata is closed.
#include <cstring>

#include "scripting/lua51_internals.h"

namespace respite::lua51 {

extern "C" {
const Value* RealMetamethod(void* metatable, int event, void* name) asm("__real__Z10luaT_gettmP5Table3TMSP7TString");
const Value* RealObjectMetamethod(lua_State* lua, const Value* value,
                                  int event) asm("__real__Z15luaT_gettmbyobjP9lua_StatePK6TValue3TMS");
void RealCheckFinalizer(lua_State* lua, const ObjectHeader* object,
                        void* metatable) asm("__real__Z19luaC_checkfinalizerP9lua_StateP8GCObjectP5Table");
[[gnu::used]] const Value* Metamethod(void* metatable, int event,
                                      void* name) asm("__wrap__Z10luaT_gettmP5Table3TMSP7TString");
[[gnu::used]] const Value* ObjectMetamethod(lua_State* lua, const Value* value,
                                            int event) asm("__wrap__Z15luaT_gettmbyobjP9lua_StatePK6TValue3TMS");
void RealNewClosingValue(lua_State* lua, const Value* value) asm("__real__Z16luaF_newtbcupvalP9lua_StateP10StackValue");
[[gnu::used]] void NewClosingValue(lua_State* lua,
                                   const Value* value) asm("__wrap__Z16luaF_newtbcupvalP9lua_StateP10StackValue");
[[gnu::used]] void CheckFinalizer(lua_State* lua, const ObjectHeader* object,
                                  void* metatable) asm("__wrap__Z19luaC_checkfinalizerP9lua_StateP8GCObjectP5Table");
}

namespace {

// Returns true if this metatable field __mode makes only the keys of a table weak. Metamethod hides such a __mode, so
// that the keys stay strong. Since 5.2, a table with weak keys is an ephemeron table: if each value refers to the next
// key, the collector needs quadratic time. Nothing can interrupt the collector, so a script could block the server. 5.1
// has no ephemeron tables: there the values keep such a chain of keys alive.
bool HasWeakKeysOnly(const Value& mode) {
  if (mode.tag != kShortStringTag && mode.tag != kLongStringTag) return false;
  const char* const text = static_cast<const char*>(mode.object) + kStringTextOffset;
  return std::strchr(text, 'k') != nullptr && std::strchr(text, 'v') == nullptr;
}

}  // namespace

// Replaces the function with which Lua looks up metamethods of tables. Lua calls this function only for tables.
const Value* Metamethod(void* metatable, int event, void* name) {
  if (event == kLengthEvent) return nullptr;
  const Value* const value = RealMetamethod(metatable, event, name);
  return event == kModeEvent && value != nullptr && HasWeakKeysOnly(*value) ? nullptr : value;
}

// Ignores a __call that is not a function, as Lua 5.1 does. Lua 5.4 also follows a __call that is a table with a __call
// of its own. A table that is its own __call would make a chain of a million such steps. Each step shifts all
// arguments, so the call would take quadratic time, and nothing could interrupt it.
const Value* ObjectMetamethod(lua_State* lua, const Value* value, int event) {
  static constexpr Value kNil = {.object = nullptr, .tag = LUA_TNIL};
  const Value* const found = RealObjectMetamethod(lua, value, event);
  return event == kCallEvent && (found->tag & kTypeMask) != LUA_TFUNCTION ? &kNil : found;
}

// Lets Lua 5.4 close values at the end of a block only if they are Lua's own buffers, which are userdata with a size.
// In Lua 5.1, scripts have no values that are closed (`local x <close>`, the fourth value of a generic `for`). When a
// script is killed, 5.4 would call __close for each such value, also for a userdata of newproxy, and nothing could
// interrupt these calls.
void NewClosingValue(lua_State* lua, const Value* value) {
  if ((value->tag & kTypeMask) != LUA_TUSERDATA) return;
  size_t size = 0;
  std::memcpy(&size, static_cast<const char*>(value->object) + kUserdataSizeOffset, sizeof size);
  if (size != 0) RealNewClosingValue(lua, value);
}

// Replaces Lua's function that registers an object with __gc for finalization. Does nothing for a table, which has no
// finalizer in 5.1. Userdata keeps its finalizer, because Lua's own buffers rely on it.
void CheckFinalizer(lua_State* lua, const ObjectHeader* object, void* metatable) {
  if (object->tag != kTableTag) RealCheckFinalizer(lua, object, metatable);
}

}  // namespace respite::lua51
