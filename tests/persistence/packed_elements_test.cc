#include "persistence/packed_elements.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/str_cat.h"
#include "tests/persistence/legacy_builders.h"

namespace respite {
namespace {

using namespace std::string_literals;

std::vector<std::string> Texts(const std::optional<PackedElements>& elements) {
  if (!elements) return {"(malformed)"};
  std::vector<std::string> texts;
  for (const PackedElement& element : *elements) texts.emplace_back(ElementText(element).View());
  return texts;
}

const std::vector<std::string> kTexts = {"a",
                                         "",
                                         "12",
                                         "13",
                                         "0",
                                         "-1",
                                         "127",
                                         "-128",
                                         "128",
                                         "32767",
                                         "-32769",
                                         "8388607",
                                         "-8388609",
                                         "2147483648",
                                         std::string(63, 'b'),
                                         std::string(64, 'c'),
                                         std::string(253, 'd'),
                                         std::string(300, 'e'),
                                         std::string(20000, 'f'),
                                         "tail"};

TEST(Ziplist, GivesEveryKindOfEntry) { EXPECT_EQ(Texts(ZiplistElements(Ziplist(kTexts))), kTexts); }

TEST(Ziplist, MayBeEmpty) { EXPECT_EQ(Texts(ZiplistElements(Ziplist({}))), std::vector<std::string>{}); }

TEST(Ziplist, ReadsADumpOfRedis26) {
  // The list "a", 12, 13, 300 as written by an old server.
  const std::string bytes =
      "\x17\0\0\0\x12\0\0\0\x04\0\0\x01"
      "a\x03\xfd\x02\xfe\x0d\x03\xc0\x2c\x01\xff"s;
  EXPECT_EQ(Texts(ZiplistElements(bytes)), (std::vector<std::string>{"a", "12", "13", "300"}));
}

TEST(Zipmap, GivesFieldsAndValues) {
  const std::vector<std::string> texts = {"f", "v", "", "", std::string(300, 'x'), std::string(253, 'y'), "last", "0"};
  EXPECT_EQ(Texts(ZipmapElements(Zipmap(texts))), texts);
}

TEST(Zipmap, SkipsFreeBytesAndAnUnknownCount) {
  EXPECT_EQ(Texts(ZipmapElements("\x01\x01"
                                 "f\x02\x03"
                                 "vw...\xff")),
            (std::vector<std::string>{"f", "vw"}));
  EXPECT_EQ(Texts(ZipmapElements("\xfe\x01"
                                 "f\x02\0vw\xff"s)),
            (std::vector<std::string>{"f", "vw"}));
}

TEST(Intset, GivesIntegersOfEachWidth) {
  EXPECT_EQ(Texts(IntsetElements(MakeIntset(std::vector<int64_t>{-3, 0, 7}))),
            (std::vector<std::string>{"-3", "0", "7"}));
  EXPECT_EQ(Texts(IntsetElements(MakeIntset(std::vector<int64_t>{-40000, 7}))),
            (std::vector<std::string>{"-40000", "7"}));
  EXPECT_EQ(Texts(IntsetElements(MakeIntset(std::vector<int64_t>{-5'000'000'000, 7}))),
            (std::vector<std::string>{"-5000000000", "7"}));
}

TEST(Intset, RefusesDisorderAndStrangeWidths) {
  EXPECT_FALSE(IntsetElements("\x02\0\0\0\x02\0\0\0\x05\0\x05\0"s));
  EXPECT_FALSE(IntsetElements("\x02\0\0\0\x02\0\0\0\x05\0\x04\0"s));
  EXPECT_FALSE(IntsetElements("\x03\0\0\0\x01\0\0\0\x05\0\0"s));
  EXPECT_FALSE(IntsetElements("\x02\0\0\0\xff\xff\xff\xff\x05\0"s));
  EXPECT_FALSE(IntsetElements("\x02\0\0"s));
}

TEST(MakeListpack, IsCanonicalForAnyInput) {
  // "12" as a text; no version of Redis writes this.
  const std::string bytes =
      "\x0b\0\0\0\x01\0\x82"
      "12\x03\xff"s;
  const auto elements = ListpackElements(bytes);
  ASSERT_TRUE(elements);
  EXPECT_EQ(MakeListpack(*elements), "\x09\0\0\0\x01\0\x0c\x01\xff"s);
}

TEST(HasEqualElements, ComparesTexts) {
  auto equal = [](const std::vector<std::string>& texts, size_t stride) {
    const std::string bytes = Ziplist(texts);
    return HasEqualElements(*ZiplistElements(bytes), stride, {3});
  };
  EXPECT_FALSE(equal({"a", "b", "c"}, 1));
  EXPECT_TRUE(equal({"a", "b", "a"}, 1));
  EXPECT_FALSE(equal({"a", "x", "b", "x"}, 2));
  EXPECT_TRUE(equal({"a", "x", "a", "y"}, 2));
  const PackedElement both[] = {{.text = "12"}, {.text = {}, .integer = 12, .is_integer = true}};
  EXPECT_TRUE(HasEqualElements(both, 1, {3}));
  std::vector<std::string> many;
  many.reserve(201);
  for (int i = 0; i < 200; ++i) many.push_back(StrCat("m", i));
  EXPECT_FALSE(equal(many, 1));
  many.emplace_back("m77");
  EXPECT_TRUE(equal(many, 1));
}

// Flips every bit of every byte, and truncates at every position: the function must return a result or nothing, and
// never crash; truncated bytes are refused.
void Torment(const std::string& good, std::optional<PackedElements> (*read)(Bytes)) {
  ASSERT_TRUE(read(good));
  for (size_t cut = 0; cut < good.size(); ++cut) {
    const std::string shorter = good.substr(0, cut);
    EXPECT_FALSE(read(shorter)) << cut;
  }
  for (size_t i = 0; i < good.size() * 8; ++i) {
    std::string bad = good;
    bad[i / 8] = static_cast<char>(bad[i / 8] ^ (1 << i % 8));
    Texts(read(bad));
  }
}

TEST(PackedElements, SurviveDamage) {
  const std::vector<std::string> texts = {"f", "12", "-70000", std::string(70, 'g'), std::string(260, 'h'), "1"};
  Torment(Ziplist(texts), ZiplistElements);
  Torment(Zipmap(texts), ZipmapElements);
  Torment(MakeIntset(std::vector<int64_t>{-70000, 1, 2, 3}), IntsetElements);
  const std::string ziplist = Ziplist(texts);
  Torment(MakeListpack(*ZiplistElements(ziplist)), ListpackElements);
}

// Some integers and texts of every encoding, and values just beyond the range of an encoding.
std::string RandomListpack(Random& random) {
  constexpr int64_t kEdges[] = {0, 127, 128, 4095, 4096, 32767, 32768, 8388607, 8388608, INT32_MAX, int64_t{1} << 40};
  ListpackMaker maker;
  for (uint64_t left = random.Below(12); left > 0; --left) {
    if (random.Below(2) == 0) {
      const int64_t edge = kEdges[random.Below(std::size(kEdges))];
      maker.AppendInteger(random.Below(2) == 0 ? edge : -edge);
    } else if (random.Below(8) == 0) {
      maker.AppendText(std::string(4090 + random.Below(10), 'l'));
    } else {
      maker.AppendText(std::string(random.Below(130), static_cast<char>('0' + random.Below(20))));
    }
  }
  return maker.Take();
}

// Changes one byte: flips one bit, because most bytes of an encoding have meaningful neighbours, or sets a random
// value.
std::string Damaged(std::string bytes, Random& random) {
  char& byte = bytes[6 + random.Below(std::min<size_t>(bytes.size() - 6, 12))];
  byte = static_cast<char>(random.Below(2) == 0 ? byte ^ 1 << random.Below(8) : static_cast<int>(random.Below(256)));
  return bytes;
}

TEST(CanonicalListpack, EqualsAListpackOfItsElements) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(seed);
  Random random(seed);
  int damaged_and_canonical = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::string good = RandomListpack(random);
    ASSERT_TRUE(CanonicalListpack(good).IsCanonical());
    const std::string bad = Damaged(good, random);
    const auto elements = ListpackElements(bad);
    const CanonicalListpack canonical(bad);
    ASSERT_EQ(canonical.IsCanonical(), elements && MakeListpack(*elements) == bad) << round;
    ASSERT_EQ(elements.has_value(), Listpack::IsWellFormed(bad)) << round;
    if (!canonical.IsCanonical()) continue;
    ++damaged_and_canonical;
    ASSERT_EQ(canonical.Count(), elements->size());
    for (size_t i = 0; i < elements->size(); ++i)
      ASSERT_EQ(ElementText(canonical.At(i)).View(), ElementText((*elements)[i]).View());
    ASSERT_EQ(canonical.HasEqualElements(1, {seed}), HasEqualElements(*elements, 1, {seed}));
  }
  EXPECT_GT(damaged_and_canonical, 100);
}

TEST(CanonicalListpack, KnowsEqualElementsAmongMany) {
  std::vector<std::string> texts;
  texts.reserve(201);
  for (int i = 0; i < 200; ++i) texts.push_back(StrCat("m", i));
  const std::string different = MakeListpack(*ZiplistElements(Ziplist(texts)));
  EXPECT_FALSE(CanonicalListpack(different).HasEqualElements(1, {3}));
  texts.insert(texts.begin() + 30, "m120");
  const std::string equal = MakeListpack(*ZiplistElements(Ziplist(texts)));
  EXPECT_TRUE(CanonicalListpack(equal).HasEqualElements(1, {3}));
  EXPECT_FALSE(CanonicalListpack(equal).HasEqualElements(2, {3}));
}

}  // namespace
}  // namespace respite
