// ServerIdentity: the run ID of this server, and the time at which it started.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/random.h"

namespace respite {

struct ServerIdentity {  // run ID and start time of this server
  ServerIdentity(const Clock& clock, IdSource& ids)
      : run_id(ids.Hex(40)), started_ms(clock.MonotonicMs()), started_wall_ms(clock.WallMs()) {}

  const std::string run_id;       // random ID of 40 hexadecimal digits, for INFO
  const int64_t started_ms;       // monotonic time of the server's clock when the server started, in ms
  const int64_t started_wall_ms;  // Unix time when the server started, in ms
};

}  // namespace respite
