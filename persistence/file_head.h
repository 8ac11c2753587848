// FileHead: what the first bytes of a file say that it is. A file that does not begin as an append-only file is named
// in errors, and never cut, because it may be the user's only copy.
#pragma once

#include <cstdint>
#include <string>

#include "persistence/file_system.h"

namespace respite {

struct FileHead {
  enum class Kind : uint8_t {
    kEmpty,
    kRdb,      // "REDIS"
    kRecords,  // "*" or "#": an append-only file begins so
    kOther,
  };
  Kind kind = Kind::kEmpty;
  // Completes "The file is …", for example "a snapshot of Valkey (VALKEY080)".
  std::string what = {};
};

// Cost: one read of a few bytes.
Result<FileHead, IoError> ReadFileHead(File& file);

}  // namespace respite
