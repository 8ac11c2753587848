// The data set of a server that begins: read from the append-only file if that is on, else from the dump.
#pragma once

#include "server/storage/rdb_loader.h"

namespace respite {

struct Services;

// After kLoaded the server has its data and, if it is to be, its journal; after kAbsent it begins empty. kFailed: the
// log says why. Requires: an empty data set.
LoadOutcome OpenDataSet(const Services& services);

}  // namespace respite
