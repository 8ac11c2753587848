// Checks the files of an append-only file, and cuts the last one where it is damaged or at a point in time: what
// redis-check-aof does, in its words.
//
// A path names a manifest, or one file: records of commands, or an RDB with records behind it, as Redis had it before
// version 7. Records are read by AofReader, so that what passes here is what a server loads; it refuses a little more
// than Redis' tool (see there). Differences besides: line numbers begin at 1 in each file; a file is opened for writing
// only when it is to be cut; one that a running server of ours writes to is not cut; and a cut at a point in time
// leaves no half transaction.
#pragma once

#include <cstdint>
#include <string>

#include "persistence/check_console.h"
#include "persistence/file_system.h"

namespace respite {

struct AofCheckOptions {
  enum class Action : uint8_t {
    kLook,
    kFix,                  // asks, then removes what is behind the last good record of the last file
    kTruncateToTimestamp,  // removes what was written later than `timestamp_s`, as the annotations say
  };
  Action action = Action::kLook;
  int64_t timestamp_s = 0;
  int64_t now_ms = 0;  // tells which keys of an RDB have expired
};

// True when all files are good, or have been made so. Cost: O(octets).
bool CheckAof(FileSystem& files, const std::string& path, const AofCheckOptions& options, CheckConsole& console);

}  // namespace respite
