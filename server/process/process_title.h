// The title of the process in ps and top. The title overwrites the arguments of the process and the environment after
// them, because the kernel shows only that memory.
#pragma once

#include <span>
#include <string>

#include "server/config/config.h"

namespace respite {

// Returns `proc-title-template` with its variables replaced.
std::string ProcessTitleText(const Config& config, const std::string& program);  // fills in proc-title-template

class ProcessTitle {  // writes the title of the process that ps and top show
 public:
  // Stores `argc` and `argv` of main. The first call of Set overwrites the arguments.
  ProcessTitle(int argc, char** argv) : argc_(argc), argv_(argv) {}

  // Sets the title of the process; truncates a title that does not fit. The first call moves the environment to other
  // memory. After that call, argv no longer contains the arguments.
  void Set(const std::string& title);

 private:
  void ClaimTitleMemory();  // moves the environment away, so that the title can use the memory

  int argc_;
  char** argv_;
  std::span<char> area_;  // the memory that ps shows; empty before the first Set
};

}  // namespace respite
