// Descriptions of a value for TYPE, OBJECT and DEBUG OBJECT.
#pragma once

#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "datatypes/entry.h"
#include "server/config/settings.h"

namespace respite {

// Returns "string", "list", "set", "zset", "hash" or "stream".
std::string_view TypeName(ValueType type);
// Returns the type with this name, ignoring case.
std::optional<ValueType> FindTypeByName(Bytes name);  // ignoring case; nullopt if unknown
// Returns "int", "embstr", "raw" …
std::string_view EncodingName(const Entry& entry);                     // OBJECT ENCODING: "int", "raw" …
int64_t ReferenceCount(const Entry& entry, const Settings& settings);  // OBJECT REFCOUNT

}  // namespace respite
