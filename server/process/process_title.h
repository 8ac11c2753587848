// The title of the process in ps and top. It overwrites the arguments and the environment after them, the only memory
// that the kernel shows.
#pragma once

#include <span>
#include <string>

#include "server/config/config.h"

namespace respite {

// Expands `proc-title-template`; `program` is argv[0].
std::string ProcessTitleText(const Config& config, const std::string& program);

class ProcessTitle {
 public:
  // Changes nothing before the first Set.
  ProcessTitle(int argc, char** argv) : argc_(argc), argv_(argv) {}

  // Truncates a title that does not fit. The first call moves the environment elsewhere; afterwards argv has lost the
  // arguments.
  void Set(const std::string& title);

 private:
  void ClaimArea();  // moves the environment away, to overwrite it

  int argc_;
  char** argv_;
  std::span<char> area_;
};

}  // namespace respite
