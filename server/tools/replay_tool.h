// The program that replays a recording of what clients sent: respite-server --replay FILE [--to HOST:PORT] [--speed X]
// [--ignore PATTERN]…
#pragma once

#include <span>
#include <string>

namespace respite {

// Replays a recording. `arguments` is argv including the program's name. Exit codes: 0: no reply differs that must be
// as recorded; 1: some differ; 2: the arguments are invalid, or the recording could not be replayed.
int RunReplay(std::span<const std::string> arguments);  // respite-server --replay; returns the exit code

}  // namespace respite
