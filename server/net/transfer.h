// The result of one attempt to move bytes over a stream.
#pragma once

#include <cstddef>
#include <cstdint>

namespace respite {

struct Transfer {
  enum class State : uint8_t {
    kMoved,   // some bytes
    kLater,   // none until the socket is ready again
    kEnded,   // the peer sends no more
    kFailed,  // the connection is broken; the stream knows why
  };
  State state;
  size_t bytes = 0;
};

}  // namespace respite
