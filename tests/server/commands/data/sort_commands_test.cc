// SORT, and SortOrder.
#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/str_cat.h"
#include "server/commands/data/sort_order.h"
#include "server/commands/partial_sort.h"
#include "tests/support/command_test.h"

namespace respite {

namespace {

std::vector<Bytes> ViewsOf(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

TEST(SortOrderTest, AnyPartOfAnyOrderEqualsThatOfAFullSort) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  for (int round = 0; round < 300; ++round) {
    const auto direction = random.Below(2) == 0 ? SortDirection::kUp : SortDirection::kDown;
    const bool by_text = random.Below(2) == 0;
    std::vector<std::string> texts(random.Below(round % 8 == 0 ? 1500 : 60));
    std::vector<double> numbers;
    for (std::string& text : texts) {
      text = std::string(random.Below(12), static_cast<char>('a' + random.Below(2)));
      if (random.Below(3) == 0) text += static_cast<char>(random.Below(256));
      numbers.push_back(static_cast<double>(random.Below(9)) / 2 - 2);
    }
    const std::vector<Bytes> views = ViewsOf(texts);
    SortOrder order(direction, views);
    if (by_text) order.SetTexts(views);
    if (!by_text)
      for (double number : numbers) order.AddNumber(number);
    std::vector<size_t> expected(texts.size());
    for (size_t i = 0; i < texts.size(); ++i) expected[i] = i;
    std::stable_sort(expected.begin(), expected.end(), [&](size_t a, size_t b) {
      if (direction == SortDirection::kDown) std::swap(a, b);
      if (!by_text && numbers[a] != numbers[b]) return numbers[a] < numbers[b];
      return texts[a] < texts[b];
    });
    SortRange range{.first = random.Below(texts.size() + 1)};
    range.count = random.Below(texts.size() - range.first + 1);
    const auto begin = expected.begin() + static_cast<std::ptrdiff_t>(range.first);
    const std::vector<size_t> selected = order.Select(range);
    ASSERT_EQ(selected.size(), range.count);
    // If the range is a part, elements with equal texts may have another order.
    for (size_t i = 0; i < range.count; ++i)
      ASSERT_TRUE(selected[i] == begin[static_cast<std::ptrdiff_t>(i)] || (by_text && range.count < texts.size()));
    for (size_t i = 0; i < range.count; ++i)
      ASSERT_EQ(texts[selected[i]], texts[begin[static_cast<std::ptrdiff_t>(i)]]) << round;
  }
}

class SortCommands : public CommandTest {};
INSTANTIATE_TEST_SUITE_P(Resp, SortCommands, BothVersions(), VersionName);

TEST_P(SortCommands, NumbersAndTexts) {
  Run("RPUSH l 10 9 -1.5 1e1");
  EXPECT_THAT(Run("SORT l"), Bulks({"-1.5", "9", "10", "1e1"}));
  EXPECT_THAT(Run("SORT l DESC"), Bulks({"1e1", "10", "9", "-1.5"}));
  EXPECT_THAT(Run("SORT_RO l ALPHA"), Bulks({"-1.5", "10", "1e1", "9"}));
  EXPECT_THAT(Run("SORT l LIMIT 1 2"), Bulks({"9", "10"}));
  EXPECT_THAT(Run("SORT l LIMIT 7 2"), EmptyArray());
  EXPECT_THAT(Run("SORT none"), EmptyArray());
}

TEST_P(SortCommands, EveryTypeOfSource) {
  Run("SADD i 3 1 2");
  Run("SADD s c a b");
  Run("ZADD z 1 c 2 a 3 b");
  EXPECT_THAT(Run("SORT i DESC"), Bulks({"3", "2", "1"}));
  EXPECT_THAT(Run("SORT s ALPHA"), Bulks({"a", "b", "c"}));
  EXPECT_THAT(Run("SORT z ALPHA"), Bulks({"a", "b", "c"}));
  EXPECT_THAT(Run("SORT z BY nosort"), Bulks({"c", "a", "b"}));
  EXPECT_THAT(Run("SORT z BY nosort DESC LIMIT 0 2"), Bulks({"b", "a"}));
  Run("SET str x");
  Run("HSET h f v");
  EXPECT_THAT(Run("SORT str"), ErrorStartsWith("WRONGTYPE "));
  EXPECT_THAT(Run("SORT h"), ErrorStartsWith("WRONGTYPE "));
}

TEST_P(SortCommands, ByOtherKeys) {
  Run("RPUSH l 1 2 3 4");
  Run("MSET w_1 3 w_2 1 w_3 2");
  EXPECT_THAT(Run("SORT l BY w_*"), Bulks({"4", "2", "3", "1"})) << "no weight counts as 0";
  EXPECT_THAT(Run("SORT l BY w_* DESC LIMIT 0 2"), Bulks({"1", "3"}));
  EXPECT_THAT(Run("SORT l BY w_* ALPHA DESC"), Bulks({"1", "3", "2", "4"})) << "no text comes before all";
  Run("HSET h_1 f 2");
  Run("HSET h_2 f 3");
  EXPECT_THAT(Run("SORT l BY h_*->f"), Bulks({"3", "4", "1", "2"}));
  EXPECT_THAT(Run("SORT l BY constant DESC"), Bulks({"4", "3", "2", "1"}));
}

TEST_P(SortCommands, Get) {
  Run("RPUSH l 2 1");
  Run("MSET name_1 one h_2 text");
  Run("HSET h_1 f eins");
  EXPECT_THAT(Run("SORT l GET name_*"), ArrayOf(Bulk("one"), Nil()));
  EXPECT_THAT(Run("SORT l GET # GET h_*->f GET constant"),
              ArrayOf(Bulk("1"), Bulk("eins"), Nil(), Bulk("2"), Nil(), Nil()));
}

TEST_P(SortCommands, Store) {
  Run("RPUSH l 2 3 1");
  EXPECT_THAT(Run("SORT l STORE d"), Int(3));
  EXPECT_THAT(Run("LRANGE d 0 -1"), Bulks({"1", "2", "3"}));
  EXPECT_THAT(Run("SORT l DESC STORE l"), Int(3));
  EXPECT_THAT(Run("LRANGE l 0 -1"), Bulks({"3", "2", "1"}));
  EXPECT_THAT(Run("SORT l GET none_* STORE d"), Int(3));
  EXPECT_THAT(Run("LRANGE d 0 -1"), Bulks({"", "", ""}));
  Run("SET name_1 x");
  EXPECT_THAT(Run("SORT l LIMIT 0 1 GET name_* STORE name_1"), Int(1)) << "the destination is a source";
  EXPECT_THAT(Run("LRANGE name_1 0 -1"), Bulks({"x"}));
  EXPECT_THAT(Run("SORT none STORE d"), Int(0));
  EXPECT_THAT(Run("EXISTS d"), Int(0));
}

TEST_P(SortCommands, StoresASetInOneOrderEverywhere) {
  std::vector<std::string> words = {"SADD", "s"};
  for (int i = 0; i < 300; ++i) words.push_back(StrCat("m", i));
  Run(words);
  EXPECT_THAT(Run("SORT s BY nosort STORE d"), Int(300));
  EXPECT_THAT(Run("LRANGE d 0 1"), Bulks({"m0", "m1"}));
  EXPECT_THAT(Run("SORT s BY none_* ALPHA STORE e"), Int(300));  // equal weights; the replay's table has another order
}

// The expected elements are from Redis 7.0.15.
TEST_P(SortCommands, PartsHaveEqualElementsInTheOrderOfRedis) {
  std::vector<std::string> words = {"RPUSH", "l"};
  for (int i = 0; i < 100; ++i) {
    words.push_back(StrCat("e", i));
    Run({"SET", StrCat("w_e", i), std::string(1, "abcd"[i * 7 % 11 % 4])});
  }
  Run(words);
  EXPECT_THAT(Run("SORT l BY w_* ALPHA LIMIT 20 12"),
              Bulks({"e20", "e21", "e22", "e65", "e64", "e0", "e55", "e98", "e62", "e6", "e7", "e8"}));
  EXPECT_THAT(Run("SORT l BY w_* ALPHA DESC LIMIT 0 6"), Bulks({"e45", "e2", "e56", "e57", "e1", "e90"}));
  EXPECT_THAT(Run("SORT l BY nosuch_* ALPHA LIMIT 3 4"), Bulks({"e3", "e4", "e5", "e6"}));
}

// An adversary that decides the order while the method asks (McIlroy 1999) needs quadratic time without a limit.
TEST(PartialSortTest, GivesUpIfTheElementsAreChosen) {
  constexpr int kItems = 20000;
  constexpr int kGas = kItems;
  std::vector<int> values(kItems, kGas);
  std::vector<int> items(kItems);
  for (int i = 0; i < kItems; ++i) items[static_cast<size_t>(i)] = i;
  int solid = 0;
  int candidate = 0;
  size_t compares = 0;
  PartialSort sort(items, [&](int one, int other) {
    ++compares;
    int& a = values[static_cast<size_t>(one)];
    int& b = values[static_cast<size_t>(other)];
    if (a == kGas && b == kGas) (one == candidate ? a : b) = solid++;
    if (a == kGas) candidate = one;
    if (b == kGas) candidate = other;
    return a - b;
  });
  EXPECT_FALSE(sort.Sort(0, kItems - 1));
  EXPECT_LT(compares, 3'000'000U);
}

TEST(PartialSortTest, EqualsAFullSort) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  for (int round = 0; round < 500; ++round) {
    std::vector<int> items(1 + random.Below(300));
    const uint64_t kinds = 1 + random.Below(400);
    for (int& item : items) item = static_cast<int>(random.Below(kinds));
    std::vector<int> sorted = items;
    std::ranges::sort(sorted);
    const size_t first = random.Below(items.size());
    const size_t last = first + random.Below(items.size() - first);
    PartialSort sort(items, [](int a, int b) { return a - b; });
    ASSERT_TRUE(sort.Sort(first, last));
    for (size_t i = first; i <= last; ++i) ASSERT_EQ(items[i], sorted[i]) << round;
  }
}

TEST_P(SortCommands, WhatIsNotANumber) {
  Run("RPUSH l 1 x");
  EXPECT_THAT(Run("SORT l"), Error("ERR One or more scores can't be converted into double"));
  EXPECT_THAT(Run("SORT l STORE d"), ErrorStartsWith("ERR One or more"));
  EXPECT_THAT(Run("EXISTS d"), Int(0));
  Run("RPUSH odd inf 3 \"\" \" 2\" -inf");
  EXPECT_THAT(Run("SORT odd"), Bulks({"-inf", "", " 2", "3", "inf"}));
  Run("RPUSH bad \"1 \"");
  EXPECT_THAT(Run("SORT bad"), ErrorStartsWith("ERR One or more"));
  Run("RPUSH nan nan");
  EXPECT_THAT(Run("SORT nan"), ErrorStartsWith("ERR One or more"));
}

TEST_P(SortCommands, Refusals) {
  Run("SET str x");
  for (const char* line :
       {"SORT str WHAT", "SORT l LIMIT 1", "SORT l BY", "SORT l GET", "SORT l STORE", "SORT_RO l STORE d"})
    EXPECT_THAT(Run(line), Error("ERR syntax error")) << line;
  EXPECT_THAT(Run("SORT l LIMIT a 1"), Error("ERR value is not an integer or out of range"));
}

}  // namespace

}  // namespace respite
