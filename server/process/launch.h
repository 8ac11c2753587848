// Parses main's arguments and runs the requested program.
#pragma once

namespace respite {

int Launch(int argc, char** argv);  // runs the program; returns its exit code

}  // namespace respite
