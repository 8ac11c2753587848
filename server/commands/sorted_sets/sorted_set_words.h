// Helpers for sorted set commands: parse ranges, write scores, store results.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "datatypes/score_range.h"
#include "datatypes/scored_result.h"
#include "datatypes/sorted_set.h"
#include "server/commands/common_arguments.h"
#include "server/execution/call.h"

namespace respite {

namespace refusals {

inline constexpr char kScoreNotANumber[] = "ERR resulting score is not a number (NaN)";

}  // namespace refusals

// Parses the two ends of a range of scores: `1.5`, `(1.5` (exclusive), `-inf`, `+inf`. Throws a Refusal if an end is
// not valid. A replayed command was accepted before, so it may have a form that the emulated version refuses.
ScoreRange ParseScoreRange(Bytes min, Bytes max, const Call& call);  // parses the ends; "(1" excludes 1
// Parses a score of ZADD, or the increment of ZINCRBY. Throws a Refusal if the word is no number. A replayed command
// may have a form that the emulated version refuses.
double ParseNewScore(Bytes word, const Call& call);  // parses a score of ZADD or an increment of ZINCRBY
// Returns false if the word begins, perhaps after a sign, with white space or with `0x`. Some versions refuse such a
// score, so it must not be propagated. Does not check the rest of the word.
bool IsDecimal(Bytes word);  // false: the number is hexadecimal, or has leading blanks
// Returns false if some versions refuse this end of a range, so that it must not be propagated as it is.
bool IsPlainScoreEnd(Bytes word);  // true: all versions accept this end of a score range, such as "(1.5"
// LowerEndText and UpperEndText print an end of a range of scores for a command that is propagated: as a decimal
// number, which all versions of Redis and Valkey read alike.
std::string LowerEndText(const ScoreRange& range);  // prints the lower end, such as "1.5" or "(1.5"
std::string UpperEndText(const ScoreRange& range);  // prints the upper end, such as "1.5" or "(1.5"
LexRange ParseLexRange(Bytes min, Bytes max);  // parses `[member`, `(member` (exclusive), `-` (first) or `+` (last)

inline RankSpan ClampRanks(const IndexRange& range, size_t size) {  // converts negative ranks; cuts to `size` members
  const auto [first, count] = range.ClampTo(size);
  return {first, count};
}

// Converts a span of ranks that counts from the highest score (ZREVRANGE) to one that counts from the lowest score.
inline RankSpan RanksFromOtherEnd(RankSpan span, size_t size) {  // converts ranks counted from the highest score
  return {size - span.first - span.count, span.count};
}

enum class Scores : uint8_t { kNo, kYes };

class MemberWriter {  // writes an array of members, with or without scores, as a reply
 public:
  MemberWriter(Reply& reply, Scores scores) : reply_(&reply), scores_(scores) {}

  void Begin(size_t count) {  // begins the array; `count` is the number of members
    reply_->Array(scores_ == Scores::kYes && !reply_->IsResp3() ? 2 * count : count);
  }
  void operator()(Bytes member, double score) {
    if (scores_ == Scores::kNo) return reply_->Bulk(member);
    if (reply_->IsResp3()) reply_->Array(2);
    reply_->Bulk(member);
    reply_->Double(score);
  }

 private:
  Reply* reply_;   // the reply to which members are written
  Scores scores_;  // whether scores are written
};

inline Scores TakeWithScores(Args& args) {  // takes the optional argument WITHSCORES; kYes: it was given
  return args.TakeToken("WITHSCORES") ? Scores::kYes : Scores::kNo;
}

// Returns how many bytes to reserve for a new sorted set of `count` members. `bytes` is the total length of the texts
// to store: the members, and perhaps the scores. Returns 0 if `count` exceeds zset-max-listpack-entries.
inline size_t ListpackCapacityFor(size_t count, size_t bytes,  // bytes to reserve; 0: will not be a listpack
                                  const EncodingLimits& limits) {
  constexpr size_t kPerMember = 4;
  return count > limits.zset_max_listpack_entries ? 0 : kPerMember * count + bytes;
}

struct AddCounts {                                   // what AddPairs has done
  int64_t added = 0;                                 // number of new members
  int64_t changed = 0;                               // number of members whose score changed
  AddResult last = {AddResult::Outcome::kRuledOut};  // result of the last pair

  int64_t All() const { return added + changed; }
};

// Adds `count` members by a rule (ZADD, ZINCRBY, GEOADD), or changes their scores, and reports the change.
// pair_at(index) returns a member and its score. Throws a Refusal if a sum of scores is not a number. Requires: `count`
// is 1 if the rule adds scores, so that nothing was changed before the Refusal.
template <class PairAt>
AddCounts AddPairs(const Call& call, Edit<SortedSet>& set,  // adds `count` members, or changes their scores
                   const AddRule& rule, size_t count, PairAt&& pair_at) {
  using Outcome = AddResult::Outcome;
  AddCounts counts;
  size_t longest = 0;  // the length of the longest member, if it matters
  if (call.services.env.dialect.traits.zadd_considers_lengths) {
    for (size_t i = 0; i < count; ++i) longest = std::max(longest, pair_at(i).first.size());
  }
  set->PrepareToAdd(count, longest);
  for (size_t i = 0; i < count; ++i) {
    const std::pair<Bytes, double> pair = pair_at(i);
    counts.last = set->Add(pair.first, pair.second, rule);
    if (counts.last.outcome == Outcome::kNotANumber) throw Refusal{refusals::kScoreNotANumber};
    if (counts.last.outcome == Outcome::kAdded) ++counts.added;
    if (counts.last.outcome == Outcome::kChanged) ++counts.changed;
  }
  const bool increments = rule.arithmetic == AddRule::Arithmetic::kAdd;
  const auto changes = static_cast<uint64_t>(counts.All());
  if (changes > 0) set.ReportChange(increments ? KeyEvent("zincr") : KeyEvent("zadd"), changes);
  return counts;
}

// Replaces the value of `key` by the result, or deletes the key if the result is empty. Replies with the number of
// members.
void StoreSortedSet(Call& call, Bytes key, ScoredResult& result,  // stores the result, or deletes the key if empty
                    const KeyEvent& event);

// Replaces the value of `key` by the result, or deletes the key if the result is empty, and replies with the number of
// members. Propagates the result instead of the command: DEL, and ZADD with at most 1000 members each. Used if older
// replicas do not have an option of the command, or if the result depends on the version.
void StoreAndRecordSortedSet(Call& call, Bytes key,  // stores a result, and propagates its members
                             ScoredResult& result, const KeyEvent& event);

}  // namespace respite
