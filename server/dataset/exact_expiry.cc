#include "server/dataset/exact_expiry.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "datatypes/hash.h"
#include "server/dataset/unit.h"

namespace respite {

void ExactExpiry::Begin(int64_t until_wall_ms) {
  until_wall_ms_ = until_wall_ms;
  due_.clear();
  for (int db = 0; db < data_.keyspace.Count(); ++db) Collect(db);
  std::ranges::make_heap(due_, std::greater());
}

template <class Visit>
void ExactExpiry::VisitTimed(int db, Visit&& visit) const {
  Database& data = data_.keyspace[db];
  const HiddenSlots& hidden = data_.keyspace.hidden();
  uint64_t cursor = 0;
  do {
    cursor = data.ScanTimed(cursor, [&](const Entry* entry) {
      if (!hidden.HasKey(entry->Key())) visit(*entry, entry->Deadline(), false);
    });
  } while (cursor != 0);
  do {
    cursor = data.ScanTimedFields(cursor, [&](Entry* entry) {
      if (hidden.HasKey(entry->Key())) return;
      visit(*entry, Hash({ValueSlot(entry), data_.limits, 0}).NextDeadline(), true);
    });
  } while (cursor != 0);
}

void ExactExpiry::Collect(int db) {
  VisitTimed(db, [&](const Entry& entry, int64_t deadline_ms, bool) {
    if (IsInTime(deadline_ms)) due_.push_back({deadline_ms, db, std::string(entry.Key())});
  });
}

std::optional<ExactExpiry::Earliest> ExactExpiry::FindEarliest() const {
  std::optional<Earliest> earliest;
  if (removal_.Now() != KeyRemoval::Answer::kYes) return earliest;
  for (int db = 0; db < data_.keyspace.Count(); ++db) {
    VisitTimed(db, [&](const Entry& entry, int64_t deadline_ms, bool is_field) {
      const auto place = std::tuple(deadline_ms, db, entry.Key());
      if (deadline_ms == kNoDeadline) return;
      if (earliest && place >= std::tuple(earliest->wall_ms, earliest->db, Bytes(earliest->key))) return;
      earliest = Earliest{deadline_ms, db, std::string(entry.Key()), is_field};
    });
  }
  return earliest;
}

int64_t ExactExpiry::NextDueMs() const {
  if (due_.empty() || removal_.Now() != KeyRemoval::Answer::kYes) return Timers::kNever;
  return due_.front().wall_ms - (clock_.WallUs() - clock_.MonotonicUs()) / 1000;
}

void ExactExpiry::RunDue(int64_t) {
  const int64_t wall_ms = due_.front().wall_ms;
  while (!due_.empty() && due_.front().wall_ms == wall_ms) {
    std::ranges::pop_heap(due_, std::greater());
    const Deadline deadline = std::move(due_.back());
    due_.pop_back();
    Remove(deadline);
  }
}

void ExactExpiry::Remove(const Deadline& deadline) {
  Unit unit(data_, clock_.WallMs() + 1, ExpiryRule::kPurge);  // a key lives through the millisecond of its deadline
  Entry* entry = data_.keyspace[deadline.db].Find(deadline.key);
  if (entry != nullptr && entry->IsExpired(unit.now_ms())) {
    unit.Purge(deadline.db, entry);
  } else if (entry != nullptr && entry->HasTimedFields()) {
    entry = unit.PurgeFields(deadline.db, entry);
    const int64_t next_ms =
        entry == nullptr ? kNoDeadline : Hash({ValueSlot(entry), data_.limits, unit.now_ms()}).NextDeadline();
    if (IsInTime(next_ms)) {
      due_.push_back({next_ms, deadline.db, deadline.key});
      std::ranges::push_heap(due_, std::greater());
    }
  }
  unit.Close();
}

}  // namespace respite
