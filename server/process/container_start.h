#pragma once

#include <optional>
#include <string>
#include <vector>

namespace respite {

struct ContainerStart {
  std::vector<std::string> arguments;  // of the program that the container is to run
  std::string error;                   // why it cannot run; empty: it can
};

// Prepares what the entry point of the image starts: makes certificates that are asked for, gives the folder of the
// data to the user `redis` and becomes that user, as the image `redis` does. Replaces this process if another program
// is meant.
ContainerStart BeginContainer(const std::vector<std::string>& arguments);

}  // namespace respite
