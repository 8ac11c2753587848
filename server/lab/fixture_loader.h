// Loads the files that the directive `load` names. The server does this when it starts, after it has loaded its own
// data.
#pragma once

#include <optional>
#include <string>

namespace respite {

struct Services;

// Clients get the error LOADING during the load. If a file cannot be loaded, the data set must not be used. The error
// names the file and the position in it. If the append-only file is on, starts to rewrite it, because the requests are
// not appended to it one by one. Requires: the server's own data was loaded, and replication has not started.
std::optional<std::string> LoadFixtures(const Services& services);  // loads the files of `load`; error or nullopt

}  // namespace respite
