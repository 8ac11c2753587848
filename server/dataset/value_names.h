// What TYPE, OBJECT and DEBUG OBJECT say of a value.
#pragma once

#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "datatypes/entry.h"
#include "server/config/settings.h"

namespace respite {

// "string", "list", "set", "zset", "hash", "stream".
std::string_view TypeName(ValueType type);
// The type of that name, whatever its case.
std::optional<ValueType> TypeNamed(Bytes name);
// "int", "embstr", "raw" …
std::string_view EncodingName(const Entry& entry);
// OBJECT REFCOUNT.
int64_t ReferenceCount(const Entry& entry, const Settings& settings);

}  // namespace respite
