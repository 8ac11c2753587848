// Descriptions of a value for TYPE, OBJECT and DEBUG OBJECT.
#pragma once

#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "datatypes/entry.h"
#include "server/config/settings.h"

namespace respite {

// Returns the name that TYPE shows: "string", "list", "set", "zset", "hash" or "stream".
std::string_view TypeName(ValueType type);  // as TYPE shows it: "string", "list" …
// Returns the type with this name, such as "zset". Ignores case.
std::optional<ValueType> FindTypeByName(Bytes name);  // ignoring case; nullopt if unknown
// Returns the name that OBJECT ENCODING shows: "int", "embstr", "raw" …
std::string_view EncodingName(const Entry& entry);                     // as OBJECT ENCODING shows it
int64_t ReferenceCount(const Entry& entry, const Settings& settings);  // as OBJECT REFCOUNT shows it

}  // namespace respite
