// The program under the names redis-check-rdb and redis-check-aof (or respite-check-…). Arguments, standard output and
// exit codes are those of Redis' tools.
#pragma once

#include <span>
#include <string>

namespace respite {

// The functions of this file return the exit code. `arguments` is argv including the program's name.
int RunRdbCheck(std::span<const std::string> arguments);  // redis-check-rdb; returns the exit code
int RunAofCheck(std::span<const std::string> arguments);  // redis-check-aof; returns the exit code

}  // namespace respite
