// What DEBUG shows of the insides: values and tables.
#pragma once

#include <cstdint>
#include <string>

#include "datatypes/database.h"
#include "server/config/settings.h"

namespace respite {

// DEBUG OBJECT's line: "Value at:0x… refcount:1 encoding:int serializedlength:2 lru:… lru_seconds_idle:0".
std::string DescribeEntry(const Entry& entry, const Settings& settings, int64_t now_ms);

// Bytes that the value of a string takes in an RDB file without compression: its length or integer marker, its bytes.
size_t SerializedStringBytes(const Entry& entry);

// DEBUG HTSTATS: the figures of one table.
enum class TableDetail : uint8_t { kBrief, kFull };
std::string DescribeTable(const HashIndex<Entry*>& table, TableDetail detail);

}  // namespace respite
