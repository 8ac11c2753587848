// What the checks of files (rdb_check.h, aof_check.h) tell people, and ask them.
#pragma once

#include <string>

#include "base/bytes.h"

namespace respite {

class CheckConsole {
 public:
  virtual ~CheckConsole() = default;

  // One line or more, without the last line end.
  virtual void Say(const std::string& text) = 0;
  // Whether the answer is yes.
  virtual bool Confirms(const std::string& question) = 0;
};

}  // namespace respite
