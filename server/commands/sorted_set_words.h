// What the commands of sorted sets have in common: ranges as words, replies of members with scores, new sets.
#pragma once

#include <cstdint>

#include "datatypes/score_range.h"
#include "datatypes/scored_result.h"
#include "datatypes/sorted_set.h"
#include "server/call.h"

namespace respite {

// `1.5`, `(1.5` (without 1.5 itself), `-inf`.
ScoreRange ParseScoreRange(Bytes min, Bytes max);
// `[member`, `(member` (without it), `-` and `+` (from the first, to the last).
LexRange ParseLexRange(Bytes min, Bytes max);

// Ranks of which negative ones count from behind, both ends included.
struct RankRange {
  int64_t start;
  int64_t stop;
  // What there is of it among `size` members.
  RankSpan Among(size_t size) const;
};

// The span counted from the other end: ranks of ZREVRANGE.
inline RankSpan Mirrored(RankSpan span, size_t size) { return {size - span.first - span.count, span.count}; }

enum class Scores : uint8_t { kNo, kYes };

// Writes members with or without scores. Under RESP3 a member and its score are an array of their own, unless they are
// to stay flat.
class MemberWriter {
 public:
  MemberWriter(Reply& reply, Scores scores) : reply_(&reply), scores_(scores) {}

  void Begin(size_t count) { reply_->Array(scores_ == Scores::kYes && !reply_->IsResp3() ? 2 * count : count); }
  void operator()(Bytes member, double score) {
    if (scores_ == Scores::kNo) return reply_->Bulk(member);
    if (reply_->IsResp3()) reply_->Array(2);
    reply_->Bulk(member);
    reply_->Double(score);
  }

 private:
  Reply* reply_;
  Scores scores_;
};

// WITHSCORES, if it is the next word.
inline Scores TakeWithScores(Args& args) { return args.TakeToken("WITHSCORES") ? Scores::kYes : Scores::kNo; }

// A count as ZPOPMIN takes it. Redis: says the same of a word that is no number.
inline size_t PositiveCount(Bytes word, const char* refusal) {
  const int64_t count = Args::Integer(word, refusal);
  if (count < 0) throw Refusal{refusal};
  return static_cast<size_t>(count);
}

// Puts the result in the place of whatever `key` holds, or deletes the key when there is nothing in it, and replies
// with the number of members.
void StoreSortedSet(Call& call, Bytes key, ScoredResult& result, KeyEvent event);

}  // namespace respite
