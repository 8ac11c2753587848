// Restarts: simulates the crash of a server of this process, and starts it again (TEST CRASH).
#pragma once

#include <cstdint>
#include <optional>

#include "server/config/settings.h"

namespace respite {

struct Session;

class Restarts {  // interface that kills and restarts servers (TEST CRASH)
 public:
  struct DataAfterCrash {  // which data a restarted server loads
    // The data that the restarted server loads. kFiles: the files on the disk. kAll: all data that the server had
    // before the crash, even if no file has it.
    enum class From : uint8_t { kFiles, kAll } from = From::kFiles;
    AppendFsync policy = AppendFsync::kAlways;  // how much of the AOF survives: what this appendfsync guarantees
  };

  virtual ~Restarts() = default;

  // Simulates a crash: ends the server of the client `caller` in the next turn, and starts a new one with the original
  // settings. The connection of `caller` stays open: it leads to the new server from then on, and the client gets +OK.
  // All other clients are disconnected. The client's command must call Call::ContinueInNextTurn. It runs again only if
  // the old server could not be ended, and must then reply with an error. Returns false if the server cannot be
  // restarted, or if the connection cannot be kept (a replica, or a client whose output is held back).
  virtual bool Crash(const Session& caller, DataAfterCrash remains) = 0;  // simulates a crash; false: impossible
};

}  // namespace respite
