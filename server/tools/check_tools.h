// The program under the names redis-check-rdb and redis-check-aof (or respite-check-…), with the arguments, standard
// output and exit codes of Redis' tools.
#pragma once

#include <span>
#include <string>

namespace respite {

// `arguments` is argv including the program's name. Returns the exit code.
int RunRdbCheck(std::span<const std::string> arguments);
int RunAofCheck(std::span<const std::string> arguments);

}  // namespace respite
