// StateLog: logs every five seconds the contents of databases (level verbose), and the number of clients and the memory
// in use (level debug).
#pragma once

#include <cstdint>

namespace respite {

struct Services;

class StateLog {
 public:
  // To be called by a timer. Cost: a comparison if the log level hides these lines.
  void Tick(const Services& services);

 private:
  int64_t next_ms_ = 0;  // monotonic
};

}  // namespace respite
