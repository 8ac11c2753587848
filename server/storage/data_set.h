// Loads the data set at the start: from the append-only file if that is on, else from the dump.
#pragma once

#include "server/storage/rdb_loader.h"

namespace respite {

struct Services;

// After kLoaded the server has its data and opened its append-only file if that is on; after kAbsent the data set is
// empty. The reason for kFailed is logged. Requires: an empty data set.
LoadOutcome OpenDataSet(const Services& services);

}  // namespace respite
