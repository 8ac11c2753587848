#include "datatypes/sorted_set.h"

#include <cmath>
#include <string>
#include <vector>

#include "base/number_text.h"

namespace respite {

namespace {

using Outcome = AddResult::Outcome;

bool IsBelow(double score, Bytes member, double other_score, Bytes other) {
  return score < other_score || (score == other_score && member < other);
}

// Returns what `rule` decides about a member that exists with the score `old`. kChanged means that the caller must
// store the returned score.
AddResult Judge(double old, double score, const AddRule& rule) {
  using Comparison = AddRule::Comparison;
  if (rule.condition == AddRule::Condition::kIfAbsent) return {Outcome::kRuledOut};
  if (rule.arithmetic == AddRule::Arithmetic::kAdd) {
    score += old;
    if (std::isnan(score)) return {Outcome::kNotANumber};
  }
  if (rule.comparison == Comparison::kLess && score >= old) return {Outcome::kRuledOut};
  if (rule.comparison == Comparison::kGreater && score <= old) return {Outcome::kRuledOut};
  return {score == old ? Outcome::kSame : Outcome::kChanged, score};
}

std::optional<int64_t> Integral(double score) {
  constexpr double kLimit = 4611686018427387904.0;  // 2^62; Redis: beyond it a score is stored as text
  if (!(std::fabs(score) <= kLimit)) return std::nullopt;
  const auto integer = static_cast<int64_t>(score);
  return static_cast<double>(integer) == score ? std::optional(integer) : std::nullopt;
}

}  // namespace

PackedScore::PackedScore(double score)
    : text_(Integral(score) ? std::string() : DoubleText(score)),
      element_(text_.empty() ? EncodedElement(*Integral(score)) : EncodedElement(text_)) {}

double SortedSet::ScoreAt(const Listpack& packed, size_t at) {
  const PackedElement element = packed.At(at);
  return element.is_integer ? static_cast<double>(element.integer) : ParseDouble(element.text).value_or(0);
}

size_t SortedSet::Size() const { return IsTable() ? table().Size() : AsListpack().Count() / 2; }

std::optional<double> SortedSet::Score(Bytes member) const {
  if (IsTable()) {
    const ScoredMember* record = table().Find(member);
    return record == nullptr ? std::nullopt : std::optional(record->Score());
  }
  const Listpack packed = AsListpack();
  const size_t at = packed.Find(member, packed.Begin(), 2);
  return at == Listpack::kNowhere ? std::nullopt : std::optional(ScoreAt(packed, packed.Next(at)));
}

std::optional<SortedSet::RankAndScore> SortedSet::RankOf(Bytes member) const {
  if (IsTable()) {
    const ScoredMember* record = table().Find(member);
    if (record == nullptr) return std::nullopt;
    return RankAndScore{table().tree().RankOf(record), record->Score()};
  }
  const Listpack packed = AsListpack();
  const size_t found = packed.Find(member, packed.Begin(), 2);
  if (found == Listpack::kNowhere) return std::nullopt;
  size_t rank = 0;
  for (size_t at = packed.Begin(); at != found; at = packed.Next(packed.Next(at))) ++rank;
  return RankAndScore{rank, ScoreAt(packed, packed.Next(found))};
}

// RankSpanInListpack returns the ranks of the members in a range. `starts_here` returns true if the range begins at or
// before a member. `ends_at_or_after` returns true if the range ends at or after a member. Each gets the offset of a
// member and the offset of its score.
template <class StartsHere, class EndsAtOrAfter>
RankSpan SortedSet::RankSpanInListpack(StartsHere&& starts_here, EndsAtOrAfter&& ends_at_or_after) const {
  const Listpack packed = AsListpack();
  RankSpan span;
  for (size_t at = packed.Begin(); at != packed.End();) {
    const size_t score_at = packed.Next(at);
    if (span.count == 0 && !starts_here(at, score_at)) {
      ++span.first;
    } else if (ends_at_or_after(at, score_at)) {
      ++span.count;
    } else {
      break;
    }
    at = packed.Next(score_at);
  }
  return span;
}

RankSpan SortedSet::RankSpanOf(const ScoreRange& range) const {
  if (!IsTable()) {
    const Listpack packed = AsListpack();
    return RankSpanInListpack([&](size_t, size_t at) { return range.StartsAtOrBelow(ScoreAt(packed, at)); },
                              [&](size_t, size_t at) { return range.EndsAtOrAbove(ScoreAt(packed, at)); });
  }
  using Side = ScoreTree::Side;
  const ScoreTree& tree = table().tree();
  const size_t begin = tree.RankOf(ScoreTree::ScoreBound{range.min, range.excludes_min ? Side::kAfter : Side::kBefore});
  const size_t end = tree.RankOf(ScoreTree::ScoreBound{range.max, range.excludes_max ? Side::kBefore : Side::kAfter});
  return {begin, end > begin ? end - begin : 0};
}

RankSpan SortedSet::RankSpanOf(const LexRange& range) const {
  if (!IsTable()) {
    const Listpack packed = AsListpack();
    return RankSpanInListpack([&](size_t at, size_t) { return range.StartsAtOrBelow(packed.TextAt(at).View()); },
                              [&](size_t at, size_t) { return range.EndsAtOrAbove(packed.TextAt(at).View()); });
  }
  using Side = ScoreTree::Side;
  using Kind = LexEnd::Kind;
  const ScoreTree& tree = table().tree();
  const auto rank_of = [&](const LexEnd& end, Kind before) {
    if (end.kind == Kind::kLowest) return size_t{0};
    if (end.kind == Kind::kHighest) return tree.Size();
    return tree.RankOf(ScoreTree::LexBound{end.member, end.kind == before ? Side::kBefore : Side::kAfter});
  };
  const size_t begin = rank_of(range.min, Kind::kIncluded);
  const size_t end = rank_of(range.max, Kind::kExcluded);
  return {begin, end > begin ? end - begin : 0};
}

AddResult SortedSet::Add(Bytes member, double score, const AddRule& rule) {
  if (IsTable()) return AddToTable(member, score, rule);
  const Listpack packed = AsListpack();
  const size_t at = packed.Find(member, packed.Begin(), 2);
  if (at != Listpack::kNowhere) {
    const AddResult result = Judge(ScoreAt(packed, packed.Next(at)), score, rule);
    if (result.outcome == Outcome::kChanged) ChangeScoreInListpack(at, member, result.score);
    return result;
  }
  if (rule.condition == AddRule::Condition::kIfPresent) return {Outcome::kRuledOut};
  const bool fits = Size() < limits_->zset_max_listpack_entries && member.size() <= limits_->zset_max_listpack_value &&
                    slot_.Size() + member.size() <= Listpack::kMaxBytes;
  if (!fits) {
    ConvertToTable();
    table().Add(member, table().Hash(member), score);
  } else {
    AddToListpack(member, score);
  }
  return {Outcome::kAdded, score};
}

AddResult SortedSet::AddToTable(Bytes member, double score, const AddRule& rule) {
  ScoreTable& table = this->table();
  const uint64_t hash = table.Hash(member);
  ScoredMember* record = table.Find(member, hash);
  if (record == nullptr) {
    if (rule.condition == AddRule::Condition::kIfPresent) return {Outcome::kRuledOut};
    table.Add(member, hash, score);
    return {Outcome::kAdded, score};
  }
  const AddResult result = Judge(record->Score(), score, rule);
  if (result.outcome == Outcome::kChanged) table.ChangeScore(record, result.score);
  return result;
}

void SortedSet::AddToListpack(Bytes member, double score) {
  const Listpack packed = AsListpack();
  size_t at = packed.End();
  // Compares the new member with the last member first, because most sets grow at the end. If the new member is lower,
  // the search starts from the beginning.
  if (!packed.IsEmpty()) {
    const size_t last = packed.Previous(packed.Last());
    if (IsBelow(score, member, ScoreAt(packed, packed.Next(last)), packed.TextAt(last).View())) {
      for (at = packed.Begin(); at != last; at = packed.Next(packed.Next(at)))
        if (IsBelow(score, member, ScoreAt(packed, packed.Next(at)), packed.TextAt(at).View())) break;
    }
  }
  const PackedScore packed_score(score);
  const EncodedElement pair[] = {EncodedElement(member), packed_score.Element()};
  InsertElements(slot_, at, pair);
}

// Returns true if the member at offset `at` would keep its rank with the score `score`.
bool SortedSet::StaysInPlace(size_t at, Bytes member, double score) const {
  const Listpack packed = AsListpack();
  const size_t next = packed.Next(packed.Next(at));
  if (next != packed.End() && !IsBelow(score, member, ScoreAt(packed, packed.Next(next)), packed.TextAt(next).View())) {
    return false;
  }
  if (at == packed.Begin()) return true;
  const size_t score_at = packed.Previous(at);
  return !IsBelow(score, member, ScoreAt(packed, score_at), packed.TextAt(packed.Previous(score_at)).View());
}

void SortedSet::ChangeScoreInListpack(size_t at, Bytes member, double score) {
  if (StaysInPlace(at, member, score)) {
    const PackedScore packed_score(score);
    return ReplaceElement(slot_, AsListpack().Next(at), packed_score.Element());
  }
  RemoveElements(slot_, at, 2);
  AddToListpack(member, score);
}

void SortedSet::PrepareToAdd(size_t members, size_t longest) {
  const bool fits = members <= limits_->zset_max_listpack_entries && longest <= limits_->zset_max_listpack_value;
  if (!IsTable() && !fits) ConvertToTable();
}

void SortedSet::ConvertToTable() {
  std::vector<ScoreTree::Item> items;
  items.reserve(Size());
  ForEach([&](Bytes member, double score) { items.push_back({score, ScoredMember::Create(score, member)}); });
  slot_.ConvertTo(std::make_unique<ScoreTable>(slot_.database().hash_key(), items, nullptr));
}

bool SortedSet::Remove(Bytes member) {
  if (IsTable()) return table().Remove(member);
  const Listpack packed = AsListpack();
  const size_t at = packed.Find(member, packed.Begin(), 2);
  if (at == Listpack::kNowhere) return false;
  RemoveElements(slot_, at, 2);
  return true;
}

void SortedSet::Remove(RankSpan span) {
  if (span.count == 0) return;
  if (IsTable()) return table().RemoveRange(span.first, span.count);
  RemoveElements(slot_, AsListpack().Seek(2 * span.first), 2 * span.count);
}

bool SortedSet::IsConsistent() const {
  if (IsTable()) return table().IsConsistent();
  if (!Listpack::IsWellFormed(AsListpack().IsEmpty() ? Listpack::Empty() : slot_.View())) return false;
  bool good = AsListpack().Count() % 2 == 0;
  std::string last_member;
  std::optional<double> last_score;
  ForEach([&](Bytes member, double score) {
    if (last_score && !IsBelow(*last_score, last_member, score, member)) good = false;
    last_score = score;
    last_member = member;
  });
  return good;
}

}  // namespace respite
