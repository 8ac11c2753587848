// StateLog: every five seconds the log tells, at level verbose, what the databases hold, and at level debug how many
// clients there are and how much memory is in use.
#pragma once

#include <cstdint>

namespace respite {

struct Services;

class StateLog {
 public:
  // To be called by a timer. Cost: a compare while the log shows less.
  void Tick(const Services& services);

 private:
  int64_t next_ms_ = 0;  // monotonic
};

}  // namespace respite
