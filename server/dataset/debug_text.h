// DEBUG's descriptions of internal data: values and tables.
#pragma once

#include <cstdint>
#include <string>

#include "datatypes/database.h"
#include "server/config/settings.h"

namespace respite {

// Returns the line with which DEBUG OBJECT replies: "Value at:0x… refcount:1 encoding:int serializedlength:2 lru:…
// lru_seconds_idle:0".
std::string DescribeEntry(const Entry& entry, const Settings& settings, int64_t now_ms);  // reply of DEBUG OBJECT

// Returns the size in bytes that a string value has in an RDB file without compression: its length or integer marker,
// and its content.
size_t SerializedStringBytes(const Entry& entry);  // bytes of a string value in an RDB file without compression

enum class TableDetail : uint8_t { kBrief, kFull };                             // kFull: DEBUG HTSTATS … full
std::string DescribeTable(const HashIndex<Entry*>& table, TableDetail detail);  // a table's statistics: DEBUG HTSTATS

}  // namespace respite
