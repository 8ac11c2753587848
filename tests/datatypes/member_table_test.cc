#include "datatypes/member_table.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/str_cat.h"

namespace respite {
namespace {

std::string RandomText(Random& random) {
  const size_t size = random.Below(8) == 0 ? random.Below(20'000) : random.Below(16);
  return StrCat(std::string(size, static_cast<char>('a' + random.Below(26))), random.Below(300));
}

TEST(MemberTest, HoldsTextsOfEverySize) {
  for (size_t size : std::initializer_list<size_t>{0, 1, 6, 7, 8, 127, 128, 129, 16'383, 16'384, 3'000'000}) {
    const std::string text(size, '\xff');
    const Member member = Member::Create(text);
    EXPECT_TRUE(static_cast<bool>(member));
    EXPECT_EQ(member.IsShort(), size <= 7) << size;
    EXPECT_EQ(member.Text(), text);
    EXPECT_EQ(member.UsedBytes() > 0, size > 7);
    Member::Destroy(member);
  }
  EXPECT_FALSE(static_cast<bool>(Member()));
}

TEST(MemberTest, EqualShortTextsAreEqualHandles) {
  EXPECT_EQ(Member::Create("abc"), Member::Create("abc"));
  EXPECT_FALSE(Member::Create("abc") == Member::Create(Bytes("abc\0", 4)));
  EXPECT_EQ(Member::Create("").Text(), "");
}

TEST(MemberTableTest, RandomOperationsAgreeWithASet) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  MemberTable table(HashKey{random.Next()});
  std::set<std::string> model;
  for (int step = 0; step < 20'000; ++step) {
    const std::string text = RandomText(random);
    if (random.Below(5) < (step < 10'000 ? 4u : 1u)) {
      ASSERT_EQ(table.Add(text), model.insert(text).second);
    } else {
      ASSERT_EQ(table.Remove(text), model.erase(text) == 1);
    }
    ASSERT_EQ(table.Size(), model.size());
    ASSERT_EQ(table.Contains(text), model.contains(text));
    if (step % 1000 == 0) {
      ASSERT_TRUE(table.IsConsistent());
    }
  }
  const std::unique_ptr<Object> clone = table.Clone();
  std::set<std::string> met;
  static_cast<MemberTable&>(*clone).ForEach([&](const Member& member) { met.emplace(member.Text()); });
  EXPECT_EQ(met, model);
  EXPECT_EQ(clone->Size(), model.size());
}

TEST(MemberTableTest, RemovesByAViewOfTheMemberItself) {
  MemberTable table(HashKey{1});
  for (int i = 0; i < 3000; ++i) table.Add(StrCat("member:", i, std::string(i % 2 == 0 ? 0 : 9, 'x')));
  while (table.Size() > 0) {
    const MemberTable& reader = table;
    Bytes text;
    reader.ForEachWhile([&](const Member& member) {
      text = member.Text();
      return false;
    });
    ASSERT_TRUE(table.Remove(text));
  }
  EXPECT_TRUE(table.IsConsistent());
}

TEST(MemberTableTest, ShortMembersTakeTheTableOnly) {
  MemberTable table(HashKey{7});
  for (int i = 0; i < 100'000; ++i) table.Add(std::to_string(1'000'000 + i));
  EXPECT_LT(table.UsedBytes(0), 100'000u * 20);
  EXPECT_EQ(table.UsedBytes(0), table.UsedBytes(5));
  MemberTable longer(HashKey{7});
  for (int i = 0; i < 10'000; ++i) longer.Add(StrCat("member:", 1'000'000 + i));
  EXPECT_NEAR(static_cast<double>(longer.UsedBytes(5)), static_cast<double>(longer.UsedBytes(0)), 1.0);
}

TEST(MemberTableTest, SamplesAreDifferentMembersWithEqualChance) {
  Random random(11);
  MemberTable table(HashKey{3});
  for (int i = 0; i < 60; ++i) table.Add(std::to_string(i));
  for (size_t count : {0u, 1u, 7u, 19u, 20u, 59u, 60u}) {
    std::map<std::string, int> met;
    constexpr int kRounds = 3000;
    for (int round = 0; round < kRounds; ++round) {
      std::set<std::string> sample;
      for (const Member& member : table.Sample(count, random)) sample.emplace(member.Text());
      ASSERT_EQ(sample.size(), count);
      for (const std::string& text : sample) ++met[text];
    }
    const double expected = static_cast<double>(kRounds * count) / 60;
    for (const auto& [text, times] : met) EXPECT_NEAR(times, expected, expected * 0.5 + 5) << text << " of " << count;
  }
}

}  // namespace
}  // namespace respite
