// Metamethods that 5.1 does not have for tables: the operator # counts elements whatever __len says, and __gc does
// nothing, so that no script can leave code behind that the collector runs. Nothing of ours relies on finalizers.
#include "scripting/lua51_internals.h"

namespace respite::lua51 {

extern "C" {
const Value* RealMetamethod(void* metatable, int event, void* name) asm("__real__Z10luaT_gettmP5Table3TMSP7TString");
[[gnu::used]] const Value* Metamethod(void* metatable, int event,
                                      void* name) asm("__wrap__Z10luaT_gettmP5Table3TMSP7TString");
}

const Value* Metamethod(void* metatable, int event, void* name) {
  if (event == kFinalizerEvent || event == kLengthEvent) return nullptr;
  return RealMetamethod(metatable, event, name);
}

}  // namespace respite::lua51
