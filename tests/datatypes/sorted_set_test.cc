#include "datatypes/sorted_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/str_cat.h"
#include "datatypes/scored_result.h"

namespace respite {
namespace {

using Outcome = AddResult::Outcome;
using Pair = std::pair<double, std::string>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One sorted set of a database and its model, a map.
class SortedSetModel {
 public:
  explicit SortedSetModel(uint64_t seed) : random(seed), data_(HashKey{seed}) {
    data_.Add(EntryPtr(
        Entry::CreatePacked("k", SortedSet::kType, SortedSet::kInitialForm, SortedSet::InitialPacked(), 0, 0)));
  }

  SortedSet Set() { return SortedSet({ValueSlot(data_, data_.Find("k")), limits, 0}); }
  // Adds as ZADD does; creates a new SortedSet each time, because the entry may have moved.
  void Add(const std::string& member, double score) {
    const auto old = scores.find(member);
    const AddResult result = Set().Add(member, score);
    const Outcome expected = old == scores.end()    ? Outcome::kAdded
                             : old->second == score ? Outcome::kSame
                                                    : Outcome::kChanged;
    ASSERT_EQ(result.outcome, expected) << member;
    ASSERT_EQ(result.score, score);
    scores[member] = score;
  }
  void Remove(const std::string& member) { ASSERT_EQ(Set().Remove(member), scores.erase(member) == 1) << member; }
  void RemoveSpan(RankSpan span) {
    const std::vector<Pair> ordered = Ordered();
    for (size_t i = 0; i < span.count; ++i) scores.erase(ordered[span.first + i].second);
    Set().Remove(span);
  }

  std::vector<Pair> Ordered() const {
    std::vector<Pair> ordered;
    for (const auto& [member, score] : scores) ordered.emplace_back(score, member);
    std::sort(ordered.begin(), ordered.end());
    return ordered;
  }
  std::vector<Pair> Walked(RankSpan span, Direction direction) {
    std::vector<Pair> walked;
    Set().ForEach(span, direction, [&](Bytes member, double score) { walked.emplace_back(score, member); });
    return walked;
  }
  RankSpan SomeSpan() {
    const size_t first = random.Below(scores.size() + 1);
    return {first, random.Below(scores.size() - first + 1)};
  }

  void Check() {
    const std::vector<Pair> ordered = Ordered();
    ASSERT_TRUE(Set().IsConsistent());
    ASSERT_EQ(Set().Size(), ordered.size());
    ASSERT_EQ(Walked({0, ordered.size()}, Direction::kUp), ordered);
    for (size_t rank = 0; rank < ordered.size(); ++rank) {
      const auto ranked = Set().RankOf(ordered[rank].second);
      ASSERT_TRUE(ranked);
      ASSERT_EQ(ranked->rank, rank);
      ASSERT_EQ(ranked->score, ordered[rank].first);
      ASSERT_EQ(Set().Score(ordered[rank].second), ordered[rank].first);
    }
    ASSERT_EQ(Set().Score("no such member"), std::nullopt);
    ASSERT_FALSE(Set().RankOf("no such member"));
    const RankSpan span = SomeSpan();
    std::vector<Pair> part(ordered.begin() + static_cast<ptrdiff_t>(span.first),
                           ordered.begin() + static_cast<ptrdiff_t>(span.first + span.count));
    ASSERT_EQ(Walked(span, Direction::kUp), part);
    std::reverse(part.begin(), part.end());
    ASSERT_EQ(Walked(span, Direction::kDown), part);
  }
  void CheckRange(const ScoreRange& range) {
    const std::vector<Pair> ordered = Ordered();
    const auto inside = [&](const Pair& pair) {
      return range.StartsAtOrBelow(pair.first) && range.EndsAtOrAbove(pair.first);
    };
    const RankSpan span = Set().RankSpanOf(range);
    ASSERT_EQ(span.count, static_cast<size_t>(std::count_if(ordered.begin(), ordered.end(), inside)));
    for (size_t i = 0; i < span.count; ++i) ASSERT_TRUE(inside(ordered[span.first + i]));
  }

  Random random;
  EncodingLimits limits;
  std::map<std::string, double> scores;

 private:
  Database data_;
};

double SomeScore(Random& random) {
  const double kScores[] = {0, 1, -1, 0.1, 1.5, 1e20, -1e-7, 5e18, kInfinity, -kInfinity, 4611686018427387904.0, 1e300};
  if (random.Below(4) == 0) return kScores[random.Below(std::size(kScores))];
  const auto integer = static_cast<double>(random.Below(2'000)) - 1'000;
  return random.Below(2) == 0 ? integer : integer / 7;
}

std::string SomeMember(Random& random, uint64_t range) {
  const uint64_t number = random.Below(range);
  if (number % 3 == 0) return std::to_string(number);
  return StrCat(std::string(1 + number % 20, 'm'), number);
}

ScoreRange SomeRange(Random& random) {
  return {.min = SomeScore(random),
          .max = SomeScore(random),
          .excludes_min = random.Below(2) == 0,
          .excludes_max = random.Below(2) == 0};
}

// Packed, across the threshold, and large from the beginning.
TEST(SortedSetTest, RandomOperationsAgreeWithAMap) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  const struct {
    uint64_t members, max_entries, max_value;
  } kCases[] = {{60, 128, 64}, {300, 128, 64}, {300, 128, 10}, {1'500, 0, 64}, {40, 20, 64}};
  for (const auto& c : kCases) {
    SortedSetModel model(seed + c.members);
    model.limits.zset_max_listpack_entries = c.max_entries;
    model.limits.zset_max_listpack_value = c.max_value;
    for (int step = 0; step < 2'500; ++step) {
      const std::string member = SomeMember(model.random, c.members);
      const uint64_t dice = model.random.Below(40);
      if (dice < 28) {
        ASSERT_NO_FATAL_FAILURE(model.Add(member, SomeScore(model.random)));
      } else if (dice < 39 || step % 8 != 0) {
        ASSERT_NO_FATAL_FAILURE(model.Remove(member));
      } else {
        model.RemoveSpan(model.SomeSpan());
      }
      if (step % 10 == 0) {
        ASSERT_NO_FATAL_FAILURE(model.CheckRange(SomeRange(model.random)));
      }
      if (step % 50 == 0) {
        ASSERT_NO_FATAL_FAILURE(model.Check());
      }
    }
    ASSERT_NO_FATAL_FAILURE(model.Check());
  }
}

TEST(SortedSetTest, ConvertsAtExactlyTheLimits) {
  SortedSetModel model(1);
  for (int i = 0; i < 128; ++i) model.Add(std::to_string(i), i);
  EXPECT_EQ(model.Set().Table(), nullptr);
  model.Add("5", 99.5);
  EXPECT_EQ(model.Set().Table(), nullptr);
  model.Add("one more", 1);
  EXPECT_NE(model.Set().Table(), nullptr);
  ASSERT_NO_FATAL_FAILURE(model.Check());

  SortedSetModel other(2);
  other.Add(std::string(64, 'x'), 1);
  EXPECT_EQ(other.Set().Table(), nullptr);
  other.Add(std::string(65, 'x'), 1);
  EXPECT_NE(other.Set().Table(), nullptr);

  SortedSetModel expecting(3);
  expecting.Set().PrepareToAdd(128);
  EXPECT_EQ(expecting.Set().Table(), nullptr);
  expecting.Set().PrepareToAdd(129);
  EXPECT_NE(expecting.Set().Table(), nullptr);
}

TEST(SortedSetTest, RulesOfAdding) {
  using Condition = AddRule::Condition;
  using Comparison = AddRule::Comparison;
  using Arithmetic = AddRule::Arithmetic;
  for (uint64_t max_entries : {0u, 128u}) {
    SortedSetModel model(max_entries);
    model.limits.zset_max_listpack_entries = max_entries;
    const auto add = [&](const char* member, double score, AddRule rule) {
      return model.Set().Add(member, score, rule);
    };
    EXPECT_EQ(add("a", 1, {.condition = Condition::kIfPresent}).outcome, Outcome::kRuledOut);
    EXPECT_EQ(add("a", 1, {.condition = Condition::kIfAbsent}).outcome, Outcome::kAdded);
    EXPECT_EQ(add("a", 2, {.condition = Condition::kIfAbsent}).outcome, Outcome::kRuledOut);
    EXPECT_EQ(add("a", 2, {.condition = Condition::kIfPresent}).outcome, Outcome::kChanged);
    EXPECT_EQ(add("a", 1, {.comparison = Comparison::kGreater}).outcome, Outcome::kRuledOut);
    EXPECT_EQ(add("a", 2, {.comparison = Comparison::kGreater}).outcome, Outcome::kRuledOut);
    EXPECT_EQ(add("a", 3, {.comparison = Comparison::kGreater}).outcome, Outcome::kChanged);
    EXPECT_EQ(add("a", 4, {.comparison = Comparison::kLess}).outcome, Outcome::kRuledOut);
    EXPECT_EQ(add("b", 4, {.comparison = Comparison::kLess}).outcome, Outcome::kAdded);
    const AddResult sum = add("a", 0.5, {.arithmetic = Arithmetic::kAdd});
    EXPECT_EQ(sum.outcome, Outcome::kChanged);
    EXPECT_EQ(sum.score, 3.5);
    EXPECT_EQ(add("a", 0, {.arithmetic = Arithmetic::kAdd}).outcome, Outcome::kSame);
    EXPECT_EQ(add("a", -1, {.comparison = Comparison::kGreater, .arithmetic = Arithmetic::kAdd}).outcome,
              Outcome::kRuledOut);
    add("a", kInfinity, {});
    EXPECT_EQ(add("a", -kInfinity, {.arithmetic = Arithmetic::kAdd}).outcome, Outcome::kNotANumber);
    EXPECT_EQ(model.Set().Score("a"), kInfinity);
  }
}

TEST(SortedSetTest, PackedScoresAreIntegersWhereTheyCanBe) {
  SortedSetModel model(1);
  model.Set().Add("a", 3);
  model.Set().Add("b", 3.5);
  model.Set().Add("c", 4611686018427387904.0);
  model.Set().Add("d", 1e30);
  const SortedSet set = model.Set();
  const Listpack packed(set.slot().View());
  EXPECT_TRUE(packed.At(packed.Seek(1)).is_integer);
  EXPECT_EQ(packed.At(packed.Seek(3)).text, "3.5");
  EXPECT_TRUE(packed.At(packed.Seek(5)).is_integer);
  EXPECT_EQ(packed.At(packed.Seek(7)).text, "1e+30");
}

TEST(SortedSetTest, MinusZeroLastsInATableOnly) {
  SortedSetModel packed(1);
  packed.Set().Add("a", -0.0);
  EXPECT_FALSE(std::signbit(*packed.Set().Score("a")));
  SortedSetModel large(1);
  large.limits.zset_max_listpack_entries = 0;
  large.Set().Add("a", -0.0);
  EXPECT_TRUE(std::signbit(*large.Set().Score("a")));
}

LexRange Between(LexEnd min, LexEnd max) { return {min, max}; }

TEST(SortedSetTest, LexRangesInBothEncodings) {
  using Kind = LexEnd::Kind;
  for (uint64_t max_entries : {0u, 128u}) {
    SortedSetModel model(1);
    model.limits.zset_max_listpack_entries = max_entries;
    for (const char* member : {"a", "b", "c", "d", "e"}) model.Add(member, 0);
    const auto span = [&](LexEnd min, LexEnd max) {
      const RankSpan found = model.Set().RankSpanOf(Between(min, max));
      return std::pair(found.count == 0 ? 0 : found.first, found.count);
    };
    EXPECT_EQ(span({Kind::kLowest}, {Kind::kHighest}), std::pair(size_t{0}, size_t{5}));
    EXPECT_EQ(span({Kind::kIncluded, "b"}, {Kind::kIncluded, "d"}), std::pair(size_t{1}, size_t{3}));
    EXPECT_EQ(span({Kind::kExcluded, "b"}, {Kind::kExcluded, "d"}), std::pair(size_t{2}, size_t{1}));
    EXPECT_EQ(span({Kind::kIncluded, "bb"}, {Kind::kHighest}), std::pair(size_t{2}, size_t{3}));
    EXPECT_EQ(span({Kind::kHighest}, {Kind::kLowest}), std::pair(size_t{0}, size_t{0}));
    EXPECT_EQ(span({Kind::kLowest}, {Kind::kLowest}), std::pair(size_t{0}, size_t{0}));
    EXPECT_EQ(span({Kind::kIncluded, "d"}, {Kind::kIncluded, "b"}), std::pair(size_t{0}, size_t{0}));
    EXPECT_EQ(span({Kind::kExcluded, "b"}, {Kind::kIncluded, "b"}), std::pair(size_t{0}, size_t{0}));
  }
}

TEST(SortedSetTest, TablesAreClonedAndMeasured) {
  SortedSetModel model(1);
  for (int i = 0; i < 5'000; ++i) model.Add(StrCat("member:", 1'000'000 + i), model.random.Unit());
  const ScoreTable& table = *model.Set().Table();
  const auto copy = table.Clone();
  EXPECT_TRUE(static_cast<ScoreTable&>(*copy).IsConsistent());
  EXPECT_EQ(copy->Size(), 5'000u);
  // All members have the same size. The first 4096 records are not pooled, in the copy all are.
  EXPECT_EQ(copy->UsedBytes(0), copy->UsedBytes(5));
  EXPECT_GT(table.UsedBytes(0), copy->UsedBytes(0));
  EXPECT_LT(table.UsedBytes(0) / 5'000, 66u);
  // With few members left, the records move out of the pool.
  auto& rest = static_cast<ScoreTable&>(*copy);
  rest.RemoveRange(100, 4'500);
  EXPECT_TRUE(rest.IsConsistent());
  while (rest.Size() > 1) EXPECT_TRUE(rest.Remove(std::string((*rest.tree().Last()).member->Member())));
  EXPECT_EQ((*rest.tree().First()).score, (*table.tree().First()).score);
}

TEST(ScoredResultTest, CombinesSortsAndChoosesTheEncoding) {
  using Aggregate = ScoredResult::Aggregate;
  EXPECT_EQ(ScoredResult::AggregateScores(kInfinity, -kInfinity, Aggregate::kSum), 0);
  EXPECT_EQ(ScoredResult::AggregateScores(1, 2, Aggregate::kMin), 1);
  EXPECT_EQ(ScoredResult::AggregateScores(1, 2, Aggregate::kMax), 2);
  for (size_t size : {0u, 10u, 128u, 129u, 5'000u}) {
    ScoredResult result(HashKey{7});
    for (size_t i = 0; i < 2 * size; ++i) {
      const size_t number = i * 7919 % (size + 1);
      result.Combine(std::to_string(number), static_cast<double>(number % 10), Aggregate::kMax);
    }
    const bool removed = result.Remove("3");
    EXPECT_EQ(removed, size > 3);
    EXPECT_FALSE(result.Remove("3"));
    const size_t kept = result.SortedItems().size();
    EntryPtr entry = result.MakeSortedSetEntry("k", {}, 0);
    const EncodingLimits limits;
    const SortedSet set({ValueSlot(entry.get()), limits, 0});
    EXPECT_EQ(set.Size(), kept);
    EXPECT_TRUE(set.IsConsistent());
    EXPECT_EQ(set.Table() == nullptr, kept <= 128) << kept;
    if (size > 10) {
      EXPECT_EQ(set.Score("7"), 7);
      EXPECT_FALSE(set.Score("3"));
    }
  }
}

}  // namespace
}  // namespace respite
