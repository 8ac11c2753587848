#pragma once

#include <optional>
#include <string>
#include <vector>

namespace respite {

struct ContainerStart {                // the program to run in a container
  std::vector<std::string> arguments;  // of the program that the container runs
  std::string error;                   // why the program cannot run; empty if it can
};

// Prepares the program that the entry point of the image starts. Creates requested certificates, gives the data folder
// to the user `redis` and becomes that user, as the image `redis` does. Replaces this process if the arguments name
// another program.
ContainerStart PrepareContainerProgram(const std::vector<std::string>& arguments);

}  // namespace respite
