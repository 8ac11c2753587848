#pragma once

#include <optional>
#include <string>
#include <vector>

namespace respite {

struct ContainerStart {                // what the entry point of a container image must run next
  std::vector<std::string> arguments;  // arguments of the program to run, with its name first
  std::string error;                   // why the program cannot run; empty: the program can run
};

// Does what the entry point of the image `redis` does. If the arguments name a program other than those of Respite,
// replaces this process by that program. If they start the server, creates requested certificates. A process that is
// root then also gives the current folder to the user `redis` and becomes that user.
ContainerStart PrepareContainerProgram(const std::vector<std::string>& arguments);  // may exec another program

}  // namespace respite
