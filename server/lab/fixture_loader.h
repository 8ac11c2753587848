// Loads the fixtures (initial data of a test) that the directive `load` names. The server does this when it starts,
// after it has loaded its own data.
#pragma once

#include <optional>
#include <string>

namespace respite {

struct Services;

// Loads the files of the directive `load`. Returns nullopt, or an error, which mostly names the file and the position
// in the file. After an error, the data set must not be used. Clients get the error LOADING meanwhile. After success,
// if the append-only file is on, starts a rewrite of the append-only file, because the requests are not appended one by
// one. Requires: the server's own data was loaded, and replication has not started.
std::optional<std::string> LoadFixtures(const Services& services);  // loads the test data of `load`; nullopt: no error

}  // namespace respite
