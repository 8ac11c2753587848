// Loads the files of the directive `load` when the server starts, after its own data set.
#pragma once

#include <optional>
#include <string>

namespace respite {

struct Services;

// Clients get LOADING meanwhile. Returns why a file cannot be loaded, with its path and the place in it; then the data
// set is of no use any more. With an append-only file, a rewrite is begun, since fixtures are not written to it one by
// one. Requires: the data set was loaded, and replication has not started.
std::optional<std::string> LoadFixtures(const Services& services);

}  // namespace respite
