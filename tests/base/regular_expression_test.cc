#include "base/regular_expression.h"

#include <gtest/gtest.h>
#include <regex.h>

#include <string>

#include "base/random.h"

namespace respite {
namespace {

bool Matches(Bytes pattern, Bytes text, CaseMode mode = CaseMode::kSensitive) {
  auto expression = RegularExpression::Compile(pattern, mode);
  EXPECT_TRUE(expression.ok()) << pattern << ": " << (expression.ok() ? "" : expression.error());
  uint64_t steps_left = UINT64_MAX;
  return expression.ok() && expression.value().Matches(text, steps_left);
}

std::string ErrorOf(Bytes pattern) {
  const auto expression = RegularExpression::Compile(pattern);
  return expression.ok() ? "" : expression.error();
}

TEST(RegularExpressionTest, MatchesAnywhere) {
  EXPECT_TRUE(Matches("b", "abc"));
  EXPECT_FALSE(Matches("d", "abc"));
  EXPECT_TRUE(Matches("", ""));
  EXPECT_TRUE(Matches("^[A-Za-z]+: (cpu|net)$", "ERROR: cpu"));
  EXPECT_FALSE(Matches("^[A-Za-z]+: (cpu|net)$", "ERROR: disk"));
  EXPECT_TRUE(Matches("a.c", Bytes("xa\0cx", 5)));
  EXPECT_TRUE(Matches("a.c", "a\nc"));
}

TEST(RegularExpressionTest, Repeats) {
  EXPECT_TRUE(Matches("^ab*c$", "ac"));
  EXPECT_TRUE(Matches("^ab+c$", "abbbc"));
  EXPECT_FALSE(Matches("^ab+c$", "ac"));
  EXPECT_TRUE(Matches("^ab?c$", "abc"));
  EXPECT_FALSE(Matches("^ab?c$", "abbc"));
  EXPECT_TRUE(Matches("^a{2,3}$", "aaa"));
  EXPECT_FALSE(Matches("^a{2,3}$", "aaaa"));
  EXPECT_FALSE(Matches("^a{2}$", "a"));
  EXPECT_TRUE(Matches("^a{2,}$", "aaaaaa"));
  EXPECT_TRUE(Matches("^a{,2}$", ""));
  EXPECT_TRUE(Matches("^a{0}$", ""));
  EXPECT_FALSE(Matches("^a{0}$", "a"));
  EXPECT_TRUE(Matches("^(a*)*$", "aaa"));
  EXPECT_TRUE(Matches("^(a|b*)+c$", "abbac"));
  EXPECT_TRUE(Matches("^a+?b$", "aab"));
}

TEST(RegularExpressionTest, HasBrackets) {
  EXPECT_TRUE(Matches("^[]a]+$", "]a]"));
  EXPECT_TRUE(Matches("^[^]a]$", "b"));
  EXPECT_FALSE(Matches("^[^]a]$", "]"));
  EXPECT_TRUE(Matches("^[a-]+$", "a-"));
  EXPECT_TRUE(Matches("^[[:digit:][:upper:]_]+$", "A_1"));
  EXPECT_FALSE(Matches("^[[:digit:]]$", "x"));
  EXPECT_TRUE(Matches("^[\\d]+$", "\\d"));  // no escapes in brackets
  EXPECT_TRUE(Matches("[\x80-\xff]", "\xc3"));
}

TEST(RegularExpressionTest, HasEscapesAndAssertions) {
  EXPECT_TRUE(Matches("^\\d+\\.\\d+$", "3.14"));
  EXPECT_FALSE(Matches("^\\d+\\.\\d+$", "3x14"));
  EXPECT_TRUE(Matches("^\\w+\\s\\W$", "ab_1 -"));
  EXPECT_TRUE(Matches("\\bcat\\b", "a cat."));
  EXPECT_FALSE(Matches("\\bcat\\b", "concat"));
  EXPECT_TRUE(Matches("\\Bcat", "concat"));
  EXPECT_TRUE(Matches("\\<cat", "a cat"));
  EXPECT_FALSE(Matches("cat\\>", "cats"));
  EXPECT_TRUE(Matches("^\\x41\\x{42}\\t$", "AB\t"));
  EXPECT_TRUE(Matches("^\\Qa.b|(\\E+$", "a.b|("));
  EXPECT_FALSE(Matches("^\\Qa.b\\E$", "axb"));
  EXPECT_TRUE(Matches("\\$\\^\\|", "a$^|"));
}

TEST(RegularExpressionTest, IgnoresCase) {
  EXPECT_TRUE(Matches("^error [a-f]+$", "ERROR AbC", CaseMode::kIgnore));
  EXPECT_FALSE(Matches("^error$", "ERROR"));
  EXPECT_FALSE(Matches("[^a]", "A", CaseMode::kIgnore));
  EXPECT_TRUE(Matches("^(?i)error$", "Error"));
  EXPECT_TRUE(Matches("^(?i:e)rror$", "Error"));
  EXPECT_FALSE(Matches("^(?i:e)rror$", "ERROR"));
  EXPECT_FALSE(Matches("(?-i)e", "E", CaseMode::kIgnore));
}

TEST(RegularExpressionTest, RefusesMalformedExpressions) {
  EXPECT_EQ(ErrorOf("["), "Missing ']'");
  EXPECT_EQ(ErrorOf("[a"), "Missing ']'");
  EXPECT_EQ(ErrorOf("(a"), "Missing ')'");
  EXPECT_EQ(ErrorOf("a)"), "Missing ')'");
  EXPECT_EQ(ErrorOf("a{2"), "Missing '}'");
  EXPECT_EQ(ErrorOf("a{x}"), "Invalid contents of {}");
  EXPECT_EQ(ErrorOf("a{3,2}"), "Invalid contents of {}");
  EXPECT_EQ(ErrorOf("a{256}"), "Invalid contents of {}");
  EXPECT_EQ(ErrorOf("*a"), "Invalid use of repetition operators");
  EXPECT_EQ(ErrorOf("[b-a]"), "Invalid character range");
  EXPECT_EQ(ErrorOf("[[:nope:]]"), "Unknown character class name");
  EXPECT_EQ(ErrorOf("[[.a.]]"), "Unknown collating element");
  EXPECT_EQ(ErrorOf("a\\"), "Trailing backslash");
  EXPECT_EQ(ErrorOf("a\\1"), "Invalid back reference");
  EXPECT_EQ(ErrorOf("(a)\\1"), RegularExpression::kHasBackReference);
}

TEST(RegularExpressionTest, RefusesExpressionsThatAreTooLarge) {
  EXPECT_EQ(ErrorOf("((a{255}){255}){255}"), "Out of memory");
  EXPECT_EQ(ErrorOf("((((){255}){255}){255}){255}"), "Out of memory");
  EXPECT_EQ(ErrorOf(std::string(1000, '(') + std::string(1000, ')')), "Out of memory");
  EXPECT_EQ(ErrorOf("a********"), "Out of memory");
  EXPECT_TRUE(Matches("^(a?){100}a{100}$", std::string(100, 'a')));  // no exponential search
}

// Compares with the regular expressions of the C library on expressions that both understand.
TEST(RegularExpressionTest, AgreesWithTheCLibrary) {
  const uint64_t seed = SystemSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  constexpr Bytes kPieces[] = {"a",       "b",    "c",    ".",      "a*", "b+", "c?", "(a|b)",
                               "(ab|c)*", "[ab]", "[^a]", "a{1,2}", "^",  "$",  "|"};
  for (int round = 0; round < 5000; ++round) {
    std::string pattern = "a";
    for (uint64_t i = random.Below(6); i > 0; --i) {
      const Bytes piece = kPieces[random.Below(std::size(kPieces))];
      if (piece == "|" && (pattern.back() == '|' || i == 1)) continue;
      pattern += piece;
    }
    regex_t compiled;
    ASSERT_EQ(regcomp(&compiled, pattern.c_str(), REG_EXTENDED | REG_NOSUB), 0) << pattern;
    for (int text_round = 0; text_round < 10; ++text_round) {
      std::string text;
      for (uint64_t i = random.Below(7); i > 0; --i) text += static_cast<char>('a' + random.Below(4));
      EXPECT_EQ(Matches(pattern, text), regexec(&compiled, text.c_str(), 0, nullptr, 0) == 0) << pattern << " " << text;
    }
    regfree(&compiled);
  }
}

TEST(RegularExpressionTest, EndsWhenTheStepsAreUsedUp) {
  auto expression = RegularExpression::Compile("(a?){1,200}b").value();
  const std::string text(10'000, 'a');
  uint64_t steps_left = 100'000;
  EXPECT_FALSE(expression.Matches(text, steps_left));
  EXPECT_EQ(steps_left, 0u);
  steps_left = 100'000;
  EXPECT_TRUE(expression.Matches("aab", steps_left)) << "usable again";
  EXPECT_GT(steps_left, 98'000u);
}

}  // namespace
}  // namespace respite
