// From main's arguments to what they ask for.
#pragma once

namespace respite {

// The whole life of the program; returns its exit code.
int Launch(int argc, char** argv);

}  // namespace respite
