#include "base/bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace respite {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

std::string EveryByte() {
  std::string all;
  for (int byte = 0; byte < 256; byte++) all.push_back(static_cast<char>(byte));
  return all;
}

TEST(Bytes, IgnoresCaseOfAsciiLettersOnly) {
  EXPECT_TRUE(EqualsIgnoreCase("", ""));
  EXPECT_TRUE(EqualsIgnoreCase("GeT", "gEt"));
  EXPECT_FALSE(EqualsIgnoreCase("get", "gets"));
  EXPECT_FALSE(EqualsIgnoreCase("@", "`"));
  EXPECT_FALSE(EqualsIgnoreCase("[", "{"));
  EXPECT_FALSE(EqualsIgnoreCase("\xc4", "\xe4"));
}

TEST(Bytes, ChangesCaseOfAsciiLettersOnly) {
  EXPECT_EQ(ToLower("AZ@[az\xc4"), "az@[az\xc4");
  EXPECT_EQ(ToUpper("AZ`{az\xe4"), "AZ`{AZ\xe4");
  EXPECT_EQ(ToUpper(Bytes("a\0b", 3)), std::string("A\0B", 3));
}

TEST(Quoted, NamesSomeBytesAndWritesOthersInHexadecimal) {
  EXPECT_EQ(Quoted(""), R"("")");
  EXPECT_EQ(Quoted("plain text ~"), R"("plain text ~")");
  EXPECT_EQ(Quoted("\\\"\n\r\t\a\b"), R"("\\\"\n\r\t\a\b")");
  EXPECT_EQ(Quoted(Bytes("\0\x1f\x7f\x80\xff\v\f'", 8)), R"("\x00\x1f\x7f\x80\xff\x0b\x0c'")");
}

TEST(Quoted, AppendsToWhatIsThere) {
  std::string line = "a ";
  AppendQuoted(line, "b");
  EXPECT_EQ(line, R"(a "b")");
}

TEST(Quoted, IsReadBackBySplitQuoted) {
  const std::string all = EveryByte();
  EXPECT_THAT(SplitQuoted(Quoted(all) + " " + Quoted("x")), Optional(ElementsAre(all, "x")));
}

TEST(SplitQuoted, SplitsAtWhiteSpace) {
  EXPECT_THAT(SplitQuoted(""), Optional(IsEmpty()));
  EXPECT_THAT(SplitQuoted(" \t\r\n\v\f"), Optional(IsEmpty()));
  EXPECT_THAT(SplitQuoted("  set  key\tvalue\r\n"), Optional(ElementsAre("set", "key", "value")));
  EXPECT_THAT(SplitQuoted("\\n \\"), Optional(ElementsAre("\\n", "\\")));
}

TEST(SplitQuoted, MayJoinQuotedParts) {
  EXPECT_EQ(SplitQuoted("\"a\"b"), std::nullopt);
  EXPECT_THAT(SplitQuoted("\"a\"b'c d' e", AfterQuote::kAnything), Optional(ElementsAre("abc d", "e")));
  EXPECT_EQ(SplitQuoted("'a'\"b", AfterQuote::kAnything), std::nullopt);
  std::string many;
  for (int i = 0; i < 1'000'000; ++i) many += "''";
  EXPECT_THAT(SplitQuoted(many, AfterQuote::kAnything), Optional(ElementsAre(""))) << "no recursion for each part";
}

TEST(SplitQuoted, VerticalTabSeparatesButDoesNotEndAPlainWord) {
  EXPECT_THAT(SplitQuoted("\va\vb \fc"), Optional(ElementsAre("a\vb", "c")));
  EXPECT_THAT(SplitQuoted("\"a\"\vb"), Optional(ElementsAre("a", "b")));
}

TEST(SplitQuoted, UnderstandsDoubleQuotes) {
  EXPECT_THAT(SplitQuoted(R"("" "a b" "\x41\xfF\n\r\t\b\a\\\"\q")"),
              Optional(ElementsAre("", "a b", "A\xff\n\r\t\b\a\\\"q")));
  EXPECT_THAT(SplitQuoted(R"("\xg1" "\x4" "\x" "it's")"), Optional(ElementsAre("xg1", "x4", "x", "it's")));
  EXPECT_THAT(SplitQuoted(R"(pre"fix")"), Optional(ElementsAre("prefix")));
}

TEST(SplitQuoted, UnderstandsSingleQuotes) {
  EXPECT_THAT(SplitQuoted(R"('' 'a "b"' 'it\'s' '\n\x41')"), Optional(ElementsAre("", "a \"b\"", "it's", "\\n\\x41")));
}

TEST(SplitQuoted, RefusesUnbalancedQuotes) {
  for (const Bytes line : {R"(")", R"("a)", R"(')", R"('a)", R"("a\")", R"('a\')", R"(a "b)", R"("\)"}) {
    EXPECT_EQ(SplitQuoted(line), std::nullopt) << line;
  }
}

TEST(SplitQuoted, RefusesTextRightBehindAClosingQuote) {
  EXPECT_EQ(SplitQuoted(R"("a"b)"), std::nullopt);
  EXPECT_EQ(SplitQuoted(R"('a''b')"), std::nullopt);
  EXPECT_EQ(SplitQuoted(R"(""a)"), std::nullopt);
}

TEST(SplitQuoted, EndsAtANul) {
  EXPECT_THAT(SplitQuoted(Bytes("a b\0\"", 5)), Optional(ElementsAre("a", "b")));
  EXPECT_EQ(SplitQuoted(Bytes("\"a\0\"", 4)), std::nullopt);
}

TEST(SplitOn, KeepsEmptyFields) {
  EXPECT_THAT(SplitOn("", ','), ElementsAre(""));
  EXPECT_THAT(SplitOn("a", ','), ElementsAre("a"));
  EXPECT_THAT(SplitOn(",a,,b,", ','), ElementsAre("", "a", "", "b", ""));
}

TEST(TrimSpaces, TrimsBothEnds) {
  EXPECT_EQ(TrimSpaces(""), "");
  EXPECT_EQ(TrimSpaces(" \t\r\n\v\f"), "");
  EXPECT_EQ(TrimSpaces("\t a b \n"), "a b");
}

}  // namespace
}  // namespace respite
