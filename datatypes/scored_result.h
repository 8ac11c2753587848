// ScoredResult: collects members with scores for a reply, or for a new sorted set of ZUNIONSTORE, ZRANGESTORE or
// GEOSEARCHSTORE. Members are added in any order and sorted once. Then the sorted set is built in one pass.
#pragma once

#include <cstdint>
#include <memory>
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

  // `hash_key` must be the secret hash key of the database where the set will be stored.
  explicit ScoredResult(const HashKey& hash_key) : members_(hash_key) {}
  ScoredResult(const ScoredResult&) = delete;
  ScoredResult& operator=(const ScoredResult&) = delete;
  ~ScoredResult();

  size_t Size() const { return items_.size(); }  // number of members; removed ones count until SortedItems()
  // Do not call both Append and Combine for one ScoredResult.
  void Append(Bytes member, double score);  // adds a member without a lookup; requires: the member is new
  // Combines `score` with the score that the member already has, as `aggregate` says.
  void Combine(Bytes member, double score, Aggregate aggregate);  // adds a member; if it exists, combines both scores
  // Requires: members were added with Combine.
  bool Remove(Bytes member);  // removes a member (SortedItems frees it); false: there is no such member

  // As in Redis, the sum of an infinity and the opposite infinity is 0.
  static double AggregateScores(double one, double other,  // the sum, minimum or maximum, as ZUNIONSTORE says
                                Aggregate aggregate);

  // First frees the removed members. The view is valid until the next call of another method. Cost: O(n log n).
  std::span<const ScoreTree::Item> SortedItems();  // sorts the members by score, then by text, and returns them
  // The sorted set has the encoding that `limits` require. `access` are the LRU or LFU bits of the new key. The
  // ScoredResult must not be used afterwards. Cost: O(n log n).
  EntryPtr MakeSortedSetEntry(Bytes key,  // makes an entry: `key` with the members as a sorted set; call only once
                              const EncodingLimits& limits, uint32_t access);

 private:
  bool FitsListpack(const EncodingLimits& limits) const;  // true: the limits allow a listpack for these members

  std::unique_ptr<SlabPool> pool_;      // memory of small records, if there are many; null: there is none
  MemberIndex members_;                 // the members by text, for Combine; empty with Append
  std::vector<ScoreTree::Item> items_;  // the members with their scores
};

}  // namespace respite
