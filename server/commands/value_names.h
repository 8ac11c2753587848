// What TYPE and OBJECT ENCODING call a value.
#pragma once

#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "datatypes/entry.h"

namespace respite {

// "string", "list", "set", "zset", "hash", "stream".
std::string_view TypeName(ValueType type);
// The type of that name, whatever its case.
std::optional<ValueType> TypeNamed(Bytes name);
// "int", "embstr", "raw" …
std::string_view EncodingName(const Entry& entry);

}  // namespace respite
