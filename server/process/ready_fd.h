// ReadyFd (`ready-fd`): a descriptor inherited from the launcher, which learns there when the server is ready, and its
// ports: usually a pipe, whose other end it reads. If it is standard output, the log goes to standard error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace respite {

class ReadyFd {
 public:
  // Takes the descriptor of this number, which programs that we start do not inherit. Returns why it is of no use. To
  // be called before the process opens files, which could get its number.
  std::optional<std::string> Take(int number);

  enum class Outcome : uint8_t { kDone, kNobodyReads, kFailed };
  // Writes the text and closes the descriptor. Without a descriptor it is done at once.
  Outcome Tell(std::string_view text);

 private:
  Descriptor descriptor_;
};

}  // namespace respite
