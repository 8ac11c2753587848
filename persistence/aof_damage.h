// FindLaterRecord examines the rest of an append-only file after the place where reading stopped. A damaged length
// looks as if the file ended too early, so a file is truncated only if no complete record is in what would be lost.
//
// A value may contain the text of records. If its record was cut off, both explanations fit; then the file is not cut
// either, and the user decides. If a wrong length ends exactly at the end of a later record,
// the damage is not detected.
#pragma once

#include <cstdint>
#include <string>

#include "persistence/file_system.h"

namespace respite {

struct LaterRecord {
  enum class Kind : uint8_t {
    kNone,
    kFound,
    kUnclear,    // the search gave up, because too many texts look like records
    kReadError,  // see `error`
  };
  Kind kind = Kind::kNone;
  uint64_t offset = 0;       // of the record that was found
  std::string command = {};  // its first word
  IoError error = kNoError;
};

// Looks for the first complete record that begins on a line of its own in [from, end); Ignores a
// record at `from` itself.
// Cost: O(end - from), whatever the content; memory for one chunk.
LaterRecord FindLaterRecord(File& file, uint64_t from, uint64_t end);

// Says what was found, why the file is not cut at `offset`, and how to continue. Requires: kFound or kUnclear.
std::string WhyNotCut(const std::string& path, uint64_t offset, const LaterRecord& later);

}  // namespace respite
