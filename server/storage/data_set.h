// Loads the data at startup. If preload-file is set, loads the file that it names. Otherwise loads the append-only file
// if appendonly is on, or else the RDB file. With `starts_empty`, the RDB file is not loaded.
#pragma once

#include "server/storage/rdb_loader.h"

namespace respite {

struct Services;

// Loads the data. Returns kLoaded if the server now has its data, and kAbsent if there was none. After kLoaded or
// kAbsent, the append-only file is open if appendonly is on. If kFailed, the reason was logged. Requires: an empty
// keyspace.
LoadOutcome LoadDataAtStartup(const Services& services);  // loads the AOF or the RDB file

}  // namespace respite
