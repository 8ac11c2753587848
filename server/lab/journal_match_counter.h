// JournalMatchCounter: counts the journal entries that match a filter, for queries that are repeated (TEST AWAIT
// COMMAND). Each entry is checked only once, or again if its request was still blocked.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "server/lab/request_journal.h"

namespace respite {

class JournalMatchCounter {  // counts the entries of TEST JOURNAL that match a filter
 public:
  // `journal` must outlive this object.
  JournalMatchCounter(const RequestJournal& journal, JournalFilter filter)
      : journal_(journal), filter_(std::move(filter)), epoch_(journal.Epoch()), next_(journal.FirstSeq()) {}

  // Returns the number of matching entries since the journal was last cleared. Also counts entries from before this
  // object was made, and counted entries that the journal has dropped since. Cost: O(entries that are new or were
  // blocked).
  uint64_t Count();  // number of matching entries since the journal was last cleared

 private:
  struct UnsettledEntry {  // an entry whose request was blocked at the last Count, so it may still match or not
    uint64_t seq;
    bool is_counted;  // true: count_ includes the entry, because it matched
  };

  bool Recount(UnsettledEntry& entry);  // counts an entry again; true: it will not change any more

  const RequestJournal& journal_;  // the journal whose entries are counted
  const JournalFilter filter_;     // which entries are counted
  uint64_t epoch_;                 // RequestJournal::Epoch at the last Count; changes when the journal is cleared
  uint64_t next_;                  // number of the next journal entry to check
  uint64_t count_ = 0;             // number of matching entries so far
  std::vector<UnsettledEntry> unsettled_entries_;  // entries that the next Count checks again
};

}  // namespace respite
