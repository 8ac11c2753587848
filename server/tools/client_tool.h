#pragma once

#include <span>
#include <string>

namespace respite {

// The program under the name respite-cli or redis-cli. Sends the command among its arguments, the lines of standard
// input, or lines typed at a prompt. Prints the replies as redis-cli does. Returns the exit code.
int RunClient(std::span<const std::string> arguments);  // respite-cli; returns the exit code

}  // namespace respite
