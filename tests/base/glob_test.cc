#include "base/glob.h"

#include <gtest/gtest.h>

#include <string>

namespace respite {
namespace {

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
    EXPECT_EQ(GlobMatch(pattern, text), matches) << pattern << " on " << text;
  }
}

TEST(GlobMatch, KeepsRedisOddities) {
  EXPECT_TRUE(GlobMatch("", ""));
  EXPECT_FALSE(GlobMatch("*", ""));     // not even a star
  EXPECT_TRUE(GlobMatch("[a", "a"));    // the class ends with the pattern
  EXPECT_TRUE(GlobMatch("[a-", "-"));   // no range without its end
  EXPECT_FALSE(GlobMatch("[", "["));    // an empty class matches nothing
  EXPECT_TRUE(GlobMatch("[^", "x"));    // and its opposite everything
  EXPECT_TRUE(GlobMatch("[a-]", "^"));  // the range from ']' to 'a'
  EXPECT_FALSE(GlobMatch("[a-]", "-"));
  EXPECT_TRUE(GlobMatch("[\\", "\\"));  // nothing left to escape
}

TEST(GlobMatch, IsBinarySafe) {
  EXPECT_TRUE(GlobMatch(Bytes("a\0*", 3), Bytes("a\0b", 3)));
  EXPECT_FALSE(GlobMatch(Bytes("a\0c", 3), Bytes("a\0b", 3)));
  EXPECT_TRUE(GlobMatch("[\x80-\x90]", "\x85"));
  EXPECT_FALSE(GlobMatch("[\x80-\x90]", "a"));
  EXPECT_TRUE(GlobMatch("[\x80-a]", "Z"));  // signed: \x80 is the lowest octet
}

TEST(GlobMatch, IgnoresCaseWhenAsked) {
  EXPECT_FALSE(GlobMatch("ABC", "abc"));
  EXPECT_TRUE(GlobMatch("ABC", "abc", CaseMode::kIgnore));
  EXPECT_TRUE(GlobMatch("*[b-d]?", "xCd", CaseMode::kIgnore));
  EXPECT_TRUE(GlobMatch("[A-C]", "b", CaseMode::kIgnore));
  EXPECT_TRUE(GlobMatch("\\A", "a", CaseMode::kIgnore));
  EXPECT_FALSE(GlobMatch("[\\A]", "a", CaseMode::kIgnore));  // escaped members keep their case
  EXPECT_FALSE(GlobMatch("[Z-a]", "z", CaseMode::kIgnore));  // ordered before folding
  EXPECT_TRUE(GlobMatch("[a-\xff]", "Z"));
  EXPECT_FALSE(GlobMatch("[a-\xff]", "Z", CaseMode::kIgnore));
  EXPECT_TRUE(GlobMatch("[a-\xff]", "5", CaseMode::kIgnore));
  EXPECT_FALSE(GlobMatch("[A-\x80]", "b", CaseMode::kIgnore));  // folded ends compare unsigned, but were ordered signed
}

// Takes for ever where every star is tried at every place.
TEST(GlobMatch, StaysFastOnManyStars) {
  std::string pattern;
  for (int i = 0; i < 500; i++) pattern += "a*";
  EXPECT_FALSE(GlobMatch(pattern + "b", std::string(20'000, 'a')));
  EXPECT_TRUE(GlobMatch(pattern, std::string(20'000, 'a')));
}

TEST(GlobMatch, TakesMoreThanAThousandStarsForAbuse) {
  std::string pattern;
  for (int i = 0; i < 1000; i++) pattern += "*a";
  const std::string text(1200, 'a');
  EXPECT_TRUE(GlobMatch(pattern, text));
  EXPECT_TRUE(GlobMatch(pattern + "*", text));
  EXPECT_FALSE(GlobMatch(pattern + "*a", text));
}

}  // namespace
}  // namespace respite
