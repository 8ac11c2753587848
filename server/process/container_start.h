#pragma once

#include <optional>
#include <string>
#include <vector>

namespace respite {

struct PreparedArguments {             // the arguments with which this process continues, or an error
  std::vector<std::string> arguments;  // the arguments to continue with; the first one is the name of the program
  std::string error;                   // why this process cannot continue; empty: it can
};

// Does what the entry point of the image `redis` does. If the arguments name a program other than those of Respite,
// replaces this process by that program. If they start the server, creates requested certificates. A process that is
// root then also gives the current folder to the user `redis` and becomes that user.
PreparedArguments PrepareContainerProgram(const std::vector<std::string>& arguments);  // may exec another program

}  // namespace respite
