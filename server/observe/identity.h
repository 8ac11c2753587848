// Identity: the IDs of this server and of its data's history, and its start time.
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
  std::string replication_id;  // identifies the history of the data for replicas (INFO's master_replid)
  const int64_t started_ms;    // monotonic
  const int64_t started_wall_ms;
};

}  // namespace respite
