#include "server/commands/scripting/script_arguments.h"

namespace respite {

uint32_t FlagsForScript(uint32_t command_flags, uint32_t script_flags) {
  if ((script_flags & kScriptUndeclared) != 0) return command_flags;
  uint32_t flags = command_flags & ~(kStale | kDenyOom | kWrite | kMayReplicate);
  const bool writes = (script_flags & kScriptNoWrites) == 0;
  if (writes) flags |= kWrite;
  if (writes && (script_flags & kScriptAllowOom) == 0) flags |= kDenyOom;
  if ((script_flags & kScriptAllowStale) != 0) flags |= kStale;
  return flags;
}

}  // namespace respite
