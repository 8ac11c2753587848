// Refusal: the error reply of a command that could not be done. Only server/ throws it; other rooms return optional or
// Result.
#pragma once

#include <string>

namespace respite {

struct Refusal {
  std::string text;         // the whole error line without the leading '-', such as "ERR syntax error"
  bool is_counted = false;  // in the statistics of errors already: that of a command within this one
};

}  // namespace respite
