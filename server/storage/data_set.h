// Loads the data at startup: from the append-only file if appendonly is on, otherwise from the RDB file, unless the
// server is to start empty.
#pragma once

#include "server/storage/rdb_loader.h"

namespace respite {

struct Services;

// Returns kLoaded if the server now has its data, and kAbsent if there was none. In both cases the append-only file is
// open if appendonly is on. The reason for kFailed is logged. Requires: an empty keyspace.
LoadOutcome LoadDataAtStartup(const Services& services);  // from AOF or RDB; kAbsent: there is none

}  // namespace respite
