// Parses the arguments of main and runs the program that they request.
#pragma once

namespace respite {

int Launch(int argc, char** argv);  // runs the program as its arguments request; returns its exit code

}  // namespace respite
