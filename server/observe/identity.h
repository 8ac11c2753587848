// Identity: how this server names itself and its history, and since when it runs.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/random.h"

namespace respite {

struct Identity {
  explicit Identity(const Clock& clock)
      : run_id(RandomHex(40)),
        replication_id(RandomHex(40)),
        started_ms(clock.MonotonicMs()),
        started_wall_ms(clock.WallMs()) {}

  const std::string run_id;
  std::string replication_id;  // names the history of the data, for replicas (INFO's master_replid)
  const int64_t started_ms;    // monotonic
  const int64_t started_wall_ms;
};

}  // namespace respite
