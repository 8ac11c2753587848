// What SCAN and its sisters for hashes, sets and sorted sets have in common: cursor, options, the walk over a table.
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

// What KEYS and SCAN look for. A lone star matches everything, also the empty text, which Glob would not let it do.
class TextFilter {
 public:
  explicit TextFilter(Bytes pattern) : matches_all_(pattern == "*"), glob_(pattern) {}
  bool Matches(Bytes text) const { return matches_all_ || glob_.Matches(text); }

 private:
  bool matches_all_;
  Glob glob_;
};

// Redis: reads a cursor as strtoul does: a sign and leading zeros are welcome, the empty word means 0.
uint64_t ParseCursor(Bytes word);

struct ScanOptions {
  int64_t count = 10;
  TextFilter filter{"*"};
  bool by_type = false;
  std::optional<ValueType> type;  // by_type without one: a type that no value has
  bool without_values = false;

  bool Matches(Bytes text) const { return filter.Matches(text); }
};

enum class ScanOf : uint8_t { kKeys, kFields, kMembers };  // each has an option of its own

ScanOptions ParseScanOptions(Args& args, ScanOf scan_of);

// Walks a table on from `cursor` until `count` slots were met, whatever becomes of them, or until the walk has seen ten
// times as many places, and calls visit(slot) for each. `table` is what has HashIndex' Scan. Returns the next cursor.
template <class Table, class Visit>
uint64_t WalkTable(const Table& table, uint64_t cursor, int64_t count, Visit&& visit) {
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
