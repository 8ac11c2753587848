// Restarts: servers that end as if they were killed, and begin again (TEST CRASH).
//
// This is what commands ask of them. Whoever makes servers (the process) does it, and is above this room.
#pragma once

#include <cstdint>
#include <optional>

#include "server/config/settings.h"

namespace respite {

struct Session;

class Restarts {
 public:
  // Where the server finds its data again.
  struct Remains {
    // kFiles: in what is on the disk. kAll: it has no append-only file, but has what that would have kept.
    enum class From : uint8_t { kFiles, kAll } from = From::kFiles;
    AppendFsync policy = AppendFsync::kAlways;  // which end of its append-only file is lost
  };

  virtual ~Restarts() = default;

  // In the next Turn the server of this client ends, and begins again with the settings of its start. The client is
  // then a new one of it, and gets +OK; the others lose their connections. The running request must go on in the next
  // Turn (Call::ContinueInNextTurn), and runs again only if this has failed. False: this connection cannot stay.
  virtual bool Crash(const Session& caller, Remains remains) = 0;
};

}  // namespace respite
