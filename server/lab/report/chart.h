// Chart: the journal as a sequence chart, for TEST REPORT. The chart has a column for each client and a row for each
// request or expired key, and time runs downwards. Locks and waits extend over several rows of a column. HtmlReport and
// TextReport draw the chart.
//
// A chart refers to the journal, which must not change while the chart exists.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "server/lab/request_journal.h"

namespace respite {

inline constexpr size_t kNoColumn = SIZE_MAX;  // the row belongs to no client

struct ChartSpan {    // a vertical part of a column; row n begins at height 2n, its middle is at 2n + 1
  size_t column = 0;  // index of the client's column
  size_t from = 0;
  size_t to = 0;
};

struct Chart {                                   // the journal as a sequence chart, for TEST REPORT
  struct Column {                                // the column of one client
    std::shared_ptr<const RequestOwner> client;  // the client, with its latest known name
    size_t lanes = 0;                            // how many lock bars stand side by side, at most kMaxLanes
  };
  struct Row {                    // a request or an expired key; time runs downwards
    int64_t at_us = 0;            // time in µs since `begin_us`
    size_t column = kNoColumn;    // index of the client's column (for an expired lock, its holder's); kNoColumn: none
    const RequestEntry* entry;    // the request that the row shows; null for an expired key
    const ExpiredKey* expired;    // the expired key that the row shows; null for a request
    int level = 0;                // 1: run by a transaction or a script; 2: by a script of a transaction
    bool has_parent_row = false;  // true: the EXEC or EVAL that ran this request has a row above
  };
  struct Lock : ChartSpan {            // the time for which a client held a lock
    size_t lane = 0;                   // index of the lane, which is a bar beside the column
    const LockRecord* lock = nullptr;  // the lock in the journal
  };
  struct Wait : ChartSpan {               // the time for which a request was blocked
    const RequestEntry* entry = nullptr;  // the blocked request in the journal
  };

  static constexpr size_t kMaxLanes = 6;  // bars for locks per client; the last bar also shows all further locks

  int64_t begin_us = 0;         // Unix time of the first row, in microseconds
  std::vector<Column> columns;  // one column for each client
  std::vector<Row> rows;        // from top to bottom
  std::vector<Lock> locks;      // the times during which clients held locks
  std::vector<Wait> waits;      // the times during which requests were blocked
  uint64_t requests = 0;        // number of requests in the journal that match the filter
  uint64_t hidden_count = 0;    // number of matching requests that are older than the first shown one
  uint64_t lost = 0;            // number of entries that the journal has dropped
};

// Makes a sequence chart of the last entries that match the filter, of the locks of their clients, and of the keys that
// expired in that time. `last` is the maximum number of entries. EVAL and EXEC are placed above the commands that they
// ran. Cost: O(entries of the journal + locks · log locks).
Chart MakeSequenceChart(const RequestJournal& journal, const JournalFilter& filter,  // shows the last requests
                        size_t last);

}  // namespace respite
