// Reads an RDB file to its end, as a server would, and reports its content or its error in the format of
// redis-check-rdb.
//
// It differs from Redis' tool where the readers differ: it reads version 12, and rdb_value_reader.h validates values.
// As in Redis' tool, data of modules are skipped, though no server of ours loads them. An empty collection, which a
// server skips, is not an error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "persistence/check_console.h"
#include "persistence/file_system.h"

namespace respite {

// The offset after the RDB, or nullopt if it is damaged. `now_ms` decides which keys have expired. Cost: O(bytes);
// memory for the longest value.
std::optional<uint64_t> CheckRdb(File& file, const std::string& name, int64_t now_ms, CheckConsole& console);

}  // namespace respite
