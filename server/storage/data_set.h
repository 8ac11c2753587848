// Loads the data at startup: from the append-only file if appendonly is on, otherwise from the RDB file.
#pragma once

#include "server/storage/rdb_loader.h"

namespace respite {

struct Services;

// After kLoaded the server has its data, and its append-only file is open if appendonly is on. After kAbsent there are
// no keys. The reason for kFailed is logged. Requires: an empty keyspace.
LoadOutcome LoadDataAtStartup(const Services& services);  // loads the AOF or RDB file at startup

}  // namespace respite
