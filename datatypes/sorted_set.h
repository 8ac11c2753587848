// SortedSet: the value of a key of type zset: members, each with a score, ordered by (score, bytes of the member).
//
// Two encodings (OBJECT ENCODING says listpack and skiplist):
//   kListpack   member, score, member, score … in order; an integral score is an integer element
//   kObject     a ScoreTable
// Adding a member converts a listpack to a ScoreTable if the set would have more than zset-max-listpack-entries
// members, or a new member of more than zset-max-listpack-value bytes. Removals never convert a set. As in Redis, a
// score of -0 becomes 0 when it is packed.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/random.h"
#include "datatypes/listpack.h"
#include "datatypes/score_range.h"
#include "datatypes/score_table.h"
#include "datatypes/value_slot.h"

namespace respite {

// Tells SortedSet::Add what to do with a member that exists, and with a member that does not exist.
struct AddRule {  // which members ZADD adds or changes, and how: the options NX, XX, GT, LT and INCR
  enum class Condition : uint8_t { kAlways, kIfAbsent, kIfPresent };
  enum class Comparison : uint8_t { kAny, kGreater, kLess };  // what the new score must be, compared with the old score
  enum class Arithmetic : uint8_t { kReplace, kAdd };

  Condition condition = Condition::kAlways;      // kIfAbsent for NX, kIfPresent for XX
  Comparison comparison = Comparison::kAny;      // kGreater for GT, kLess for LT
  Arithmetic arithmetic = Arithmetic::kReplace;  // kAdd for INCR: adds to the old score
};

struct AddResult {  // what SortedSet::Add has done to a member, and its score
  enum class Outcome : uint8_t { kRuledOut, kNotANumber, kAdded, kChanged, kSame };
  Outcome outcome;   // kRuledOut: the AddRule forbids the change; kNotANumber: the sum is NaN, not stored
  double score = 0;  // the member's present score; meaningless after kRuledOut and kNotANumber
};

class SortedSet : public Collection {  // gives access to the sorted set of one key
 public:
  static constexpr ValueType kType = ValueType::kSortedSet;        // the type of an entry that holds a sorted set
  static constexpr ValueForm kInitialForm = ValueForm::kListpack;  // a new sorted set is a listpack
  static Bytes InitialPacked() { return Listpack::Empty(); }       // the bytes of an empty packed sorted set

  struct RankAndScore {  // a member's rank, counted from the lowest score, and its score
    size_t rank;
    double score;  // the score of the member
  };

  explicit SortedSet(const CollectionContext& place) : Collection(place) {}

  bool IsEmpty() const { return Size() == 0; }  // true: no members, or no such key
  // Returns the number of members; 0 if there is no such key. Cost: O(1).
  size_t Size() const;
  // Cost: O(1), O(n) packed.
  std::optional<double> Score(Bytes member) const;  // the score of a member; nullopt: no such member
  // Rank 0 has the lowest score. Cost: O(log n), O(n) packed.
  std::optional<RankAndScore> RankOf(Bytes member) const;  // a member's rank and score; nullopt: no such member
  RankSpan RankSpanOf(const ScoreRange& range) const;      // the ranks of the members with scores in this range
  RankSpan RankSpanOf(const LexRange& range) const;        // the ranks of the members in this range of ZRANGEBYLEX

  // ForEach calls visit(Bytes member, double score) for the members of the span. The view is valid during the call.
  // Requires: the span is within the set. Cost: O(log n + count), O(n) packed.
  template <class Visit>
  void ForEach(RankSpan span, Direction direction, Visit&& visit) const;  // visits the members of these ranks
  template <class Visit>
  void ForEach(Visit&& visit) const {  // calls visit(member, score) for all members, lowest score first
    ForEach({0, Size()}, Direction::kUp, visit);
  }

  // Adds a member or changes its score, as `rule` allows. Requires: Exists(), as for all changes; `member` is not a
  // view of this set. Cost: O(log n), O(n) packed.
  AddResult Add(Bytes member, double score, const AddRule& rule = {});
  // ZADD, ZINCRBY and GEOADD call PrepareToAdd before they add `members` members, of which the longest has `longest`
  // bytes (0: does not matter). As in Redis, members that the set already has count as new members here, and the
  // present size of the set does not count.
  void PrepareToAdd(size_t members,  // makes a table if the new members alone exceed a limit of listpacks
                    size_t longest = 0);
  bool Remove(Bytes member);  // removes a member; false: there is no such member
  // Cost: O(count + log n).
  void Remove(RankSpan span);  // removes the members of these ranks

  // ZSCAN and the choice of random members need the table.
  const ScoreTable* Table() const { return IsTable() ? &table() : nullptr; }  // the table; null: packed or no such key

  bool IsConsistent() const;  // for tests; false: the structure violates one of its rules

 private:
  bool IsTable() const {  // true: the set is a ScoreTable; false: packed, or no such key
    return slot_.Exists() && slot_.Form() == ValueForm::kObject;
  }
  ScoreTable& table() const { return slot_.As<ScoreTable>(); }  // the table; requires: IsTable()
  Listpack AsListpack() const {  // the listpack, empty if there is no such key; requires: !IsTable()
    return Listpack(slot_.Exists() ? slot_.View() : Listpack::Empty());
  }

  static double ScoreAt(const Listpack& packed, size_t at);  // the score in the listpack element at offset `at`
  template <class StartsHere, class EndsAtOrAfter>
  RankSpan RankSpanInListpack(StartsHere&& starts_here,  // ranks of the members in a range, which the callbacks define
                              EndsAtOrAfter&& ends_at_or_after) const;
  AddResult AddToTable(Bytes member, double score, const AddRule& rule);  // adds or updates a member of a ScoreTable
  void AddToListpack(Bytes member, double score);  // requires: not a member yet, and within the limits
  void ChangeScoreInListpack(size_t at, Bytes member, double score);  // sets the score of the member at offset `at`
  bool StaysInPlace(size_t at, Bytes member, double score) const;     // true: `score` does not change the member's rank
  void ConvertToTable();                                              // makes a packed sorted set a ScoreTable

  template <class Visit>
  void ForEachInTable(RankSpan span, Direction direction, Visit&& visit) const;  // visits members of a ScoreTable
};

template <class Visit>
void SortedSet::ForEach(RankSpan span, Direction direction, Visit&& visit) const {  // visits the members of these ranks
  if (span.count == 0) return;
  if (IsTable()) return ForEachInTable(span, direction, visit);
  const Listpack packed = this->AsListpack();
  const bool down = direction == Direction::kDown;
  size_t at = packed.Seek(2 * (down ? span.first + span.count - 1 : span.first));
  for (size_t left = span.count; left > 0; --left) {
    const size_t score_at = packed.Next(at);
    visit(packed.TextAt(at).View(), ScoreAt(packed, score_at));
    if (left == 1) return;
    at = down ? packed.Previous(packed.Previous(at)) : packed.Next(score_at);
  }
}

template <class Visit>
void SortedSet::ForEachInTable(RankSpan span, Direction direction,  // visits the members of these ranks
                               Visit&& visit) const {
  const ScoreTree& tree = table().tree();
  const bool down = direction == Direction::kDown;
  const size_t start = down ? span.first + span.count - 1 : span.first;
  auto at = start == 0 ? tree.First() : start + 1 == tree.Size() ? tree.Last() : tree.At(start);
  for (size_t left = span.count; left > 0; --left) {
    if (down) {
      at.PrefetchBehind();
    } else {
      at.PrefetchAhead();
    }
    const ScoreTree::Item item = *at;
    visit(item.member->Member(), item.score);
    if (down) {
      at.Previous();
    } else {
      at.Next();
    }
  }
}

// A PackedScore cannot be copied or moved, because the result of Element() points into its text_ (unless the score is
// an integer).
class PackedScore {  // a score, encoded as an element of a listpack
 public:
  explicit PackedScore(double score);
  PackedScore(const PackedScore&) = delete;
  PackedScore& operator=(const PackedScore&) = delete;
  const EncodedElement& Element() const { return element_; }  // the score, ready to be stored in a listpack

 private:
  std::string text_;
  EncodedElement element_;  // the encoded score; a view of text_, or an integer
};

}  // namespace respite
