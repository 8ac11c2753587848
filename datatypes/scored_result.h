// ScoredResult: collects members with scores for a reply, or for a new sorted set of ZUNIONSTORE, ZRANGESTORE or
// GEOSEARCHSTORE. Members are added in any order and sorted once; then the set is built in one pass.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "datatypes/database.h"
#include "datatypes/encoding_limits.h"
#include "datatypes/score_table.h"

namespace respite {

class ScoredResult {  // collects scored members for a reply, or for a new sorted set
 public:
  enum class Aggregate : uint8_t { kSum, kMin, kMax };

  // `hash_key` is the key of the hash function. It must be that of the database where the set will be stored.
  explicit ScoredResult(const HashKey& hash_key) : members_(hash_key) {}
  ScoredResult(const ScoredResult&) = delete;
  ScoredResult& operator=(const ScoredResult&) = delete;
  ~ScoredResult();

  size_t Size() const { return items_.size(); }
  // Appends a member without a lookup, so the member must be new. Do not mix with Combine.
  void Append(Bytes member, double score);  // adds a member without a lookup; requires: the member is new
  // Adds a member, or combines `score` with the score that the member already has. Do not mix with Append.
  void Combine(Bytes member, double score, Aggregate aggregate);  // adds a member; if it exists, combines both scores
  // Removes a member. Requires: members were added with Combine. Returns false if there is no such member.
  bool Remove(Bytes member);  // removes a member; false: there is no such member

  // Combines two scores of a member. As in Redis, the sum of an infinity and the opposite infinity is 0.
  static double AggregateScores(double one, double other,  // the sum, minimum or maximum, as ZUNIONSTORE says
                                Aggregate aggregate);

  // Returns the members in the order of a sorted set. Cost: O(n log n).
  std::span<const ScoreTree::Item> SortedItems();  // sorts the members by score, then by text, and returns them
  // Builds a sorted set in the encoding that the limits require. The ScoredResult must not be used afterwards. Cost:
  // O(n log n).
  EntryPtr MakeSortedSetEntry(Bytes key,  // makes a key of the members; must be called only once
                              const EncodingLimits& limits, uint32_t access);

 private:
  bool FitsListpack(const EncodingLimits& limits) const;  // true: the limits allow a listpack for these members

  MemberIndex members_;                 // items by member, for Combine; unused with Append
  std::vector<ScoreTree::Item> items_;  // the members with their scores
};

}  // namespace respite
