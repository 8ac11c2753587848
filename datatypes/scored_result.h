// ScoredResult: members with scores on their way to a reply or to a new sorted set: what ZUNIONSTORE, ZRANGESTORE or
// GEOSEARCHSTORE come up with. They are put in in any order, sorted once, and the set is then built in one go.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "datatypes/database.h"
#include "datatypes/encoding_limits.h"
#include "datatypes/score_table.h"

namespace respite {

class ScoredResult {
 public:
  enum class Aggregate : uint8_t { kSum, kMin, kMax };

  // `hash_key` is that of the database where the set will be stored.
  explicit ScoredResult(const HashKey& hash_key) : members_(hash_key) {}
  ScoredResult(const ScoredResult&) = delete;
  ScoredResult& operator=(const ScoredResult&) = delete;
  ~ScoredResult();

  size_t Size() const { return items_.size(); }
  // Requires: the member was not put in before; all are put in with Append, or all with Combine.
  void Append(Bytes member, double score);
  // Puts a member in, or combines the score with the one it has.
  void Combine(Bytes member, double score, Aggregate aggregate);
  // Only after Combine. False: no such member.
  bool Remove(Bytes member);

  // Redis: where infinities of both signs meet, the sum is 0.
  static double Aggregated(double one, double other, Aggregate aggregate);

  // In the order of a sorted set. Cost: O(n log n).
  std::span<const ScoreTree::Item> Sorted();
  // A sorted set of this, in the encoding that the limits ask for; the result is empty then. Cost: O(n log n).
  EntryPtr MakeEntry(Bytes key, const EncodingLimits& limits, uint32_t access);

 private:
  bool FitsListpack(const EncodingLimits& limits) const;

  MemberIndex members_;  // empty after Append
  std::vector<ScoreTree::Item> items_;
};

}  // namespace respite
