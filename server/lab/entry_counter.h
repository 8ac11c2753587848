// EntryCounter: counts the journal entries that match a filter, for repeated queries (TEST AWAIT COMMAND). Each entry
// is checked only once, unless its request is still blocked.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "server/lab/request_journal.h"

namespace respite {

class EntryCounter {
 public:
  // `journal` must outlive this object.
  EntryCounter(const RequestJournal& journal, JournalFilter filter)
      : journal_(journal), filter_(std::move(filter)), epoch_(journal.Epoch()), next_(journal.FirstSeq()) {}

  // Returns the number of matching entries since the counting began, including those that were dropped meanwhile. The
  // entries that existed at the beginning count also. Cost: O(entries that are new or blocked).
  uint64_t Count();

 private:
  // An entry whose request was blocked when it was checked.
  struct Blocked {
    uint64_t seq;
    bool counts;
  };

  // Updates the count for this entry. Returns true if its request is no longer blocked.
  bool LookAgain(Blocked& entry);

  const RequestJournal& journal_;
  const JournalFilter filter_;
  uint64_t epoch_;
  uint64_t next_;
  uint64_t count_ = 0;
  std::vector<Blocked> blocked_;
};

}  // namespace respite
