// Refusal: the error reply of a command that cannot be executed. Only code in server/ throws a Refusal; other folders
// return an optional or a Result.
#pragma once

#include <string>

namespace respite {

struct Refusal {             // an exception: the error with which a command replies
  std::string text;          // the whole error line without the leading '-', such as "ERR syntax error"
  bool is_counted = false;   // true: an inner command has already counted this error in the statistics
  bool is_redirect = false;  // true: the text redirects the client to another node, as MOVED and ASK do
};

}  // namespace respite
