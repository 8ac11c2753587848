// Reads an RDB file to its end, as a server would, and tells what is in it, or what is wrong with it: what
// redis-check-rdb prints.
//
// It differs from Redis' where the readers differ: version 12 can be read, and values are judged by rdb_value_reader.h.
// Data of modules are skipped, as Redis skips them here, though no server of ours loads them. A collection without
// elements, which a server leaves out, is no error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "persistence/check_console.h"
#include "persistence/file_system.h"

namespace respite {

// The offset behind the RDB, or nothing when it is damaged. `now_ms` tells which keys have expired.
// Cost: O(octets); memory for the longest value.
std::optional<uint64_t> CheckRdb(File& file, const std::string& name, int64_t now_ms, CheckConsole& console);

}  // namespace respite
