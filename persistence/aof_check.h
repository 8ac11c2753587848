// Checks the files of an append-only file. On request, truncates the last file after its last good record, or at a
// point in time. Does the work of redis-check-aof, mostly with the same messages.
//
// A path names a manifest or one file, as Redis before version 7 has it: records of commands, or an RDB followed by
// records. AofReader reads the records, as in a server, so a server can read every file that passes here. AofReader
// refuses a little more than Redis' tool does (aof_reader.h says what). Other differences from that tool: line numbers
// begin at 1 in each file. A file is opened for writing only to truncate it. A file that a running Respite server
// writes is not truncated. Truncation at a point in time never leaves half a transaction.
#pragma once

#include <cstdint>
#include <string>

#include "persistence/file_system.h"
#include "persistence/rdb_check.h"

namespace respite {

struct AofCheckOptions {  // whether CheckAof only reports damage, or also repairs the files
  enum class Action : uint8_t {
    kLook,                 // only reports damage
    kFix,                  // asks the user, then removes everything after the last good record of the last file
    kTruncateToTimestamp,  // removes later records of the last file, according to the annotations (#TS:…)
  };
  Action action = Action::kLook;  // only reports damage, repairs the last file, or truncates it
  int64_t timestamp_s = 0;        // Unix time in s; kTruncateToTimestamp removes later records
  int64_t now_ms = 0;             // Unix time in ms; keys of an RDB with earlier deadlines count as expired
};

bool CheckAof(FileSystem& files, const std::string& path,  // true: all files are good, empty or were truncated
              const AofCheckOptions& options, CheckConsole& console);

}  // namespace respite
