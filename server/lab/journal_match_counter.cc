#include "server/lab/journal_match_counter.h"

#include <algorithm>

namespace respite {

bool JournalMatchCounter::Recount(UnsettledEntry& entry) {
  if (entry.seq < journal_.FirstSeq()) return true;
  const RequestEntry& now = journal_.At(entry.seq);
  const bool counts = filter_.Matches(now);
  if (counts && !entry.is_counted) ++count_;
  if (!counts && entry.is_counted) --count_;
  entry.is_counted = counts;
  return now.outcome != RequestEntry::Outcome::kBlocked;
}

uint64_t JournalMatchCounter::Count() {
  if (epoch_ != journal_.Epoch()) {
    epoch_ = journal_.Epoch();
    next_ = count_ = 0;
    unsettled_entries_.clear();
  }
  std::erase_if(unsettled_entries_, [this](UnsettledEntry& entry) { return Recount(entry); });
  for (next_ = std::max(next_, journal_.FirstSeq()); next_ < journal_.NextSeq(); ++next_) {
    const RequestEntry& entry = journal_.At(next_);
    const bool counts = filter_.Matches(entry);
    if (counts) ++count_;
    if (entry.outcome == RequestEntry::Outcome::kBlocked) unsettled_entries_.push_back({next_, counts});
  }
  return count_;
}

}  // namespace respite
