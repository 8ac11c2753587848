// Loads the fixtures (initial data of a test) that the directive `load` names. The server does this when it starts,
// after it has loaded its own data.
#pragma once

#include <optional>
#include <string>

namespace respite {

struct Services;

// Returns nullopt if all was loaded, otherwise an error, which mostly names the file and the position in the file.
// After an error, the data set must not be used. During the load, clients get the error LOADING. The requests of
// fixtures are not appended to the append-only file, so if it is on, a rewrite starts after the load. Requires: the
// server's own data was loaded, and replication has not started.
std::optional<std::string> LoadFixtures(const Services& services);  // loads the test data of `load`; nullopt: no error

}  // namespace respite
