#include "datatypes/score_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/str_cat.h"

namespace respite {
namespace {

using Side = ScoreTree::Side;
using Pair = std::pair<double, std::string>;

std::string MemberOf(uint64_t number) { return StrCat("member:", number); }

Pair PairOf(ScoreTree::Item item) { return {item.score, std::string(item.member->Member())}; }

struct BelowMember {
  bool operator()(const ScoredMember* a, const ScoredMember* b) const {
    return a->Score() != b->Score() ? a->Score() < b->Score() : a->Member() < b->Member();
  }
};

// A tree and its model, a set. Owns the records.
class TreeModel {
 public:
  explicit TreeModel(uint64_t seed) : random(seed) {}
  TreeModel(const TreeModel&) = delete;
  TreeModel& operator=(const TreeModel&) = delete;
  ~TreeModel() {
    for (ScoredMember* record : records) ScoredMember::Destroy(record);
  }

  void Insert(double score, const std::string& member) {
    ScoredMember* record = ScoredMember::Create(score, member);
    if (!records.insert(record).second) return ScoredMember::Destroy(record);
    tree.Insert(record);
  }
  // Returns the record at or above a random position.
  ScoredMember* Pick() {
    ScoredMember* probe =
        ScoredMember::Create((*records.begin())->Score() + random.Unit() * Width(), MemberOf(random.Below(4'000)));
    auto found = records.lower_bound(probe);
    ScoredMember::Destroy(probe);
    return found == records.end() ? *records.begin() : *found;
  }
  double Width() const { return (*records.rbegin())->Score() - (*records.begin())->Score(); }
  void RemoveOne() {
    if (records.empty()) return;
    ScoredMember* record = Pick();
    tree.Remove(record);
    records.erase(record);
    ScoredMember::Destroy(record);
  }
  void ChangeOne(double score) {
    if (records.empty()) return;
    ScoredMember* record = Pick();
    ScoredMember* probe = ScoredMember::Create(score, record->Member());
    const bool clash = records.contains(probe);
    ScoredMember::Destroy(probe);
    if (clash) return;
    records.erase(record);
    tree.ChangeScore(record, score);
    records.insert(record);
  }
  void RemoveRange(size_t first, size_t count) {
    const size_t behind = records.size() - first - count;
    const auto end = std::prev(records.end(), static_cast<ptrdiff_t>(behind));
    const auto begin = behind < first ? std::prev(end, static_cast<ptrdiff_t>(count))
                                      : std::next(records.begin(), static_cast<ptrdiff_t>(first));
    std::vector<ScoredMember*> expected(begin, end);
    for (ScoredMember* record : expected) records.erase(record);
    std::vector<ScoredMember*> visited;
    tree.RemoveRange(first, count, [&](ScoredMember* record) { visited.push_back(record); });
    ASSERT_EQ(visited, expected);
    for (ScoredMember* record : visited) ScoredMember::Destroy(record);
  }

  void Check() const {
    ASSERT_EQ(tree.Size(), records.size());
    ASSERT_TRUE(tree.IsConsistent());
    auto cursor = tree.First();
    for (ScoredMember* record : records) {
      ASSERT_FALSE(cursor.AtEnd());
      cursor.PrefetchAhead();
      ASSERT_EQ((*cursor).member, record);
      cursor.Next();
    }
    ASSERT_TRUE(cursor.AtEnd());
    cursor = tree.Last();
    for (auto record = records.rbegin(); record != records.rend(); ++record) {
      cursor.PrefetchBehind();
      ASSERT_EQ((*cursor).member, *record);
      cursor.Previous();
    }
    ASSERT_TRUE(cursor.AtEnd());
  }
  void CheckRanks() const {
    size_t rank = 0;
    for (ScoredMember* record : records) {
      ASSERT_EQ(tree.RankOf(record), rank);
      ASSERT_EQ((*tree.At(rank)).member, record);
      ++rank;
    }
    ASSERT_TRUE(tree.At(rank).AtEnd());
  }
  void CheckBound(double score, Side side) const {
    const ScoreTree::ScoreBound bound{score, side};
    const auto behind = std::find_if(records.begin(), records.end(), [&](const ScoredMember* record) {
      return side == Side::kBefore ? record->Score() >= score : record->Score() > score;
    });
    ASSERT_EQ(tree.RankOf(bound), static_cast<size_t>(std::distance(records.begin(), behind)));
    const auto cursor = tree.FirstAfter(bound);
    ASSERT_EQ(cursor.AtEnd() ? nullptr : (*cursor).member, behind == records.end() ? nullptr : *behind);
    const auto in_front = tree.LastBefore(bound);
    ASSERT_EQ(in_front.AtEnd() ? nullptr : (*in_front).member,
              behind == records.begin() ? nullptr : *std::prev(behind));
  }

  Random random;
  ScoreTree tree;
  std::set<ScoredMember*, BelowMember> records;
};

TEST(ScoredMemberTest, KeepsMembersOfAnyLength) {
  for (size_t size : {0u, 1u, 17u, 63u, 64u, 127u, 128u, 8191u, 8192u, 70000u}) {
    const std::string member(size, 'x');
    ScoredMember* record = ScoredMember::Create(-1.5, member);
    EXPECT_EQ(record->Member(), member);
    EXPECT_EQ(record->Score(), -1.5);
    record->SetScore(7);
    EXPECT_EQ(record->Score(), 7);
    EXPECT_EQ(record->Member(), member);
    EXPECT_EQ(record->Size(), 8 + size + (size < 64 ? 1u : size < 8192 ? 2u : 3u));
    ScoredMember::Destroy(record);
  }
}

TEST(ScoreTreeTest, EmptyTree) {
  ScoreTree tree;
  EXPECT_TRUE(tree.IsConsistent());
  EXPECT_TRUE(tree.First().AtEnd());
  EXPECT_TRUE(tree.Last().AtEnd());
  EXPECT_TRUE(tree.At(0).AtEnd());
  EXPECT_TRUE(tree.FirstAfter(ScoreTree::ScoreBound{0, Side::kBefore}).AtEnd());
  EXPECT_TRUE(tree.LastBefore(ScoreTree::LexBound{"", Side::kAfter}).AtEnd());
  EXPECT_EQ(tree.RankOf(ScoreTree::ScoreBound{0, Side::kAfter}), 0u);
  EXPECT_EQ(tree.UsedBytes(), 0u);
}

// Few and many different scores, sizes from one leaf to three levels, growing and shrinking.
TEST(ScoreTreeTest, RandomOperationsAgreeWithASet) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  for (uint64_t scores : {1u, 7u, 100'000u}) {
    TreeModel model(seed + scores);
    Random& random = model.random;
    for (int step = 0; step < 6'000; ++step) {
      const bool growing = (step / 2'000) % 2 == 0;
      const uint64_t dice = random.Below(10);
      const double score = static_cast<double>(random.Below(scores));
      if (dice < (growing ? 7u : 2u)) {
        model.Insert(score, MemberOf(random.Below(4'000)));
      } else if (dice < 9) {
        model.RemoveOne();
      } else {
        ASSERT_NO_FATAL_FAILURE(model.ChangeOne(score));
      }
      if (step % 50 == 0) {
        ASSERT_TRUE(model.tree.IsConsistent()) << step;
      }
      if (step % 500 == 0) {
        ASSERT_NO_FATAL_FAILURE(model.Check());
        ASSERT_NO_FATAL_FAILURE(model.CheckRanks());
        for (Side side : {Side::kBefore, Side::kAfter}) {
          ASSERT_NO_FATAL_FAILURE(model.CheckBound(score, side));
          ASSERT_NO_FATAL_FAILURE(model.CheckBound(score + 0.5, side));
          ASSERT_NO_FATAL_FAILURE(model.CheckBound(-std::numeric_limits<double>::infinity(), side));
          ASSERT_NO_FATAL_FAILURE(model.CheckBound(std::numeric_limits<double>::infinity(), side));
        }
      }
    }
  }
}

TEST(ScoreTreeTest, ItemsInOrderFillTheLeaves) {
  for (int direction : {1, -1}) {
    TreeModel model(1);
    for (int i = 0; i < 20'000; ++i) {
      model.Insert(i * direction, MemberOf(static_cast<uint64_t>(i)));
      if (i % 1'000 == 0) {
        ASSERT_TRUE(model.tree.IsConsistent()) << i;
      }
    }
    ASSERT_NO_FATAL_FAILURE(model.Check());
    EXPECT_LT(model.tree.UsedBytes(), 20'000u * 18) << direction;
    // Removing items at the growing end keeps the invariants at every step.
    for (size_t left = 20'000; left > 0; --left) {
      ASSERT_NO_FATAL_FAILURE(model.RemoveRange(direction > 0 ? left - 1 : 0, 1));
      if (left % 1'000 == 0) {
        ASSERT_TRUE(model.tree.IsConsistent()) << left;
      }
    }
    EXPECT_EQ(model.tree.UsedBytes(), 0u);
  }
}

TEST(ScoreTreeTest, EdgesThatGrewInOrderTakeRandomItems) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  TreeModel model(seed);
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t dice = model.random.Below(8);
    if (dice < 3) {
      model.Insert(100'000 + i, "r");
    } else if (dice < 6) {
      model.Insert(-100'000 - i, "l");
    } else if (dice == 6) {
      model.Insert(static_cast<double>(model.random.Below(200'000)) - 100'000, "m");
    } else {
      const bool right = model.random.Below(2) == 0;
      if (!model.records.empty()) model.RemoveRange(right ? model.records.size() - 1 : 0, 1);
    }
    if (i % 500 == 0) {
      ASSERT_TRUE(model.tree.IsConsistent()) << i;
    }
  }
  ASSERT_NO_FATAL_FAILURE(model.Check());
}

TEST(ScoreTreeTest, RandomOrderStaysCompact) {
  TreeModel model(7);
  for (uint64_t i = 0; i < 50'000; ++i) model.Insert(model.random.Unit(), MemberOf(i));
  ASSERT_NO_FATAL_FAILURE(model.Check());
  EXPECT_LT(model.tree.UsedBytes() / model.tree.Size(), 27u);
  while (model.tree.Size() > 5'000) model.RemoveOne();
  ASSERT_NO_FATAL_FAILURE(model.Check());
  EXPECT_LT(model.tree.UsedBytes() / model.tree.Size(), 60u);
}

TEST(ScoreTreeTest, RemovesRanges) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  TreeModel model(seed);
  for (int round = 0; round < 40; ++round) {
    while (model.tree.Size() < 8'000) model.Insert(model.random.Unit(), MemberOf(model.random.Next()));
    const size_t first = model.random.Below(8'000);
    const size_t count = model.random.Below(8'000 - first + 1);
    ASSERT_NO_FATAL_FAILURE(model.RemoveRange(first, count));
    ASSERT_NO_FATAL_FAILURE(model.Check());
  }
  ASSERT_NO_FATAL_FAILURE(model.RemoveRange(0, model.tree.Size()));
  ASSERT_NO_FATAL_FAILURE(model.Check());
}

TEST(ScoreTreeTest, BuildsFromSortedItems) {
  for (size_t size : {0u, 1u, 55u, 56u, 57u, 112u, 113u, 3'584u, 3'585u, 30'000u, 300'000u}) {
    std::vector<ScoreTree::Item> items;
    for (size_t i = 0; i < size; ++i) {
      const auto score = static_cast<double>(i);
      items.push_back({score, ScoredMember::Create(score, MemberOf(i))});
    }
    ScoreTree built = ScoreTree::FromSorted(items);
    ScoreTree tree(std::move(built));
    EXPECT_TRUE(built.IsConsistent());  // NOLINT(bugprone-use-after-move): a moved tree is an empty one
    ASSERT_TRUE(tree.IsConsistent()) << size;
    ASSERT_EQ(tree.Size(), size);
    for (size_t i = 0; i < size; i += 97) ASSERT_EQ(tree.RankOf(items[i].member), i);
    EXPECT_LE(tree.UsedBytes(), 3'072 + size * 23) << size;
    for (const auto& item : items) ScoredMember::Destroy(item.member);
  }
}

TEST(ScoreTreeTest, LexBoundsAmongEqualScores) {
  TreeModel model(3);
  for (int i = 0; i < 1'000; ++i) model.Insert(0, MemberOf(2'000 + 2 * static_cast<uint64_t>(i)));
  for (int i = -1; i < 2'001; ++i) {
    const std::string member = MemberOf(2'000 + static_cast<uint64_t>(i));
    const size_t below = static_cast<size_t>((i + 1) / 2);
    const size_t not_above = static_cast<size_t>(std::min(i + 2, 2'000) / 2);
    const ScoreTree::LexBound before{member, Side::kBefore};
    const ScoreTree::LexBound after{member, Side::kAfter};
    ASSERT_EQ(model.tree.RankOf(before), std::min<size_t>(below, 1'000)) << member;
    ASSERT_EQ(model.tree.RankOf(after), not_above) << member;
    const auto cursor = model.tree.FirstAfter(after);
    ASSERT_EQ(cursor.AtEnd(), not_above == 1'000);
    if (!cursor.AtEnd()) {
      EXPECT_GT((*cursor).member->Member(), Bytes(member));
    }
    const auto in_front = model.tree.LastBefore(before);
    ASSERT_EQ(in_front.AtEnd(), below == 0);
    if (!in_front.AtEnd()) {
      EXPECT_LT(PairOf(*in_front), Pair(0, member));
    }
  }
}

TEST(ScoreTreeTest, ZeroAndMinusZeroAreOneScore) {
  TreeModel model(4);
  model.Insert(0.0, "b");
  model.Insert(-0.0, "c");
  model.Insert(-0.0, "a");
  ASSERT_NO_FATAL_FAILURE(model.Check());
  EXPECT_EQ((*model.tree.First()).member->Member(), "a");
  EXPECT_EQ((*model.tree.Last()).member->Member(), "c");
}

}  // namespace
}  // namespace respite
