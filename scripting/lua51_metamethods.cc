// Disables metamethods that 5.1 does not have for tables: the operator # ignores __len, and __gc has no effect, so that
// no script can leave code behind that the collector runs.
#include "scripting/lua51_internals.h"

namespace respite::lua51 {

extern "C" {
const Value* RealMetamethod(void* metatable, int event, void* name) asm("__real__Z10luaT_gettmP5Table3TMSP7TString");
void RealCheckFinalizer(lua_State* lua, const ObjectHeader* object,
                        void* metatable) asm("__real__Z19luaC_checkfinalizerP9lua_StateP8GCObjectP5Table");
[[gnu::used]] const Value* Metamethod(void* metatable, int event,
                                      void* name) asm("__wrap__Z10luaT_gettmP5Table3TMSP7TString");
[[gnu::used]] void CheckFinalizer(lua_State* lua, const ObjectHeader* object,
                                  void* metatable) asm("__wrap__Z19luaC_checkfinalizerP9lua_StateP8GCObjectP5Table");
}

// Lua calls this only for the metamethods of tables.
const Value* Metamethod(void* metatable, int event, void* name) {
  return event == kLengthEvent ? nullptr : RealMetamethod(metatable, event, name);
}

// Userdata keeps its finalizer, because Lua's own buffers rely on it.
void CheckFinalizer(lua_State* lua, const ObjectHeader* object, void* metatable) {
  if (object->tag != kTableTag) RealCheckFinalizer(lua, object, metatable);
}

}  // namespace respite::lua51
