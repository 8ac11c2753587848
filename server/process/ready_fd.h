// ReadyFd (`ready-fd`): a descriptor inherited from the launcher, usually a pipe. When the server is ready, this class
// writes its ports to the descriptor. If the descriptor is standard output, the log goes to standard error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace respite {

class ReadyFd {  // a pipe of the launcher, to which the ports are written when the server is ready
 public:
  // Takes over the descriptor with this number. Programs that the server starts do not inherit it. Returns an error
  // text if the descriptor cannot be used. Must be called before the process opens files, which could get the same
  // number.
  std::optional<std::string> Take(int number);

  enum class Outcome : uint8_t { kDone, kNobodyReads, kFailed };  // kNobodyReads: the pipe has no reader
  // Writes the text and closes the descriptor. Returns kDone immediately if Take was not called.
  Outcome Tell(std::string_view text);

 private:
  Descriptor descriptor_;  // the launcher's pipe; not open before Take and after Tell
};

}  // namespace respite
