// The output of the file checks (rdb_check.h, aof_check.h), and their questions to the user.
#pragma once

#include <string>

#include "base/bytes.h"

namespace respite {

class CheckConsole {
 public:
  virtual ~CheckConsole() = default;

  // Prints one or more lines. `text` lacks the last line end.
  virtual void Say(const std::string& text) = 0;
  // Asks the question and returns true if the answer is yes.
  virtual bool Confirms(const std::string& question) = 0;
};

}  // namespace respite
