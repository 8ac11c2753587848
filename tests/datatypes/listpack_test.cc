#include "datatypes/listpack.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "base/str_cat.h"
#include "datatypes/value_slot.h"

namespace respite {
namespace {

std::vector<std::string> TextsOf(Bytes bytes) {
  Listpack listpack(bytes);
  std::vector<std::string> texts;
  for (size_t at = listpack.Begin(); at != listpack.End(); at = listpack.Next(at))
    texts.emplace_back(listpack.TextAt(at).View());
  return texts;
}

std::vector<std::string> TextsFromBehind(Bytes bytes) {
  Listpack listpack(bytes);
  std::vector<std::string> texts;
  for (size_t at = listpack.End(); at != listpack.Begin();) {
    at = listpack.Previous(at);
    texts.insert(texts.begin(), std::string(listpack.TextAt(at).View()));
  }
  return texts;
}

std::string RandomElement(Random& random) {
  switch (random.Below(5)) {
    case 0:
      return std::to_string(static_cast<int64_t>(random.Next()) >> random.Below(64));
    case 1:
      return std::to_string(random.Below(200));
    case 2:
      return std::string(random.Below(random.Below(50) == 0 ? 20'000 : 150), 'x');
    case 3:
      return StrCat(std::string("\0\xff", 2), random.Below(5));
    default:
      return StrCat("e", random.Below(20));
  }
}

TEST(ListpackTest, TheBytesOfTheExample) {
  StringStore store(Listpack::Empty());
  EncodedElement pair[] = {EncodedElement("f"), EncodedElement("1000")};
  InsertElements(store, Listpack(store.View()).End(), pair);
  EXPECT_EQ(store.View(), Bytes("\x0d\0\0\0\x02\0\x81"
                                "f\x02\xc3\xe8\x02\xff",
                                13));
}

TEST(ListpackTest, EachIntegerTakesTheSmallestEncoding) {
  auto size = [](int64_t value) { return EncodedElement(value).Size(); };
  EXPECT_EQ(size(0), 2u);
  EXPECT_EQ(size(127), 2u);
  EXPECT_EQ(size(-1), 3u);
  EXPECT_EQ(size(128), 3u);
  EXPECT_EQ(size(4095), 3u);
  EXPECT_EQ(size(-4096), 3u);
  EXPECT_EQ(size(4096), 4u);
  EXPECT_EQ(size(-32768), 4u);
  EXPECT_EQ(size(32768), 5u);
  EXPECT_EQ(size(8388608), 6u);
  EXPECT_EQ(size(INT32_MIN), 6u);
  EXPECT_EQ(size(int64_t{INT32_MAX} + 1), 10u);
  for (int bits = 0; bits < 64; ++bits) {
    const uint64_t power = uint64_t{1} << bits;
    for (uint64_t near : {~uint64_t{0}, uint64_t{0}, uint64_t{1}}) {
      for (uint64_t wrapping : {power + near, near - power}) {
        const auto value = static_cast<int64_t>(wrapping);
        StringStore store(Listpack::Empty());
        AppendElement(store, EncodedElement(IntegerText(value).View()));
        EXPECT_TRUE(Listpack::IsWellFormed(store.View()));
        PackedElement element = Listpack(store.View()).At(Listpack::kHeader);
        EXPECT_TRUE(element.is_integer);
        EXPECT_EQ(element.integer, value);
      }
    }
  }
}

TEST(ListpackTest, WalksOverTextsOfEverySize) {
  for (size_t size : {0u, 1u, 63u, 64u, 125u, 126u, 127u, 4095u, 4096u, 16377u, 16378u, 16379u, 16400u, 2'097'200u}) {
    StringStore store(Listpack::Empty());
    std::vector<std::string> texts = {"first", std::string(size, 'm'), "last"};
    for (const std::string& text : texts) AppendElement(store, EncodedElement(text));
    EXPECT_EQ(TextsOf(store.View()), texts) << size;
    EXPECT_EQ(TextsFromBehind(store.View()), texts) << size;
    EXPECT_TRUE(Listpack::IsWellFormed(store.View())) << size;
  }
}

void Check(const StringStore& store, const std::vector<std::string>& model) {
  Listpack listpack(store.View());
  ASSERT_TRUE(Listpack::IsWellFormed(store.View()));
  ASSERT_EQ(TextsOf(store.View()), model);
  ASSERT_EQ(TextsFromBehind(store.View()), model);
  ASSERT_EQ(listpack.Count(), model.size());
  ASSERT_EQ(listpack.IsEmpty(), model.empty());
}

TEST(ListpackTest, RandomEditsAgreeWithAVector) {
  uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  for (int round = 0; round < 20; ++round) {
    StringStore store(Listpack::Empty());
    std::vector<std::string> model;
    for (int step = 0; step < 200; ++step) {
      size_t index = random.Below(model.size() + 1);
      size_t at = Listpack(store.View()).Seek(index);
      std::string text = RandomElement(random);
      const auto place = model.begin() + static_cast<std::ptrdiff_t>(index);
      if (random.Below(3) == 0 && place != model.end()) {
        size_t count = 1 + random.Below(3);
        RemoveElements(store, at, count);
        model.erase(place, place + std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(count), model.end() - place));
      } else if (random.Below(3) == 0 && place != model.end()) {
        ReplaceElement(store, at, EncodedElement(text));
        *place = text;
      } else {
        InsertElement(store, at, EncodedElement(text));
        model.insert(place, text);
      }
      ASSERT_NO_FATAL_FAILURE(Check(store, model));
      size_t found = Listpack(store.View()).Find(text, Listpack::kHeader);
      auto expected = std::find(model.begin(), model.end(), text);
      ASSERT_EQ(found == Listpack::kNowhere, expected == model.end());
      if (expected != model.end()) {
        ASSERT_EQ(found, Listpack(store.View()).Seek(static_cast<size_t>(expected - model.begin())));
      }
    }
  }
}

TEST(ListpackTest, FindStepsOverValues) {
  StringStore store(Listpack::Empty());
  for (const char* text : {"a", "b", "b", "c", "c", "a"}) AppendElement(store, EncodedElement(Bytes(text)));
  Listpack listpack(store.View());
  EXPECT_EQ(listpack.Find("b", listpack.Begin(), 2), listpack.Seek(2));
  EXPECT_EQ(listpack.Find("a", listpack.Next(listpack.Begin()), 2), listpack.Seek(5));
  EXPECT_EQ(listpack.Find("a", listpack.Seek(2), 2), Listpack::kNowhere);
}

TEST(ListpackTest, CountsManyElementsByWalking) {
  StringStore store(Listpack::Empty());
  std::vector<EncodedElement> many(70'000, EncodedElement(int64_t{1}));
  InsertElements(store, Listpack::kHeader, many);
  EXPECT_EQ(Listpack(store.View()).Count(), 70'000u);
  EXPECT_EQ(Listpack(store.View()).Seek(69'999), Listpack(store.View()).Last());
  RemoveElements(store, Listpack::kHeader, 10'000);
  EXPECT_EQ(Listpack(store.View()).Count(), 60'000u);
  EXPECT_TRUE(Listpack::IsWellFormed(store.View()));
}

TEST(ListpackTest, RefusesWhatIsNotOne) {
  StringStore store(Listpack::Empty());
  Random random(5);
  for (int i = 0; i < 50; ++i) AppendElement(store, EncodedElement(RandomElement(random)));
  std::string good(store.View());
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(Listpack::IsWellFormed(Bytes(good).substr(0, size))) << size;
  EXPECT_FALSE(Listpack::IsWellFormed(good + "x"));
  // A listpack with a flipped bit is refused, or can be iterated over.
  for (size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      if (Listpack::IsWellFormed(bad)) {
        EXPECT_EQ(TextsOf(bad).size(), TextsFromBehind(bad).size());
      }
    }
  }
}

TEST(ValueSlotTest, EditsTheEntryWhereverItMoves) {
  uint64_t seed = SystemSeed();
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  Database database(HashKey{1});
  for (int i = 0; i < 100; ++i) {
    std::string key = StrCat("k", i);
    Entry* entry = database.Add(
        EntryPtr(Entry::CreatePacked(key, ValueType::kList, ValueForm::kListpack, Listpack::Empty(), 0, 9)));
    if (i % 2 == 0) entry = database.SetDeadline(entry, 1000 + i);
    ValueSlot slot(database, entry);
    std::vector<std::string> model;
    for (int step = 0; step < 50; ++step) {
      std::string text = RandomElement(random);
      if (random.Below(3) == 0 && !model.empty()) {
        RemoveElements(slot, Listpack::kHeader, 1);
        model.erase(model.begin());
      } else {
        AppendElement(slot, EncodedElement(text));
        model.push_back(text);
      }
      ASSERT_EQ(database.Find(key), slot.entry());
      ASSERT_EQ(TextsOf(slot.entry()->Packed()), model);
      ASSERT_EQ(slot.entry()->Deadline(), i % 2 == 0 ? 1000 + i : kNoDeadline);
    }
  }
  ASSERT_TRUE(database.Entries().IsConsistent());
  ASSERT_TRUE(database.EntriesWithDeadline().IsConsistent());
}

}  // namespace
}  // namespace respite
