// FindLaterRecord examines the rest of an append-only file after the position where reading stopped. Either the server
// stopped while it wrote the last record, or the length in a record is damaged. In both cases the file seems to end too
// early, but truncating is right only in the first case. So a file is truncated only if the removed part contains no
// complete record.
//
// A value may itself contain the text of records. If the last record is cut off within such a value, the search finds
// records that are only part of the value. The search cannot tell such records from real ones. So the file is not
// truncated, and the user decides. A wrong length is not detected if the wrong end is exactly the end of a later
// record.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "persistence/file_system.h"

namespace respite {

struct LaterRecord {  // the first complete record after the damage in an append-only file, if any
  enum class Kind : uint8_t {
    kNone,       // there is no such record
    kFound,      // see `offset` and `command`
    kUnclear,    // the search stopped because too many texts look like records
    kReadError,  // see `error`
  };
  Kind kind = Kind::kNone;   // the result of the search
  uint64_t offset = 0;       // where the found record begins in the file
  std::string command = {};  // name of the found record's command
  IoError error = kNoError;  // why the file could not be read, for kReadError
};

// Finds the first complete record that begins at the start of a line in [from, end). Ignores a record at `from` itself,
// and a record whose first word cannot be the name of a command. Gives up (kUnclear) if too many texts look like
// records. Cost: O(end - from) for any content, in 64 KB of memory.
LaterRecord FindLaterRecord(File& file, uint64_t from, uint64_t end);  // searches for a complete record after `from`

// Copies the bytes in [from, end) of `file` to a new file: `path`.removed, or if that exists, `path`.removed.2 and so
// on. Syncs it, and returns its path. To be called before these bytes are removed from the file at `path`, if they may
// contain complete records. After an error, there is no copy.
Result<std::string, IoError> KeepRemovedPart(FileSystem& files, File& file,  // copies the end of a file to a new file
                                             const std::string& path, uint64_t from, uint64_t end);

// Returns a message for the user: which record was found, why the file is not truncated at `offset`, and how to
// continue. Requires: later.kind is kFound or kUnclear.
std::string TruncationRefusalText(const std::string& path,  // message: why the file is not truncated at `offset`
                                  uint64_t offset, const LaterRecord& later);

}  // namespace respite
