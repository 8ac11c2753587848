// EntryCounter: how many entries of the journal fit a filter, for who asks again and again (TEST AWAIT COMMAND): each
// entry is looked at once, unless it can still change.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "server/lab/request_journal.h"

namespace respite {

class EntryCounter {
 public:
  // The journal must outlive it.
  EntryCounter(const RequestJournal& journal, JournalFilter filter)
      : journal_(journal), filter_(std::move(filter)), epoch_(journal.Epoch()), next_(journal.FirstSeq()) {}

  // Those since the first entry that was there when the counting began, also when they are too old to be kept by now.
  // Cost: O(entries that are new or blocked).
  uint64_t Count();

 private:
  // An entry whose request was blocked when it was looked at.
  struct Blocked {
    uint64_t seq;
    bool counts;
  };

  // Whether its request is blocked no more.
  bool LookAgain(Blocked& entry);

  const RequestJournal& journal_;
  const JournalFilter filter_;
  uint64_t epoch_;
  uint64_t next_;
  uint64_t count_ = 0;
  std::vector<Blocked> blocked_;
};

}  // namespace respite
