// Restarts: kills servers of this process and restarts them (TEST CRASH).
#pragma once

#include <cstdint>
#include <optional>

#include "server/config/settings.h"

namespace respite {

struct Session;

class Restarts {  // interface that kills and restarts servers (TEST CRASH)
 public:
  struct DataAfterCrash {  // which data a restarted server loads
    // What the restarted server loads. kFiles: the files on the disk. kAll: all data, as if an append-only file had
    // kept it, although there is none.
    enum class From : uint8_t { kFiles, kAll } from = From::kFiles;
    AppendFsync policy = AppendFsync::kAlways;  // the appendfsync setting that decides how much data is lost
  };

  virtual ~Restarts() = default;

  // Kills the server of the client `caller` in the next turn, and restarts it with its original settings. The client
  // then becomes a client of the new server and gets +OK; all other clients are disconnected. The client's command must
  // call Call::ContinueInNextTurn, and is resumed only if the restart has failed. Returns false if the server cannot
  // crash.
  virtual bool Crash(const Session& caller, DataAfterCrash remains) = 0;  // kills the client's server; false: cannot
};

}  // namespace respite
