// Restarts: kills servers of this process and restarts them (TEST CRASH).
#pragma once

#include <cstdint>
#include <optional>

#include "server/config/settings.h"

namespace respite {

struct Session;

class Restarts {  // interface that kills and restarts servers (TEST CRASH)
 public:
  struct DataAfterCrash {  // the data that the server finds after the restart
    // What the restarted server loads. kFiles: the files on the disk. kAll: the data that an append-only file would
    // have kept, if there was none.
    enum class From : uint8_t { kFiles, kAll } from = From::kFiles;
    AppendFsync policy = AppendFsync::kAlways;  // decides which tail of the append-only file is lost
  };

  virtual ~Restarts() = default;

  // Kills the server of this client in the next turn and restarts it with its original settings. The client then
  // becomes a client of the new server and gets +OK; all other clients are disconnected. The caller must call
  // Call::ContinueInNextTurn. Its command is resumed only if the restart has failed.
  virtual bool Crash(const Session& caller, DataAfterCrash remains) = 0;  // false: this connection cannot stay open
};

}  // namespace respite
