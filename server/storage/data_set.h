// Loads the data at startup from one source: the file that preload-file names; if it is not set, the append-only file
// if appendonly is on; otherwise the RDB file. With `--test`, loads no RDB file unless `dir`, `dbfilename` or
// `appendonly` is set (Settings::starts_empty).
#pragma once

#include "server/storage/rdb_loader.h"

namespace respite {

struct Services;

// Loads the data. Returns kLoaded if the server now has its data, and kAbsent if there was none. After kLoaded or
// kAbsent, the append-only file is open if appendonly is on. If kFailed, the reason was logged. Requires: an empty
// keyspace.
LoadOutcome LoadDataAtStartup(const Services& services);  // loads the AOF or the RDB file

}  // namespace respite
