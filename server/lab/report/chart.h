// Chart: the journal as a sequence chart, for TEST REPORT: a column for each client, a row for each entry, time
// downwards. Locks and waits are spans of a column. The writers of HTML and text draw it.
//
// It refers to the journal, which must not change as long as the chart is used.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "server/lab/request_journal.h"

namespace respite {

inline constexpr size_t kNoColumn = SIZE_MAX;

// From one height to another. Row n has the heights 2n, its upper end, and 2n + 1, its middle.
struct ChartSpan {
  size_t column = 0;
  size_t from = 0;
  size_t to = 0;
};

struct Chart {
  struct Column {
    std::shared_ptr<const RequestOwner> client;  // what it was called last
    size_t lanes = 0;                            // for its locks: so many are held at a time, kMostLanes at most
  };
  struct Row {
    int64_t at_us = 0;          // since `begin_us`
    size_t column = kNoColumn;  // of an expired key: that of who held it as a lock
    const RequestEntry* entry;  // null: a key expired
    const ExpiredKey* expired;  // or null
    int level = 0;              // 1 within a transaction or a script, 2 within both
    bool is_claimed = false;    // the EXEC or EVAL that ran it stands above it
  };
  struct Lock : ChartSpan {
    size_t lane = 0;
    const HeldLock* lock = nullptr;
  };
  // A request that was blocked.
  struct Wait : ChartSpan {
    const RequestEntry* entry = nullptr;
  };

  static constexpr size_t kMostLanes = 6;  // more locks of one client share the last one

  int64_t begin_us = 0;  // of the first row, since 1970
  std::vector<Column> columns;
  std::vector<Row> rows;
  std::vector<Lock> locks;
  std::vector<Wait> waits;
  uint64_t requests = 0;  // that fit the filter
  uint64_t left_out = 0;  // of these: there was no place for them
  uint64_t lost = 0;      // entries that the journal has dropped
};

// The last entries that fit the filter, with the locks of their clients and the keys that expired meanwhile. The EVAL
// and the EXEC stand above what they ran. Cost: O(entries of the journal + locks · log locks).
Chart MakeChart(const RequestJournal& journal, const JournalFilter& filter, size_t last);

}  // namespace respite
