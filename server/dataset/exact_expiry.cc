#include "server/dataset/exact_expiry.h"

#include <algorithm>
#include <tuple>

#include "datatypes/hash.h"
#include "server/dataset/unit.h"

namespace respite {

void ExactExpiry::Begin(int64_t until_wall_ms) {
  until_wall_ms_ = until_wall_ms;
  End();
  for (int db = 0; db < data_.keyspace.Count(); ++db) CollectDeadlines(db);
  std::ranges::sort(planned_deadlines_, [this](const auto& one, const auto& other) { return IsLater(one, other); });
}

void ExactExpiry::End() {
  planned_deadlines_ = {};
  hashes_due_again_ = {};
  keys_ = {};
}

bool ExactExpiry::IsLater(const Deadline& one, const Deadline& other) const {
  if (one.wall_ms != other.wall_ms) return one.wall_ms > other.wall_ms;
  return std::tuple(one.db, KeyOf(one)) > std::tuple(other.db, KeyOf(other));
}

bool ExactExpiry::IsNextDueAgain() const {
  if (planned_deadlines_.empty() || hashes_due_again_.empty()) return planned_deadlines_.empty();
  return IsLater(planned_deadlines_.back(), hashes_due_again_.front());
}

ExactExpiry::Deadline ExactExpiry::Take() {
  const Deadline next = EarliestDeadline();
  if (!IsNextDueAgain()) {
    planned_deadlines_.pop_back();
    Prefetch();
    return next;
  }
  std::ranges::pop_heap(hashes_due_again_, [this](const auto& one, const auto& other) { return IsLater(one, other); });
  hashes_due_again_.pop_back();
  return next;
}

void ExactExpiry::Prefetch() const {
  constexpr size_t kBucketAhead = 16, kEntryAhead = 8;
  if (planned_deadlines_.size() <= kBucketAhead) return;
  const Deadline& far = planned_deadlines_[planned_deadlines_.size() - kBucketAhead];
  const Deadline& near = planned_deadlines_[planned_deadlines_.size() - kEntryAhead];
  data_.keyspace[far.db].PrefetchBucket(far.hash);
  data_.keyspace[near.db].PrefetchEntry(near.hash);
  __builtin_prefetch(keys_.data() + far.key_begin);
}

template <class Visit>
void ExactExpiry::VisitEntriesWithDeadlines(int db, Visit&& visit) const {
  Database& data = data_.keyspace[db];
  const HiddenSlots& hidden = data_.keyspace.hidden();
  uint64_t cursor = 0;
  do {
    cursor = data.ScanEntriesWithDeadline(cursor, [&](const Entry* entry) {
      if (!hidden.HasKey(entry->Key())) visit(*entry, entry->Deadline(), false);
    });
  } while (cursor != 0);
  do {
    cursor = data.ScanHashesWithFieldDeadlines(cursor, [&](Entry* entry) {
      if (hidden.HasKey(entry->Key())) return;
      visit(*entry, Hash({ValueSlot(entry), data_.limits, 0}).NextDeadline(), true);
    });
  } while (cursor != 0);
}

void ExactExpiry::CollectDeadlines(int db) {
  VisitEntriesWithDeadlines(db, [&](const Entry& entry, int64_t deadline_ms, bool) {
    if (!IsInPlannedTime(deadline_ms)) return;
    const Bytes key = entry.Key();
    const uint64_t hash = data_.keyspace[db].Hash(key);
    planned_deadlines_.push_back({deadline_ms, db, static_cast<uint32_t>(key.size()), keys_.size(), hash});
    keys_ += key;
  });
}

std::optional<ExactExpiry::EarliestExpiry> ExactExpiry::FindEarliest() const {
  std::optional<EarliestExpiry> earliest;
  if (removal_->Now() != KeyRemovalPermission::Answer::kYes) return earliest;
  for (int db = 0; db < data_.keyspace.Count(); ++db) {
    VisitEntriesWithDeadlines(db, [&](const Entry& entry, int64_t deadline_ms, bool is_field) {
      const auto place = std::tuple(deadline_ms, db, entry.Key());
      if (deadline_ms == kNoDeadline) return;
      if (earliest && place >= std::tuple(earliest->wall_ms, earliest->db, Bytes(earliest->key))) return;
      earliest = EarliestExpiry{deadline_ms, db, std::string(entry.Key()), is_field};
    });
  }
  return earliest;
}

int64_t ExactExpiry::NextDueMs() const {
  if (IsEmpty() || removal_->Now() != KeyRemovalPermission::Answer::kYes) return Timers::kNever;
  return EarliestDeadline().wall_ms - (clock_.WallUs() - clock_.MonotonicUs()) / 1000;
}

void ExactExpiry::RunDue(int64_t) {
  const int64_t wall_ms = EarliestDeadline().wall_ms;
  while (!IsEmpty() && EarliestDeadline().wall_ms == wall_ms) Remove(Take());
}

void ExactExpiry::Remove(const Deadline& deadline) {
  Unit unit(data_, clock_.WallMs() + 1, ExpiryRule::kPurge);  // a key exists through the millisecond of its deadline
  Entry* entry = data_.keyspace[deadline.db].Find(KeyOf(deadline), deadline.hash);
  if (entry != nullptr && entry->IsExpired(unit.now_ms())) {
    unit.Purge(deadline.db, entry);
  } else if (entry != nullptr && entry->HasFieldDeadlines()) {
    entry = unit.PurgeFields(deadline.db, entry);
    const int64_t next_ms =
        entry == nullptr ? kNoDeadline : Hash({ValueSlot(entry), data_.limits, unit.now_ms()}).NextDeadline();
    if (IsInPlannedTime(next_ms)) {
      hashes_due_again_.push_back(deadline);
      hashes_due_again_.back().wall_ms = next_ms;
      std::ranges::push_heap(hashes_due_again_,
                             [this](const auto& one, const auto& other) { return IsLater(one, other); });
    }
  }
  unit.Close();
}

}  // namespace respite
