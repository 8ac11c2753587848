#include "persistence/lzf.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/str_cat.h"

namespace respite {
namespace {

std::optional<std::string> CompressLzf(Bytes text) {
  std::string packed(text.size(), '\0');
  packed.resize(respite::CompressLzf(text, packed.data()));
  return packed.empty() ? std::nullopt : std::optional(packed);
}

std::optional<std::string> DecompressLzf(Bytes packed, uint64_t size) {
  if (!IsPossibleLzfSize(packed.size(), size)) return std::nullopt;
  std::string text(size, '\0');
  return respite::DecompressLzf(packed, text) ? std::optional(text) : std::nullopt;
}

TEST(Lzf, ShortensWhatRepeatsAndGivesItBack) {
  std::string text;
  for (int i = 0; i < 500; ++i) StrAppend(text, "the same again and again, number ", i % 7, "; ");
  const auto packed = CompressLzf(text);
  ASSERT_TRUE(packed);
  EXPECT_LT(packed->size(), text.size() / 5);
  EXPECT_EQ(DecompressLzf(*packed, text.size()), text);
}

TEST(Lzf, RefusesToMakeATextLonger) {
  EXPECT_FALSE(CompressLzf(""));
  EXPECT_FALSE(CompressLzf("abcd"));
  EXPECT_FALSE(CompressLzf("0123456789abcdefghijklmnopqrstuvwxyz"));
}

TEST(Lzf, RandomTextsSurviveTheRoundTrip) {
  const uint64_t seed = 4711;
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int round = 0; round < 300; ++round) {
    std::string text(random.Below(3000), '\0');
    const uint64_t letters = 1 + random.Below(8);
    for (char& c : text) c = static_cast<char>('a' + random.Below(letters));
    const auto packed = CompressLzf(text);
    if (packed) {
      EXPECT_EQ(DecompressLzf(*packed, text.size()), text);
    }
  }
}

TEST(Lzf, RefusesASizeThatIsNotTheRightOne) {
  const std::string text(1000, 'x');
  const auto packed = CompressLzf(text);
  ASSERT_TRUE(packed);
  EXPECT_FALSE(DecompressLzf(*packed, text.size() - 1));
  EXPECT_FALSE(DecompressLzf(*packed, text.size() + 1));
  EXPECT_FALSE(DecompressLzf(packed->substr(0, packed->size() - 1), text.size()));
}

TEST(Lzf, AllocatesNothingForAnImpossibleSize) {
  EXPECT_FALSE(DecompressLzf("abc", uint64_t{1} << 60));
  EXPECT_FALSE(DecompressLzf("abc", 4'000'000'000));
  EXPECT_FALSE(DecompressLzf("", 0));
}

TEST(Lzf, SurvivesAnyBytes) {
  const uint64_t seed = 815;
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int round = 0; round < 3000; ++round) {
    std::string packed(1 + random.Below(40), '\0');
    for (char& c : packed) c = static_cast<char>(random.Below(256));
    const uint64_t size = random.Below(400);
    const auto text = DecompressLzf(packed, size);
    if (text) {
      EXPECT_EQ(text->size(), size);
    }
  }
}

}  // namespace
}  // namespace respite
