// Values of the data types that are modules of Redis: the type byte 7, and the ID of the module.
//
// The ID has 9 characters of 6 bits, which name the data type, and 10 bits for the version of its form. After it come
// parts, each with a tag, and the tag kPartEnd.
#include "persistence/rdb_module.h"

#include "persistence/rdb_types.h"

namespace respite {

bool IsKnownRdbModule(uint64_t module) { return module == rdb::kVectorSetModule; }

RdbValueResult ReadRdbModuleValue(RdbInput& input, uint64_t module, const RdbEntryProperties& target) {
  if (module == rdb::kVectorSetModule) return ReadRdbVectorSet(input, target);
  return BadValue("values of this module cannot be read");
}

}  // namespace respite
