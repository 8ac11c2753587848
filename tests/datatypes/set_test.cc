#include "datatypes/set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/str_cat.h"

namespace respite {
namespace {

std::string SetMemberText(const PackedElement& member) { return std::string(ElementText(member).View()); }

// One set at a key in its own database.
class SetTest : public testing::Test {
 protected:
  Set Make(EncodingLimits limits = {}) {
    limits_ = limits;
    if (Entry* old = database_.Find("k")) database_.Take(old);
    Entry* entry = database_.Add(EntryPtr(
        Entry::CreatePacked("k", Set::kType, Set::kInitialForm, Set::InitialPacked(), /*spare=*/0, /*access=*/0)));
    return Set({.slot = ValueSlot(database_, entry), .limits = limits_, .now_ms = 0});
  }
  Set MakeOf(const std::vector<std::string>& members, EncodingLimits limits = {}) {
    Set set = Make(limits);
    if (!members.empty()) set.PrepareToAdd(members[0], members.size());
    for (const std::string& member : members) set.Add(member);
    return set;
  }
  static std::vector<std::string> MembersOf(const Set& set) {
    std::vector<std::string> members;
    set.ForEach([&](const PackedElement& member) { members.push_back(SetMemberText(member)); });
    return members;
  }
  static std::vector<std::string> Numbers(int count) {
    std::vector<std::string> numbers;
    numbers.reserve(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) numbers.push_back(std::to_string(i));
    return numbers;
  }
  static ValueForm FormOf(const Set& set) { return set.slot().Form(); }

  Database database_{HashKey{42}};
  EncodingLimits limits_;
};

TEST_F(SetTest, WithoutAKeyItIsEmpty) {
  const Set set({.slot = ValueSlot(), .limits = limits_, .now_ms = 0});
  EXPECT_TRUE(set.IsEmpty());
  EXPECT_FALSE(set.Contains("a"));
  EXPECT_EQ(set.Table(), nullptr);
  EXPECT_EQ(MembersOf(set), std::vector<std::string>());
}

TEST_F(SetTest, WalksIntsetsInOrderAndListpacksAsTheyCame) {
  EXPECT_EQ(MembersOf(MakeOf({"3", "-1", "2"})), (std::vector<std::string>{"-1", "2", "3"}));
  EXPECT_EQ(MembersOf(MakeOf({"c", "3", "a"})), (std::vector<std::string>{"c", "3", "a"}));
  EXPECT_EQ(MembersOf(MakeOf({"3", "c", "2"})), (std::vector<std::string>{"3", "c", "2"}));
}

TEST_F(SetTest, IntegersBecomeATableBeyondTheirLimit) {
  Set set = MakeOf(Numbers(512));
  EXPECT_EQ(FormOf(set), ValueForm::kIntset);
  EXPECT_FALSE(set.Add("511"));
  EXPECT_EQ(FormOf(set), ValueForm::kIntset);
  EXPECT_TRUE(set.Add("512"));
  EXPECT_EQ(FormOf(set), ValueForm::kObject);
  EXPECT_EQ(set.Size(), 513u);
  EXPECT_TRUE(set.Contains("0"));
}

TEST_F(SetTest, ATextMakesAListpackOfIntegersOrATable) {
  Set set = MakeOf(Numbers(127));
  set.Add("x");
  EXPECT_EQ(FormOf(set), ValueForm::kListpack);
  set = MakeOf(Numbers(128));
  set.Add("x");
  EXPECT_EQ(FormOf(set), ValueForm::kObject);
  set = MakeOf({"1"});
  set.Add(std::string(64, 'x'));
  EXPECT_EQ(FormOf(set), ValueForm::kListpack);
  set = MakeOf({"1"});
  set.Add(std::string(65, 'x'));
  EXPECT_EQ(FormOf(set), ValueForm::kObject);
  set = MakeOf({"-123456"}, {.set_max_listpack_value = 6});
  set.Add("x");
  EXPECT_EQ(FormOf(set), ValueForm::kObject) << "the integer is too long";
}

TEST_F(SetTest, ListpacksBecomeTablesBeyondTheirLimits) {
  Set set = MakeOf({"x"});
  for (int i = 0; i < 127; ++i) set.Add(std::to_string(i));
  EXPECT_EQ(FormOf(set), ValueForm::kListpack);
  EXPECT_FALSE(set.Add("5"));
  EXPECT_EQ(FormOf(set), ValueForm::kListpack);
  set.Add("127");
  EXPECT_EQ(FormOf(set), ValueForm::kObject);
  EXPECT_EQ(set.Size(), 129u);
  set = MakeOf({"x"});
  set.Add(std::string(65, 'y'));
  EXPECT_EQ(FormOf(set), ValueForm::kObject);
}

TEST_F(SetTest, TheNumberOfMembersToComeDecides) {
  Set set = Make();
  set.PrepareToAdd("1", 512);
  EXPECT_EQ(FormOf(set), ValueForm::kIntset);
  set = Make();
  set.PrepareToAdd("1", 513);
  EXPECT_EQ(FormOf(set), ValueForm::kObject);
  set = Make();
  set.PrepareToAdd("x", 128);
  EXPECT_EQ(FormOf(set), ValueForm::kListpack);
  set = Make();
  set.PrepareToAdd("x", 129);
  EXPECT_EQ(FormOf(set), ValueForm::kObject);
  set = Make({.set_max_intset_entries = 3});
  set.PrepareToAdd("1", 4);
  EXPECT_EQ(FormOf(set), ValueForm::kListpack) << "integers may begin as a listpack";
  set = MakeOf({"1"});
  set.PrepareToAdd("2", 513);
  EXPECT_EQ(FormOf(set), ValueForm::kObject) << "whatever is there already";
}

TEST_F(SetTest, IntegersMayComeBackToAnIntset) {
  Set set = Make();
  set.SetFormWhileEmpty(ValueForm::kListpack);
  for (int i = 200; i-- > 0;) set.Add(std::to_string(i));
  EXPECT_EQ(FormOf(set), ValueForm::kObject);
  set.TryConvertToIntset();
  EXPECT_EQ(FormOf(set), ValueForm::kIntset);
  EXPECT_EQ(MembersOf(set), Numbers(200));
  set = MakeOf(Numbers(600));
  set.TryConvertToIntset();
  EXPECT_EQ(FormOf(set), ValueForm::kObject);
}

TEST_F(SetTest, PoppingNextToAllPacksWhatStays) {
  Random random(5);
  for (size_t stays : {100u, 128u, 129u}) {
    std::vector<std::string> members;
    members.reserve(1000);
    for (int i = 0; i < 1000; ++i) members.push_back(StrCat("member:", i));
    Set set = MakeOf(members);
    std::set<std::string> popped;
    set.Pop(1000 - stays, random, [&](const PackedElement& member) { popped.insert(SetMemberText(member)); });
    EXPECT_EQ(popped.size(), 1000 - stays);
    EXPECT_EQ(set.Size(), stays);
    EXPECT_EQ(FormOf(set), stays <= 128 ? ValueForm::kListpack : ValueForm::kObject);
    set.ForEach([&](const PackedElement& member) { EXPECT_FALSE(popped.contains(SetMemberText(member))); });
  }
}

// Compares every operation with a std::set; the limits are so low that each form is entered repeatedly.
class SetModelTest : public SetTest, public testing::WithParamInterface<EncodingLimits> {
 protected:
  void SetUp() override { seed_ = SystemSeed(); }

  std::string RandomMember(Random& random) {
    if (random.Below(20) == 0) return std::string(random.Below(90), 'x');
    if (random.Below(4) == 0) return StrCat("m", random.Below(100));
    return std::to_string(static_cast<int64_t>(random.Next()) >> (random.Below(3) == 0 ? random.Below(64) : 57));
  }
  void Check(const Set& set) {
    ASSERT_TRUE(set.IsConsistent());
    ASSERT_EQ(set.Size(), model_.size());
    const std::vector<std::string> members = MembersOf(set);
    ASSERT_EQ(std::set<std::string>(members.begin(), members.end()), model_);
    ASSERT_EQ(members.size(), model_.size());
  }
  void Forget(const PackedElement& member) { ASSERT_EQ(model_.erase(SetMemberText(member)), 1u); }
  void Step(Set& set, Random& random) {
    const std::string member = RandomMember(random);
    const uint64_t kind = random.Below(20);
    if (kind < 12) {
      ASSERT_EQ(set.Add(member), model_.insert(member).second);
    } else if (kind < 18) {
      ASSERT_EQ(set.Remove(member), model_.erase(member) == 1);
    } else if (kind == 18 && !set.IsEmpty()) {
      set.Pop(1 + random.Below(std::min<size_t>(set.Size(), random.Below(10) == 0 ? 1000 : 3)), random,
              [&](const PackedElement& popped) { Forget(popped); });
    } else if (!set.IsEmpty()) {
      const size_t count = random.Below(set.Size() + 1);
      std::set<std::string> sample;
      set.Sample(count, random, [&](const PackedElement& picked) { sample.insert(SetMemberText(picked)); });
      ASSERT_EQ(sample.size(), count);
      ASSERT_TRUE(std::includes(model_.begin(), model_.end(), sample.begin(), sample.end()));
    }
    ASSERT_EQ(set.Contains(member), model_.contains(member));
  }

  uint64_t seed_ = 0;
  std::set<std::string> model_;
};

TEST_P(SetModelTest, RandomOperationsAgreeWithASet) {
  SCOPED_TRACE(testing::Message() << "seed " << seed_);
  Random random(seed_);
  for (int round = 0; round < 10; ++round) {
    Set set = Make(GetParam());
    model_.clear();
    for (int step = 0; step < 300; ++step) {
      ASSERT_NO_FATAL_FAILURE(Step(set, random));
      ASSERT_NO_FATAL_FAILURE(Check(set));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Limits, SetModelTest,
                         testing::Values(EncodingLimits{},
                                         EncodingLimits{.set_max_intset_entries = 20, .set_max_listpack_entries = 10},
                                         EncodingLimits{.set_max_intset_entries = 4, .set_max_listpack_entries = 30},
                                         EncodingLimits{.set_max_intset_entries = 0, .set_max_listpack_entries = 0},
                                         EncodingLimits{.set_max_intset_entries = 50, .set_max_listpack_value = 3}));

}  // namespace
}  // namespace respite
