#include "base/glob.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/random.h"

namespace respite {
namespace {

// Checks that both implementations agree, and returns their result.
bool Matches(Bytes pattern, Bytes text, CaseMode mode = CaseMode::kSensitive) {
  const bool matches = GlobMatch(pattern, text, mode);
  EXPECT_EQ(Glob(pattern, mode).Matches(text), matches) << pattern << " on " << text;
  return matches;
}

struct Case {
  Bytes pattern;
  Bytes text;
  bool matches;
};

TEST(GlobMatch, MatchesLikeRedis) {
  for (const auto& [pattern, text, matches] : {Case{"abc", "abc", true},
                                               {"abc", "abd", false},
                                               {"abc", "ab", false},
                                               {"ab", "abc", false},
                                               {"a?c", "abc", true},
                                               {"a?c", "ac", false},
                                               {"?", "", false},
                                               {"??", "ab", true},
                                               {"*", "a", true},
                                               {"a*", "a", true},
                                               {"*a", "a", true},
                                               {"a*c", "abbbc", true},
                                               {"a*c", "abbb", false},
                                               {"a**b***", "ab", true},
                                               {"*ab*ab", "abababab", true},
                                               {"*ab*ac", "abababab", false},
                                               {"*a", "ab", false},
                                               {"h[ae]llo", "hello", true},
                                               {"h[ae]llo", "hillo", false},
                                               {"h[^e]llo", "hallo", true},
                                               {"h[^e]llo", "hello", false},
                                               {"h[a-b]llo", "hbllo", true},
                                               {"h[b-a]llo", "hallo", true},
                                               {"h[a-b]llo", "hcllo", false},
                                               {"[a-cx-z0]", "0", true},
                                               {"[a-cx-z0]", "d", false},
                                               {"a\\*b", "a*b", true},
                                               {"a\\*b", "axb", false},
                                               {"\\\\", "\\", true},
                                               {"a\\", "a\\", true},
                                               {"\\a", "a", true},
                                               {"\\[a]", "[a]", true},
                                               {"[\\]]", "]", true},
                                               {"[\\a-c]", "-", true},
                                               {"[\\a-c]", "b", false},
                                               {"[]a]", "a]", false},
                                               {"[]", "a", false},
                                               {"[^]", "a", true},
                                               {"*[^a]*", "aab", true}}) {
    EXPECT_EQ(Matches(pattern, text), matches) << pattern << " on " << text;
  }
}

TEST(GlobMatch, KeepsRedisOddities) {
  EXPECT_TRUE(Matches("", ""));
  EXPECT_FALSE(Matches("*", ""));     // not even a star
  EXPECT_TRUE(Matches("[a", "a"));    // the class ends with the pattern
  EXPECT_TRUE(Matches("[a-", "-"));   // a range needs an end
  EXPECT_FALSE(Matches("[", "["));    // an empty class matches nothing
  EXPECT_TRUE(Matches("[^", "x"));    // and its complement matches everything
  EXPECT_TRUE(Matches("[a-]", "^"));  // the range from ']' to 'a'
  EXPECT_FALSE(Matches("[a-]", "-"));
  EXPECT_TRUE(Matches("[\\", "\\"));  // nothing left to escape
}

TEST(GlobMatch, IsBinarySafe) {
  EXPECT_TRUE(Matches(Bytes("a\0*", 3), Bytes("a\0b", 3)));
  EXPECT_FALSE(Matches(Bytes("a\0c", 3), Bytes("a\0b", 3)));
  EXPECT_TRUE(Matches("[\x80-\x90]", "\x85"));
  EXPECT_FALSE(Matches("[\x80-\x90]", "a"));
  EXPECT_TRUE(Matches("[\x80-a]", "Z"));  // signed: \x80 is the lowest byte
}

TEST(GlobMatch, IgnoresCaseWhenAsked) {
  EXPECT_FALSE(Matches("ABC", "abc"));
  EXPECT_TRUE(Matches("ABC", "abc", CaseMode::kIgnore));
  EXPECT_TRUE(Matches("*[b-d]?", "xCd", CaseMode::kIgnore));
  EXPECT_TRUE(Matches("[A-C]", "b", CaseMode::kIgnore));
  EXPECT_TRUE(Matches("\\A", "a", CaseMode::kIgnore));
  EXPECT_FALSE(Matches("[\\A]", "a", CaseMode::kIgnore));  // escaped members keep their case
  EXPECT_FALSE(Matches("[Z-a]", "z", CaseMode::kIgnore));  // ordered before folding
  EXPECT_TRUE(Matches("[a-\xff]", "Z"));
  EXPECT_FALSE(Matches("[a-\xff]", "Z", CaseMode::kIgnore));
  EXPECT_TRUE(Matches("[a-\xff]", "5", CaseMode::kIgnore));
  EXPECT_FALSE(Matches("[A-\x80]", "b", CaseMode::kIgnore));  // folded bounds compare unsigned, but were sorted signed
}

// Takes forever in an implementation that tries every star at every position.
TEST(GlobMatch, StaysFastOnManyStars) {
  std::string pattern;
  for (int i = 0; i < 500; i++) pattern += "a*";
  EXPECT_FALSE(Matches(pattern + "b", std::string(20'000, 'a')));
  EXPECT_TRUE(Matches(pattern, std::string(20'000, 'a')));
}

TEST(GlobMatch, RefusesMoreThanAThousandStars) {
  std::string pattern;
  for (int i = 0; i < 1000; i++) pattern += "*a";
  const std::string text(1200, 'a');
  EXPECT_TRUE(Matches(pattern, text));
  EXPECT_TRUE(Matches(pattern + "*", text));
  EXPECT_FALSE(Matches(pattern + "*a", text));
}

TEST(Glob, AgreesWithGlobMatchOnRandomPatterns) {
  const auto seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  const auto text = [&](Bytes letters, size_t most) {
    std::string made(random.Below(most + 1), ' ');
    for (char& c : made) c = letters[random.Below(letters.size())];
    return made;
  };
  size_t matches = 0;
  for (int i = 0; i < 300'000; ++i) {
    const std::string pattern = text("aabB*?[]^-\\\x90", 9);
    const CaseMode mode = i % 2 == 0 ? CaseMode::kSensitive : CaseMode::kIgnore;
    if (Matches(pattern, text("aAbB-]\\\x90", 7), mode)) ++matches;
  }
  EXPECT_GT(matches, 1000u);
}

TEST(Glob, LongPatternsTakeNoLongerThanTheyAreLong) {
  const std::string text(1'000'000, 'a');
  const std::string half(500'000, 'a');
  EXPECT_FALSE(Glob("*" + half + "b").Matches(text));
  EXPECT_FALSE(Glob("*" + half + "b*").Matches(text));
  EXPECT_FALSE(Glob("*b" + half).Matches(text));
  EXPECT_TRUE(Glob("*" + half + "*").Matches(text));
  const Glob set("*[" + std::string(1'000'000, 'x') + "]");
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(set.Matches("some text"));
}

TEST(Glob, RefusesQuestionMarksAtMillionsOfPlaces) {
  const std::string text(1'000'000, 'a');
  EXPECT_FALSE(Glob("*" + std::string(1000, '?') + "b*").Matches(text + "b"));
  EXPECT_TRUE(Glob("*" + std::string(1000, '?') + "b").Matches(text + "b"));
}

}  // namespace
}  // namespace respite
