// StateLog: logs every five seconds the contents of databases (level verbose), and the number of clients and the memory
// in use (level debug).
#pragma once

#include <cstdint>

namespace respite {

class Clients;
class Clock;
class Keyspace;
class Logger;
class MemoryGauge;
class ServerPhase;

class StateLog {
 public:
  struct Parts {
    const Clock& clock;
    Logger& log;
    const Keyspace& keyspace;
    const Clients& clients;
    const MemoryGauge& memory;
    const ServerPhase& phase;
  };

  // Logs the state if it is due. Must be called by a timer. Cost: a comparison if the log level hides these lines.
  void Tick(const Parts& parts);

 private:
  int64_t next_ms_ = 0;  // monotonic
};

}  // namespace respite
