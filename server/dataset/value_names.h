// Descriptions of a value for TYPE, OBJECT, DEBUG OBJECT and INFO keysizes.
#pragma once

#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "datatypes/entry.h"
#include "server/config/settings.h"

namespace respite {

// Returns the name that TYPE shows: "string", "list", "set", "zset", "hash", "stream", "array", "vectorset" or
// "ReJSON-RL".
std::string_view TypeName(ValueType type);            // name that TYPE shows: "string", "list" …
std::optional<ValueType> FindTypeByName(Bytes name);  // the type with a name such as "zset", in any case; nullopt: none
std::string_view EncodingName(const Entry& entry);    // name that OBJECT ENCODING shows: "int" …
// Returns the bytes of a string, or the number of elements of a collection, as STRLEN, LLEN, SCARD … do. Expired fields
// of hashes count. A JSON document counts as one element. Cost: O(1).
size_t SizeOfValue(const Entry& entry);                                // bytes of a string, elements of a collection
int64_t ReferenceCount(const Entry& entry, const Settings& settings);  // number that OBJECT REFCOUNT shows

}  // namespace respite
