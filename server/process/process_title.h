// The title of the process in ps and top: written over the arguments and the environment that the kernel laid out
// behind each other, since there is nowhere else to put it.
#pragma once

#include <span>
#include <string>

#include "server/config/config.h"

namespace respite {

// What `proc-title-template` says now; `program` is argv[0].
std::string ProcessTitleText(const Config& config, const std::string& program);

class ProcessTitle {
 public:
  // Nothing is touched before the first Set.
  ProcessTitle(int argc, char** argv) : argc_(argc), argv_(argv) {}

  // Cuts what does not fit. The first call moves the environment away; afterwards argv has lost the arguments.
  void Set(const std::string& title);

 private:
  void ClaimArea();

  int argc_;
  char** argv_;
  std::span<char> area_;
};

}  // namespace respite
