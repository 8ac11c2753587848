// Parses main's arguments and runs the requested program.
#pragma once

namespace respite {

// Runs the program; returns its exit code.
int Launch(int argc, char** argv);

}  // namespace respite
