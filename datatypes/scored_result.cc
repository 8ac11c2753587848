#include "datatypes/scored_result.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/memory.h"
#include "datatypes/listpack.h"
#include "datatypes/sorted_set.h"

namespace respite {

ScoredResult::~ScoredResult() {
  for (const ScoreTree::Item& item : items_) ScoredMember::Destroy(item.member);
}

void ScoredResult::Append(Bytes member, double score) {
  ScoreTable::PreparePool(pool_, items_.size());
  items_.push_back({score, ScoredMember::Create(score, member, pool_.get())});
}

double ScoredResult::AggregateScores(double one, double other, Aggregate aggregate) {
  if (aggregate == Aggregate::kMin) return other < one ? other : one;
  if (aggregate == Aggregate::kMax) return other > one ? other : one;
  const double sum = one + other;
  return std::isnan(sum) ? 0 : sum;
}

void ScoredResult::Combine(Bytes member, double score, Aggregate aggregate) {
  const uint64_t hash = members_.Hash(member);
  if (ScoredMember* record = members_.Find(member, hash)) {
    return record->SetScore(AggregateScores(record->Score(), score, aggregate));
  }
  Append(member, score);
  members_.Insert(items_.back().member, hash);
}

bool ScoredResult::Remove(Bytes member) {
  ScoredMember* record = members_.Remove(member, members_.Hash(member));
  if (record == nullptr) return false;
  // The score NaN marks the record as removed. SortedItems() later removes the record from the list.
  record->SetScore(std::nan(""));
  return true;
}

std::span<const ScoreTree::Item> ScoredResult::SortedItems() {
  constexpr size_t kAhead = 8;
  size_t kept = 0;
  for (size_t i = 0; i < items_.size(); ++i) {
    if (i + kAhead < items_.size()) Prefetch(items_[i + kAhead].member);
    ScoredMember* record = items_[i].member;
    if (std::isnan(record->Score())) {
      ScoredMember::Destroy(record);
    } else {
      items_[kept++] = {record->Score(), record};
    }
  }
  items_.resize(kept);
  std::sort(items_.begin(), items_.end(), [](const ScoreTree::Item& a, const ScoreTree::Item& b) {
    return a.score != b.score ? a.score < b.score : a.member->Member() < b.member->Member();
  });
  return items_;
}

bool ScoredResult::FitsListpack(const EncodingLimits& limits) const {
  return items_.size() <= limits.zset_max_listpack_entries &&
         std::all_of(items_.begin(), items_.end(), [&](const ScoreTree::Item& item) {
           return item.member->Member().size() <= limits.zset_max_listpack_value;
         });
}

EntryPtr ScoredResult::MakeSortedSetEntry(Bytes key, const EncodingLimits& limits, uint32_t access) {
  SortedItems();
  if (!FitsListpack(limits)) {
    auto table = members_.Size() == items_.size()
                     ? std::make_unique<ScoreTable>(std::move(members_), items_, std::move(pool_))
                     : std::make_unique<ScoreTable>(members_.hash_key(), items_, std::move(pool_));
    items_.clear();
    return EntryPtr(Entry::CreateWithObject(key, ValueType::kSortedSet, std::move(table), access));
  }
  StringStore packed(Listpack::Empty());
  for (const ScoreTree::Item& item : items_) {
    const PackedScore score(item.score);
    AppendElement(packed, EncodedElement(item.member->Member()));
    AppendElement(packed, score.Element());
  }
  return EntryPtr(Entry::CreatePacked(key, ValueType::kSortedSet, ValueForm::kListpack, packed.View(), 0, access));
}

}  // namespace respite
