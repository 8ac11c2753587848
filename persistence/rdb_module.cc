// Values of the data types that are modules of Redis: the type byte 7, and the ID of the module.
//
// The ID has 9 characters of 6 bits, which name the data type, and 10 bits for the version of its form. The ID is
// followed by parts, each with a tag, and by the tag kPartEnd.
#include "persistence/rdb_module.h"

#include "persistence/rdb_types.h"

namespace respite {

namespace {

// Returns whether this is the module of JSON, in a version that stores the text of the document.
bool IsJson(uint64_t module) {
  const uint64_t version = module & ((1U << rdb::kModuleVersionBits) - 1);
  return module - version == rdb::ModuleNumber(rdb::kJsonModule, 0) && version >= rdb::kOldestJsonVersion &&
         version <= rdb::kJsonVersion;
}

}  // namespace

bool IsKnownRdbModule(uint64_t module) { return module == rdb::kVectorSetModule || IsJson(module); }

RdbValueResult ReadRdbModuleValue(RdbInput& input, uint64_t module, const RdbEntryProperties& target) {
  if (module == rdb::kVectorSetModule) return ReadRdbVectorSet(input, target);
  if (IsJson(module)) return ReadRdbJson(input, target);
  return BadValueFault("values of this module cannot be read");
}

}  // namespace respite
