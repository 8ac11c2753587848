// FileFormat: the kind of a file, judged by its first bytes. If a file that should be an append-only file begins like
// something else, the error message names its kind. Such a file is never truncated, because the file may be the user's
// only copy.
#pragma once

#include <cstdint>
#include <string>

#include "persistence/file_system.h"

namespace respite {

struct FileFormat {  // the kind of a file (RDB, append-only file or other), by its first bytes
  enum class Kind : uint8_t {
    kEmpty,
    kRdb,      // "REDIS" or "VALKEY"
    kRecords,  // "*" or "#", the beginning of an append-only file
    kOther,
  };
  Kind kind = Kind::kEmpty;  // kOther: no RDB, and no append-only file
  std::string what = {};     // completes "The file is …", for example "a snapshot of Valkey (VALKEY080)"
};

// Cost: one read of a few bytes.
Result<FileFormat, IoError> DetectFileFormat(File& file);  // reads the first bytes of a file, which tell the format

}  // namespace respite
