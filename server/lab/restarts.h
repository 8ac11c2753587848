// Restarts: kills and restarts servers (TEST CRASH).
//
// This is an interface for commands. Code in server/process implements it.
#pragma once

#include <cstdint>
#include <optional>

#include "server/config/settings.h"

namespace respite {

struct Session;

class Restarts {  // interface that kills and restarts servers (TEST CRASH)
 public:
  struct DataAfterCrash {  // the data that the server finds after the restart
    // kFiles: the files on the disk. kAll: the data that an append-only file would have kept, although there is none.
    enum class From : uint8_t { kFiles, kAll } from = From::kFiles;
    AppendFsync policy = AppendFsync::kAlways;  // decides which tail of the append-only file is lost
  };

  virtual ~Restarts() = default;

  // Kills the server of this client in the next turn and restarts it with its original settings. The client then
  // becomes a new client of that server and gets +OK; all other clients are disconnected. The running request must
  // continue in the next turn (Call::ContinueInNextTurn), and runs again only if the restart has failed. Returns false
  // if this connection cannot stay open.
  virtual bool Crash(const Session& caller, DataAfterCrash remains) = 0;  // false: this connection cannot stay open
};

}  // namespace respite
