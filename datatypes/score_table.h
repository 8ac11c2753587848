// ScoreTable: the value of a large sorted set. A ScoreTable owns a record (ScoredMember) for each member, an index of
// the records by member (HashIndex), and their order by score (ScoreTree). OBJECT ENCODING says skiplist.
//
// A 17-byte member takes a record of 28 bytes, from kPooledFrom members on, less than 10 bytes of the index, and about
// 20 of the tree.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "datatypes/hash_index.h"
#include "datatypes/object.h"
#include "datatypes/score_tree.h"
#include "datatypes/scored_member.h"

namespace respite {

using MemberIndex = HashIndex<ScoredMember*>;

class ScoreTable final : public Object {  // the value of a large sorted set: members by text, and by score
 public:
  explicit ScoreTable(const HashKey& hash_key) : members_(hash_key) {}
  // Takes ownership of members sorted by score, of an index that contains exactly these members, and of their pool, or
  // null if they have none. Cost: O(n).
  ScoreTable(MemberIndex members, std::span<const ScoreTree::Item> sorted, std::unique_ptr<SlabPool> pool)
      : pool_(std::move(pool)), members_(std::move(members)), tree_(ScoreTree::FromSorted(sorted)) {}
  // Takes ownership of members sorted by score and of their pool, and builds the index. Cost: O(n).
  ScoreTable(const HashKey& hash_key, std::span<const ScoreTree::Item> sorted, std::unique_ptr<SlabPool> pool);
  ~ScoreTable() override;

  std::unique_ptr<Object> Clone() const override;  // returns a deep copy
  size_t Size() const override { return tree_.Size(); }
  size_t UsedBytes(size_t samples) const override;  // bytes, estimated from `samples` members; 0: exact

  const MemberIndex& members() const { return members_; }  // the members by text, each with its score
  const ScoreTree& tree() const { return tree_; }

  uint64_t Hash(Bytes member) const { return members_.Hash(member); }
  void PrefetchBucket(uint64_t hash) const {  // before a lookup: prefetches the bucket of this hash
    members_.PrefetchBucket(hash);
  }
  void PrefetchItem(uint64_t hash) const {  // after PrefetchBucket: prefetches the member
    members_.PrefetchItem(hash);
  }
  // Returns the record of this member, or null if there is no such member. Cost: O(1).
  ScoredMember* Find(Bytes member, uint64_t hash) const { return members_.Find(member, hash); }
  ScoredMember* Find(Bytes member) const { return Find(member, Hash(member)); }
  // Adds a member. Requires: the table does not have the member. Cost: O(log n), one allocation.
  void Add(Bytes member, uint64_t hash, double score);
  // Cost: O(log n); cheaper if the order does not change.
  void ChangeScore(ScoredMember* member, double score) {  // changes the score of a member of this table
    tree_.ChangeScore(member, score);
  }
  // Remove and RemoveRange give the pool up if few members are left, which moves their records. Cost: O(log n).
  bool Remove(Bytes member);  // removes a member; false: there is no such member
  // Requires: first + count <= Size(). Cost: O(count), and O(log n) for each leaf from which members are removed.
  void RemoveRange(size_t first, size_t count);  // removes `count` members from rank `first` on

  // Makes a pool for the records of a sorted set of `size` members or more, if it is worth it and there is none.
  static void PreparePool(std::unique_ptr<SlabPool>& pool, size_t size) {  // makes a pool if `size` members need one
    if (pool == nullptr && size >= kPooledFrom) pool = std::make_unique<SlabPool>();
  }
  bool IsConsistent() const;  // for tests; false: the structure violates one of its rules

 private:
  static constexpr size_t kPooledFrom = 4096;  // number of members from which on there is a pool

  void LeavePoolIfFew();  // if few members are left, moves their records out of the pool, and frees it

  std::unique_ptr<SlabPool> pool_;  // memory of small records; null: there was none when the members were added
  MemberIndex members_;             // the members by text; this table owns the members
  ScoreTree tree_;
};

}  // namespace respite
