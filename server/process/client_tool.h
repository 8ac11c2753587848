#pragma once

#include <span>
#include <string>

namespace respite {

// Sends one command and prints the reply, as `redis-cli` does when its output is no terminal: for health checks, and
// where redis-cli is missing. Returns the exit code: 0 if there was a reply, also an error.
int RunClient(std::span<const std::string> arguments);

}  // namespace respite
