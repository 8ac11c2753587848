#include "server/catalogue/command_syntax.h"

#include <gtest/gtest.h>

#include "base/str_cat.h"

namespace respite {
namespace {

// Describes a tree: `name:type=TOKEN{children}` with ? for optional, * for multiple, ** for multiple_token.
std::string TreeText(std::span<const SyntaxArgument> nodes) {
  std::string text;
  ForEachArgument(nodes, [&](const SyntaxArgument& node, std::span<const SyntaxArgument> children) {
    if (!text.empty()) text += ' ';
    text += std::string(node.name) + ':' + std::string(ArgumentTypeName(node.type));
    if (node.HasToken()) text += '=' + std::string(node.token);
    if (node.key_spec >= 0) StrAppend(text, '#', node.key_spec);
    if (!node.since.IsEmpty()) text += '@' + node.since.Text();
    if (!node.deprecated_since.IsEmpty()) text += '-' + node.deprecated_since.Text();
    if (!node.display.empty()) text += '<' + std::string(node.display) + '>';
    if (node.optional) text += '?';
    if (node.multiple) text += node.multiple_token ? "**" : "*";
    if (!children.empty()) text += '{' + TreeText(children) + '}';
  });
  return text;
}

std::string Tree(std::string_view line) {
  const CommandSyntax syntax = ParseSyntax(line);
  return syntax.valid ? TreeText(syntax.Arguments()) : StrCat("malformed at ", syntax.error_offset);
}

TEST(CommandSyntax, ReadsTheName) {
  EXPECT_EQ(ParseSyntax("GET key").name, "GET");
  EXPECT_EQ(ParseSyntax("GET key").container, "");
  EXPECT_EQ(ParseSyntax("CLIENT|NO-EVICT enabled(ON|OFF)").name, "NO-EVICT");
  EXPECT_EQ(ParseSyntax("CLIENT|NO-EVICT enabled(ON|OFF)").container, "CLIENT");
}

TEST(CommandSyntax, GuessesTypes) {
  EXPECT_EQ(Tree("HSCAN key cursor:integer"), "key:key#0 cursor:integer");
  EXPECT_EQ(Tree("CLUSTER|KEYSLOT key:string"), "key:string");
  EXPECT_EQ(Tree("XDEL key ID:string..."), "key:key#0 ID:string*");
}

TEST(CommandSyntax, TellsTokensFromValues) {
  EXPECT_EQ(Tree("X [COUNT count:integer] [NX]"), "count:integer=COUNT? NX:pure-token=NX?");
  EXPECT_EQ(Tree("X change=CH any='*' empty=''"), "change:pure-token=CH any:pure-token=* empty:pure-token=");
  EXPECT_EQ(Tree("X no-one{NO ONE}"), "no-one:block{NO:pure-token=NO ONE:pure-token=ONE}");
}

TEST(CommandSyntax, NestsAlternativesAndBlocks) {
  EXPECT_EQ(Tree("X from(FROMMEMBER member|FROMLONLAT fromlonlat{longitude:double latitude:double})"),
            "from:oneof{member:string=FROMMEMBER fromlonlat:block=FROMLONLAT{longitude:double latitude:double}}");
}

TEST(CommandSyntax, ATildeHidesTheVersion) {
  const CommandSyntax syntax = ParseSyntax("X [NEW@~7.4.0,valkey:8.0.0] [OLD@7.0.0]");
  ASSERT_TRUE(syntax.valid);
  EXPECT_EQ(Tree("X [NEW@~7.4.0,valkey:8.0.0]"), "NEW:pure-token=NEW@7.4.0 and Valkey 8.0.0?");
  EXPECT_TRUE(syntax.Arguments()[0].hides_since);
  EXPECT_FALSE(syntax.Arguments()[1].hides_since);
}

TEST(CommandSyntax, ReadsSuffixes) {
  EXPECT_EQ(Tree("X [KEYS keys<key>:key@3.0.6...]"), "keys:key=KEYS#0@3.0.6<key>?*");
  EXPECT_EQ(Tree("X [NEW@valkey:8.1.0] [BOTH@8.0.0,valkey:9.0.0-valkey:9.1.0...]"),
            "NEW:pure-token=NEW@Valkey 8.1.0? BOTH:pure-token=BOTH@8.0.0 and Valkey 9.0.0-Valkey 9.1.0?*");
  EXPECT_EQ(Tree("X old<ip:port>@-2.8.12"), "old:string-2.8.12<ip:port>");
  EXPECT_EQ(Tree("X [GET... get-pattern<pattern>:pattern#1]"), "get-pattern:pattern=GET#1<pattern>?**");
}

TEST(CommandSyntax, CountsKeySpecsUp) {
  EXPECT_EQ(Tree("X key newkey:key"), "key:key#0 newkey:key#1");
  EXPECT_EQ(Tree("X key1:key key2:key#0 key3:key"), "key1:key#0 key2:key#0 key3:key#1");
}

TEST(CommandSyntax, DerivesArity) {
  EXPECT_EQ(ArityOf("GET key"), 2);
  EXPECT_EQ(ArityOf("MSET data{key value}..."), -3);
  EXPECT_EQ(ArityOf("CLIENT|NO-EVICT enabled(ON|OFF)"), 3);
  EXPECT_EQ(ArityOf("CLIENT|LIST [TYPE client-type(NORMAL|MASTER)]"), -2);
  EXPECT_EQ(ArityOf("SLAVEOF args(host-port{host port:integer}|no-one{NO ONE})"), 3);
  EXPECT_EQ(ArityOf("XADD key id-selector(auto-id='*'|id) data{field value}..."), -5);
  EXPECT_EQ(ArityOf("X choice(a{b c}|d)"), -2);
}

// Parsing works at compile time.
static_assert(ArityOf("SET key value [condition(NX|XX)@2.6.12]") == -3);

TEST(CommandSyntax, RefusesMalformedLines) {
  for (const char* line : {"", "get key", "GET  key", "GET key ", "GET [key", "GET key]", "GET a(b", "GET a{b|c}",
                           "GET key:colour", "GET key#x", "GET 'open", "GET key,other", "GET a<b", "GET |"}) {
    EXPECT_FALSE(ParseSyntax(line).valid) << line;
    EXPECT_EQ(ArityOf(line), 0) << line;
  }
}

TEST(CommandSyntax, RefusesMoreArgumentsThanItHolds) {
  std::string line = "X";
  for (size_t i = 0; i < CommandSyntax::kMaxArguments; ++i) line += " a";
  EXPECT_TRUE(ParseSyntax(line).valid);
  EXPECT_FALSE(ParseSyntax(line + " a").valid);
}

}  // namespace
}  // namespace respite
