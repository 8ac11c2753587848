#include "datatypes/score_table.h"

#include <algorithm>

namespace respite {

ScoreTable::ScoreTable(const HashKey& hash_key, std::span<const ScoreTree::Item> sorted, std::unique_ptr<SlabPool> pool)
    : pool_(std::move(pool)), members_(hash_key), tree_(ScoreTree::FromSorted(sorted)) {
  for (const ScoreTree::Item& item : sorted) members_.Insert(item.member, members_.Hash(item.member->Member()));
}

ScoreTable::~ScoreTable() {
  for (auto at = tree_.First(); !at.AtEnd();) {
    at.PrefetchAhead();
    ScoredMember* record = (*at).member;
    at.Next();
    ScoredMember::Destroy(record);
  }
}

std::unique_ptr<Object> ScoreTable::Clone() const {
  std::vector<ScoreTree::Item> copies;
  copies.reserve(Size());
  std::unique_ptr<SlabPool> pool;
  PreparePool(pool, Size());
  for (auto at = tree_.First(); !at.AtEnd(); at.Next()) {
    at.PrefetchAhead();
    const ScoreTree::Item item = *at;
    copies.push_back({item.score, ScoredMember::Create(item.score, item.member->Member(), pool.get())});
  }
  return std::make_unique<ScoreTable>(members_.hash_key(), copies, std::move(pool));
}

size_t ScoreTable::UsedBytes(size_t samples) const {
  const size_t sampled = samples == 0 ? Size() : std::min(samples, Size());
  size_t record_bytes = 0;
  size_t left = sampled;
  for (auto at = tree_.First(); left > 0; --left, at.Next()) record_bytes += (*at).member->BlockSize();
  if (sampled > 0 && sampled < Size()) record_bytes = record_bytes * Size() / sampled;
  return sizeof *this + members_.UsedBytes() + tree_.UsedBytes() + record_bytes;
}

void ScoreTable::Add(Bytes member, uint64_t hash, double score) {
  PreparePool(pool_, Size());
  ScoredMember* record = ScoredMember::Create(score, member, pool_.get());
  members_.Insert(record, hash);
  tree_.Insert(record);
}

bool ScoreTable::Remove(Bytes member) {
  ScoredMember* record = members_.Remove(member, Hash(member));
  if (record == nullptr) return false;
  tree_.Remove(record);
  ScoredMember::Destroy(record);
  LeavePoolIfFew();
  return true;
}

void ScoreTable::RemoveRange(size_t first, size_t count) {
  tree_.RemoveRange(first, count, [&](ScoredMember* record) {
    const Bytes member = record->Member();
    members_.Remove(member, Hash(member));
    ScoredMember::Destroy(record);
  });
  LeavePoolIfFew();
}

void ScoreTable::LeavePoolIfFew() {
  if (pool_ == nullptr || Size() >= kPooledFrom / 4) return;
  for (auto at = tree_.First(); !at.AtEnd(); at.Next()) {
    ScoredMember* record = (*at).member;
    ScoredMember* moved = ScoredMember::Create(record->Score(), record->Member());
    members_.Replace(record, moved, Hash(moved->Member()));
    tree_.Replace(record, moved);
    ScoredMember::Destroy(record);
  }
  pool_.reset();
}

bool ScoreTable::IsConsistent() const {
  if (!tree_.IsConsistent() || !members_.IsConsistent() || members_.Size() != tree_.Size()) return false;
  for (auto at = tree_.First(); !at.AtEnd(); at.Next())
    if (Find((*at).member->Member()) != (*at).member) return false;
  return true;
}

}  // namespace respite
