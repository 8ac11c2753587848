// Parses main's arguments and runs what they ask for.
#pragma once

namespace respite {

// Runs the program; returns its exit code.
int Launch(int argc, char** argv);

}  // namespace respite
