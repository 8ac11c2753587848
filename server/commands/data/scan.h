// Helpers for SCAN, HSCAN, SSCAN and ZSCAN: cursors, options, and the scan of a table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/glob.h"
#include "datatypes/entry.h"
#include "server/execution/args.h"

namespace respite {

struct Call;

// Unlike a Glob, a filter with the pattern `*` also matches the empty text.
class GlobFilter {  // a glob pattern with a fast path for "*", for KEYS and SCAN
 public:
  explicit GlobFilter(Bytes pattern) : matches_all_(pattern == "*"), glob_(pattern) {}
  bool Matches(Bytes text) const { return matches_all_ || glob_.Matches(text); }  // whether the pattern matches `text`

 private:
  bool matches_all_;  // true: the pattern is "*", so every text matches
  Glob glob_;
};

// Parses a cursor as strtoul does in Redis: accepts a sign and leading zeros, and reads an empty word as 0.
uint64_t ParseCursor(Bytes word);  // parses a cursor; throws a Refusal for other text
// Parses a cursor as the emulated version does. Without the trait cursors_are_lenient, blanks may precede the number,
// an empty word is refused, and so is a number with '-' that is negative in 64 bits: -1 is, -9223372036854775809 is
// not.
uint64_t ParseCursor(const Call& call, Bytes word);  // parses a cursor as the emulated version does, or throws

struct ScanOptions {              // the options of SCAN, HSCAN, SSCAN, ZSCAN and CLUSTERSCAN
  int64_t count = 10;             // value of COUNT: about how many elements one call visits
  GlobFilter filter{"*"};         // the pattern of MATCH; "*" without MATCH
  bool filters_by_type = false;   // TYPE was given: the reply has only keys of that type
  std::optional<ValueType> type;  // value of TYPE; nullopt although filters_by_type is true: an unknown type
  bool omits_values = false;      // NOVALUES or NOSCORES: the reply has no values or scores
  std::optional<int> slot;        // value of SLOT, for CLUSTERSCAN
  std::optional<Bytes> pattern;   // value of MATCH; valid during the request. `filter` is made from it

  bool Matches(Bytes text) const { return filter.Matches(text); }  // whether the text matches the pattern of MATCH
};

// What a command scans, which decides the options that it accepts. With kKeysOfKnownTypes, TYPE with an unknown type is
// an error.
enum class ScanKind : uint8_t { kKeys, kKeysOfKnownTypes, kFields, kMembers, kScoredMembers, kCluster };

ScanOptions ParseScanOptions(Args& args, ScanKind scan_of);  // parses the options after the cursor of SCAN

// Removes from `scanned` the keys that do not match the options, have expired, or are in a slot that is being imported.
// SCAN with TYPE looks at each key that matches the pattern as DialectTraits::scan_type_check says.
std::vector<const Entry*> FilterKeys(Call& call,  // the keys in `scanned` that match and have not expired
                                     const ScanOptions& options, std::vector<const Entry*> scanned);

// Continues a scan at `cursor`, and calls visit(slot) for each slot (stored item of the hash table) that it finds.
// Stops after `count` slots, or after ten times as many calls of table.Scan, because a call visits one bucket, which
// may be empty. Slots that `visit` ignores also count. `table` needs the function Scan, as HashIndex has it.
template <class Table, class Visit>
uint64_t WalkTable(const Table& table,  // visits about `count` used slots from `cursor` on; returns the next; 0: end
                   uint64_t cursor, int64_t count, Visit&& visit) {
  constexpr int64_t kPlacesPerSlot = 10;
  constexpr int64_t kMaxCount = std::numeric_limits<int64_t>::max() / kPlacesPerSlot;
  int64_t places = std::min(count, kMaxCount) * kPlacesPerSlot;
  int64_t met = 0;
  do {
    cursor = table.Scan(cursor, [&](const auto& slot) {
      ++met;
      visit(slot);
    });
  } while (cursor != 0 && places-- > 0 && met < count);
  return cursor;
}

}  // namespace respite
