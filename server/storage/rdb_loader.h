// Reading RDB files into the keyspace: at the start, for DEBUG RELOAD, and as the beginning of an append-only file.
#pragma once

#include <cstdint>
#include <string>

#include "persistence/file_system.h"

namespace respite {

struct Services;
struct Session;

struct RdbLoadOptions {
  // What is past its deadline is left out, as Redis does on a primary. Kept: what follows in an append-only file was
  // written when it was still there.
  enum class Expired : uint8_t { kDrop, kKeep };
  // A key that is there already: the file is bad, or the new value replaces the old.
  enum class Duplicates : uint8_t { kRefuse, kReplace };

  Expired expired = Expired::kDrop;
  Duplicates duplicates = Duplicates::kRefuse;
  uint64_t loaded_before = 0;  // octets of other files, for Loading
};

enum class LoadOutcome : uint8_t {
  kLoaded,
  kAbsent,
  kFailed,   // the log says why
  kStopped,  // the server shall end
};

struct RdbLoadEnd {
  LoadOutcome outcome;
  uint64_t offset;  // behind the RDB
};

// Adds what stands in `file` from `offset` on to the data set; `name` is for the log. Requires: loading().Active().
// A failure leaves what was read before it.
RdbLoadEnd LoadRdb(const Services& services, File& file, const std::string& name, uint64_t offset,
                   const RdbLoadOptions& options);

// The same for the whole dump file of the server. `holder` as for Loading::Begin.
LoadOutcome LoadDump(const Services& services, const RdbLoadOptions& options, const Session* holder = nullptr);

}  // namespace respite
