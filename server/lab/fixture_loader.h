// Loads the files of the directive `load` when the server starts, after its own data set.
#pragma once

#include <optional>
#include <string>

namespace respite {

struct Services;

// Clients get LOADING during the load. If a file cannot be loaded, returns the reason with the path and the place
// in it; the data set must then not be used. If the append-only file is on, starts a rewrite, because fixtures are not
// appended to it request by request. Requires: the data set was loaded, and replication has not started.
std::optional<std::string> LoadFixtures(const Services& services);  // the files of `load`; returns an error, or nullopt

}  // namespace respite
