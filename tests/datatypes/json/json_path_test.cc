#include "datatypes/json/json_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "datatypes/json/json_parser.h"
#include "datatypes/json/json_text.h"

namespace respite {
namespace {

constexpr char kStore[] = R"({"store":{"book":[{"category":"reference","title":"Sayings","price":8.95},)"
                          R"({"category":"fiction","title":"Sword","price":12.99},)"
                          R"({"category":"fiction","title":"Moby Dick","isbn":"0-553","price":8.99},)"
                          R"({"category":"fiction","title":"Rings","isbn":"0-395","price":22.99}],)"
                          R"("bicycle":{"color":"red","price":19.95}},"limit":10})";

// Returns what a path selects or computes, as a JSON array.
std::string Selected(Bytes path_text, Bytes document = kStore) {
  const auto path = JsonPath::Parse(path_text);
  if (!path.ok()) return path.error();
  const auto root = ParseJson(document);
  EXPECT_TRUE(root.ok()) << document;
  JsonBudget budget;
  std::string text = "[";
  const auto add = [&](const JsonValue& value) {
    if (text.size() > 1) text += ',';
    AppendJson(text, value);
  };
  if (path.value().IsExpression()) {
    for (const JsonValue& value : path.value().Compute(root.value(), budget)) add(value);
  } else {
    for (const JsonMatch& match : path.value().Select(root.value(), budget)) add(match.Value());
  }
  EXPECT_FALSE(budget.IsSpent());
  return text + "]";
}

TEST(JsonPathTest, NamesAndIndexes) {
  EXPECT_EQ(Selected("$.store.book[0].title"), R"(["Sayings"])");
  EXPECT_EQ(Selected("$['store']['book'][-1]['title']"), R"(["Rings"])");
  EXPECT_EQ(Selected(R"($["store"].book[0,2].price)"), "[8.95,8.99]");
  EXPECT_EQ(Selected("$.store.book[1:3].title"), R"(["Sword","Moby Dick"])");
  EXPECT_EQ(Selected("$.store.book[-2:].title"), R"(["Moby Dick","Rings"])");
  EXPECT_EQ(Selected("$.store.book[::2].title"), R"(["Sayings","Moby Dick"])");
  EXPECT_EQ(Selected("$.store.book[:-3].title"), R"(["Sayings"])");
  EXPECT_EQ(Selected("$.store.book[9]"), "[]");
  EXPECT_EQ(Selected("$.store.book[3:1]"), "[]");
  EXPECT_EQ(Selected("$.store.bicycle['color','price','none']"), R"(["red",19.95])");
  EXPECT_EQ(Selected("$.[1].a", R"([0,{"a":5}])"), "[5]");
  EXPECT_EQ(Selected("$.a-b.c_d.e:f", R"({"a-b":{"c_d":{"e:f":1}}})"), "[1]");
  EXPECT_EQ(Selected(R"($["a\"b"])", R"({"a\"b":1})"), "[1]");
  EXPECT_EQ(Selected(R"($["\u00e9"])", "{\"\xc3\xa9\":1}"), "[1]");
}

TEST(JsonPathTest, WildcardsAndDescent) {
  EXPECT_EQ(Selected("$.store.bicycle.*"), R"(["red",19.95])");
  EXPECT_EQ(Selected("$..price"), "[8.95,12.99,8.99,22.99,19.95]");
  EXPECT_EQ(Selected("$..book[0].price"), "[8.95]");
  EXPECT_EQ(Selected("$..*", R"({"a":[1,{"b":2}]})"), R"([[1,{"b":2}],1,{"b":2},2])");
  EXPECT_EQ(Selected("$..[0]", "[[1,[2]],3]"), "[[1,[2]],1,2]");
  EXPECT_EQ(Selected("$..a", R"({"n":{"a":2},"a":{"a":1}})"), R"([{"a":1},2,1])");
}

TEST(JsonPathTest, Filters) {
  EXPECT_EQ(Selected("$.store.book[?(@.price<10)].title"), R"(["Sayings","Moby Dick"])");
  EXPECT_EQ(Selected("$.store.book[?(@.price < $.limit && @.isbn)].title"), R"(["Moby Dick"])");
  EXPECT_EQ(Selected("$.store.book[?(@.isbn || @.price>=12.99)].title"), R"(["Sword","Moby Dick","Rings"])");
  EXPECT_EQ(Selected(R"($.store.book[?(@.title=="Sword" || (@.price>8.95 && @.price<=8.99))].price)"), "[12.99,8.99]");
  EXPECT_EQ(Selected("$.store.book[?(@.category!='fiction')].price"), "[8.95]");
  EXPECT_EQ(Selected(R"($..[?(@.title =~ "^(?i)s")].title)"), R"(["Sayings","Sword"])");
  EXPECT_EQ(Selected("$[?@.a==1 && !@.b]", R"([{"a":1,"b":1},{"a":1}])"), R"([{"a":1}])");
  EXPECT_EQ(Selected("$[?(@==null)]", R"([null,0,"null",false])"), "[null]");
  EXPECT_EQ(Selected("$[?(@>1)]", R"([1,2,"3",null,true,[4],2.5])"), "[2,2.5]");
  EXPECT_EQ(Selected("$[?(@==1)]", R"([1,1.0,"1",true])"), "[1,1.0]");
  EXPECT_EQ(Selected("$[?(@ == true)]", "[true,false,1]"), "[true]");
  EXPECT_EQ(Selected("$.*[?(@>3)]", R"({"a":[1,5],"b":{"x":4,"y":2}})"), "[5,4]");
}

// As in Redis 8.6.
TEST(JsonPathTest, IndexesBeforeTheBeginningMeanTheFirstElement) {
  EXPECT_EQ(Selected("$[-9]", "[1,2]"), "[1]");
  EXPECT_EQ(Selected("$[-9,-1,9]", "[1,2]"), "[1,2]");
  EXPECT_EQ(Selected("$[-0]", "[1,2]"), "[1]");
  EXPECT_EQ(Selected("$[-1]", "[]"), "[]");
}

TEST(JsonPathTest, UnequalIsTheContraryOfEqual) {
  EXPECT_EQ(Selected("$[?(@.a!=1)]", R"([{"a":1},{"a":2},{}])"), R"([{"a":2},{}])");
  EXPECT_EQ(Selected("$[?(@.a[*]!=1)]", R"([{"a":[1,2]},{"a":[2]},{}])"), R"([{"a":[2]},{}])");
  EXPECT_EQ(Selected("$[?(@.a!=@.b)]", R"([{"a":1,"b":1},{}])"), "[{}]");
}

TEST(JsonPathTest, BlanksAndNames) {
  EXPECT_EQ(Selected("$. a .. b [ 0 ] ", R"({"a":{"b":[5]}})"), "[5]");
  EXPECT_EQ(Selected(" a ", R"({"a":1})"), "[1]");
  EXPECT_EQ(Selected("$.a~b", R"({"a~b":1})"), "[1]");
  EXPECT_EQ(Selected("$.a#`b", R"({"a#`b":1})"), "[1]");
  EXPECT_EQ(Selected("$x", R"({"$x":1})"), "[1]");
  EXPECT_EQ(Selected("$[?(@a==1)]", R"([{"a":1},{"a":2}])"), R"([{"a":1}])");
}

// Returns what Redis 8.6 finds wrong with a path: the position and the expected parts.
std::string ErrorIn(Bytes path) {
  const auto parsed = JsonPath::Parse(path, JsonPathGrammar::kPlain);
  if (parsed.ok()) return "";
  const std::string& error = parsed.error();
  const std::string middle = ": expected one of the following: ";
  const size_t at = error.find(middle);
  EXPECT_TRUE(error.starts_with("Error occurred at position ") && at != std::string::npos) << error;
  return error.substr(27, error.find(',') - 27) + ": " + error.substr(at + middle.size());
}

TEST(JsonPathTest, ErrorsOfRedis86) {
  const std::string brackets = "'<string>[,<string>,...]', '<number>', ['start:end:steps'], '*'";
  const std::string operand = "decimal, from_current, from_root, boolean_true, boolean_false, null";
  EXPECT_EQ(ErrorIn("$."), "2: <string>, '*'");
  EXPECT_EQ(ErrorIn(".a..[b"), "6: " + brackets);
  EXPECT_EQ(ErrorIn("$..["), "4: " + brackets);
  EXPECT_EQ(ErrorIn("a b"), "4: EOI, '..'");
  EXPECT_EQ(ErrorIn("$[*"), "2: '<string>[,<string>,...]', '<number>', ['start:end:steps']");
  EXPECT_EQ(ErrorIn("$['a',1]"), "2: '<number>', ['start:end:steps']");
  EXPECT_EQ(ErrorIn("$[0"), "2: ['start:end:steps']");
  EXPECT_EQ(ErrorIn("$[0,x]"), "4: '<number>'");
  EXPECT_EQ(ErrorIn("$[0:x]"), "4: '<number>'");
  EXPECT_EQ(ErrorIn("$[0:1"), "1: EOI, '..'");
  EXPECT_EQ(ErrorIn("$.a.[0:1"), "4: <string>, '*'");
  EXPECT_EQ(ErrorIn("$[::-1]"), "4: pos_number");
  EXPECT_EQ(ErrorIn("$[?()]"), "4: single_filter");
  EXPECT_EQ(ErrorIn("$[?(!@.a)]"), "4: single_filter");
  EXPECT_EQ(ErrorIn("$[?(@.a in [1])]"), "8: ge, gt, le, lt, eq, ne, re, and, or, '..'");
  EXPECT_EQ(ErrorIn("$[?(@ = 1)]"), "6: ge, gt, le, lt, eq, ne, re, and, or, root");
  EXPECT_EQ(ErrorIn("$[?(1 x)]"), "6: ge, gt, le, lt, eq, ne, re, and, or");
  EXPECT_EQ(ErrorIn("$[?(@.a==x)]"), "9: " + operand);
  EXPECT_EQ(ErrorIn("$[?(@.a==1e3)]"), "10: and, or");
  EXPECT_EQ(ErrorIn("$[?(@.a==@;)]"), "10: and, or, root");
  EXPECT_EQ(ErrorIn("$[?(@==1))]"), "9: and, or");
  EXPECT_EQ(ErrorIn("$[?(@==1)"), "9: and, or");
  EXPECT_EQ(ErrorIn("$.a + 1"), "4: EOI, '..'");
  EXPECT_EQ(ErrorIn("$.a.length()"), "10: EOI, '..'");
  EXPECT_EQ(ErrorIn("$[\"\\u0061\"]"), "2: " + brackets);
  for (const char* path :
       {"$", ".", "$.a~", "$[?(@.a==1 && (@b>'x'||$.c))]", "$[-0, 1]", "$[::2]", "$[?@*==1]", "$ .a"}) {
    EXPECT_EQ(ErrorIn(path), "") << path;
  }
  EXPECT_FALSE(JsonPath::Parse("$[" + std::string(100'000, '('), JsonPathGrammar::kPlain).ok());
  EXPECT_FALSE(JsonPath::Parse("$[?" + std::string(50'000, '('), JsonPathGrammar::kPlain).ok());
}

TEST(JsonPathTest, LegacyPaths) {
  for (const char* root : {".", "$"}) EXPECT_EQ(Selected(root, "[1]"), "[[1]]");
  EXPECT_EQ(Selected(".store.bicycle.color"), R"(["red"])");
  EXPECT_EQ(Selected("store.bicycle.color"), R"(["red"])");
  EXPECT_EQ(Selected("['store'][\"bicycle\"].color"), R"(["red"])");
  EXPECT_EQ(Selected("[1]", "[1,2]"), "[2]");
  EXPECT_EQ(Selected("..color"), R"(["red"])");
  EXPECT_TRUE(JsonPath::Parse(".a").value().IsLegacy());
  EXPECT_FALSE(JsonPath::Parse("$.a").value().IsLegacy());
}

TEST(JsonPathTest, KnowsWhichPathsSelectOneValue) {
  for (const char* path : {"$", "$.a", "$.a[0]['b']", ".a.b", "[0]"}) {
    EXPECT_TRUE(JsonPath::Parse(path).value().IsStatic()) << path;
  }
  for (const char* path : {"$..a", "$.*", "$[0,1]", "$['a','b']", "$[0:1]", "$[?(@)]", "$.a + 1"}) {
    EXPECT_FALSE(JsonPath::Parse(path).value().IsStatic()) << path;
  }
}

// The examples of the documentation of Redis 8.10.
TEST(JsonPathTest, OperatorsOf810) {
  EXPECT_EQ(Selected("$[?!(@.a==1)]", R"([{"a":1},{"b":2},{"c":3}])"), R"([{"b":2},{"c":3}])");
  EXPECT_EQ(Selected("$.arrs[?(@ == [1,[2]])]", R"({"arrs":[[1],[2],[1,2],[1,[2]]]})"), "[[1,[2]]]");
  EXPECT_EQ(Selected(R"($.objs[?(@ == {"x":1})])", R"({"objs":[{"x":1},{"x":2},{"y":1}]})"), R"([{"x":1}])");
  constexpr char kNumbers[] = R"([{"a":2,"b":3},{"a":5,"b":2}])";
  EXPECT_EQ(Selected("$[?@.a + 1 == 3].a", kNumbers), "[2]");
  EXPECT_EQ(Selected("$[?@.a + @.b * 2 == 8].a", kNumbers), "[2]");
  EXPECT_EQ(Selected("$[?(@.a + @.b) * 2 == 10].a", kNumbers), "[2]");
  EXPECT_EQ(Selected("$.a[?@ in [2,4]]", R"({"a":[1,2,3,4]})"), "[2,4]");
  EXPECT_EQ(Selected("$.a[?@ nin [2,4]]", R"({"a":[1,2,3,4]})"), "[1,3]");
  EXPECT_EQ(Selected("$.a[?@ in $.allow]", R"({"a":[1,2,3,4],"allow":[2,3]})"), "[2,3]");
  EXPECT_EQ(Selected("$.a[?@ subsetof [1,2,3]]", R"({"a":[[1,2],[1,5],[]]})"), "[[1,2],[]]");
  EXPECT_EQ(Selected("$.a[?@ anyof [1,2,3]]", R"({"a":[[1,9],[8,9],[]]})"), "[[1,9]]");
  EXPECT_EQ(Selected("$.a[?@ noneof [1,2,3]]", R"({"a":[[4,5],[1,9],[]]})"), "[[4,5],[]]");
  EXPECT_EQ(Selected("$.a[?@ sizeof 2]", R"({"a":[[4,5],[1],[7,8,9]]})"), "[[4,5]]");
  constexpr char kEmpties[] = R"({"a":[[],[1],"",[2,3],{},{"k":1}]})";
  EXPECT_EQ(Selected("$.a[?@ empty true]", kEmpties), R"([[],"",{}])");
  EXPECT_EQ(Selected("$.a[?@ empty false]", kEmpties), R"([[1],[2,3],{"k":1}])");
}

TEST(JsonPathTest, FunctionsOf810) {
  EXPECT_EQ(Selected("$.a[?length(@) > 2]", R"({"a":[[1,2,3],[1],"abcd","x"]})"), R"([[1,2,3],"abcd"])");
  EXPECT_EQ(Selected("$[?count(@.*) == 3]", R"([{"a":1,"b":2,"c":3},{"a":1}])"), R"([{"a":1,"b":2,"c":3}])");
  EXPECT_EQ(Selected("$[?value(@.a) == 1]", R"([{"a":1},{"a":2}])"), R"([{"a":1}])");
  EXPECT_EQ(Selected(R"($.a[?match(@, "a.*")])", R"({"a":["abc","xabc","a","b"]})"), R"(["abc","a"])");
  EXPECT_EQ(Selected(R"($.a[?search(@, "b")])", R"({"a":["abc","xyz","b"]})"), R"(["abc","b"])");
  EXPECT_EQ(Selected(R"($.a[?concat(@.x, @.y) == "ab"].y)", R"({"a":[{"x":"a","y":"b"},{"x":"a","y":"c"}]})"),
            R"(["b"])");
  EXPECT_EQ(Selected("$.a[?ceiling(@) == 3]", R"({"a":[2.1,3.9,1.0]})"), "[2.1]");
  EXPECT_EQ(Selected("$.a[?floor(@) == 2]", R"({"a":[2.1,2.9,3.5]})"), "[2.1,2.9]");
  EXPECT_EQ(Selected("$.a[?abs(@.n) == 5].n", R"({"a":[{"n":-5},{"n":5},{"n":-3}]})"), "[-5,5]");
  constexpr char kLists[] = R"({"a":[{"n":[3,1,2]},{"n":[5,6]}]})";
  EXPECT_EQ(Selected("$.a[?first(@.n) == 3].n", kLists), "[[3,1,2]]");
  EXPECT_EQ(Selected("$.a[?last(@.n) == 6].n", kLists), "[[5,6]]");
  EXPECT_EQ(Selected("$.a[?index(@.n, -1) == 2].n", kLists), "[[3,1,2]]");
  EXPECT_EQ(Selected("$.a[?sum(@.n) == 6].n", kLists), "[[3,1,2]]");
  EXPECT_EQ(Selected("$.a[?avg(@.n) == 2].n", kLists), "[[3,1,2]]");
  EXPECT_EQ(Selected("$.a[?max(@.n) - min(@.n) == 2].n", kLists), "[[3,1,2]]");
}

TEST(JsonPathTest, ComputedPathsOf810) {
  constexpr char kDocument[] = R"({"a":2,"b":4,"arr":[1,2,3],"obj":{"x":1,"y":2}})";
  EXPECT_EQ(Selected("$.a + 1", kDocument), "[3]");
  EXPECT_EQ(Selected("$.a * $.b", kDocument), "[8]");
  EXPECT_EQ(Selected("($.a + $.b) / 2", kDocument), "[3.0]");
  EXPECT_EQ(Selected("$.arr.length()", kDocument), "[3]");
  EXPECT_EQ(Selected("length($.arr)", kDocument), "[3]");
  EXPECT_EQ(Selected("-$.a", kDocument), "[-2]");
  EXPECT_EQ(Selected("$.a / 0", kDocument), "[]");
  EXPECT_EQ(Selected("$.a % 0", kDocument), "[]");
  EXPECT_EQ(Selected("$.arr + 1", kDocument), "[]");
  EXPECT_EQ(Selected("$.arr.append(9)", kDocument), "[[1,2,3,9]]");
  EXPECT_EQ(Selected("$.obj~", kDocument), R"([["x","y"]])");
  EXPECT_EQ(Selected("$.obj.keys().count()", kDocument), "[2]");
  EXPECT_EQ(Selected("$.a+1", kDocument), "[]");  // a name
}

TEST(JsonPathTest, RefusesMalformedPaths) {
  for (const char* path : {"",
                           "$.",
                           "$[",
                           "$[]",
                           "$[1",
                           "$['a",
                           "$.a]",
                           "$[?]",
                           "$[?(]",
                           "$[?(@.a==)]",
                           "$[a]",
                           "$...a",
                           "$..",
                           "$[::0]",
                           "$[::-1]",
                           "$[1,]",
                           "$['a',1]",
                           "$[99999999999999999999]",
                           "$.a b",
                           "$.obj~~",
                           "$[?(@.a==1e999)]",
                           "$['\\ud800']",
                           "$[?(@ == [1)]",
                           "$.length(1"}) {
    EXPECT_THAT(Selected(path), testing::MatchesRegex("(Error occurred|ERR the path is too complex) at position .*"))
        << path;
  }
  std::string deep = "$[?" + std::string(10'000, '(') + "@" + std::string(10'000, ')') + "]";
  EXPECT_FALSE(JsonPath::Parse(deep).ok());
  deep = "$";
  for (int i = 0; i < 5'000; ++i) deep += "[?@";
  EXPECT_FALSE(JsonPath::Parse(deep).ok());
  deep = "$[?@";
  for (int i = 0; i < 10'000; ++i) deep += "+1";
  EXPECT_FALSE(JsonPath::Parse(deep + "==1]").ok());
  EXPECT_FALSE(JsonPath::Parse("$" + std::string(100'000, '-')).ok());
}

// A name that is not UTF-8 would make a document whose text no parser accepts.
TEST(JsonPathTest, RefusesWhatIsNotUtf8) {
  EXPECT_EQ(Selected("$[\"\xff\"]"), "Couldn't parse as UTF-8 string");
  for (const char* bytes :
       {"\x80", "\xc3", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf", "\xe2\x82",
        "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf0\x9f\x98", "\xe2\x28\xa1"}) {
    for (const auto& [before, after] : {std::pair("$.a", ""), std::pair("", ""), std::pair("$['", "']"),
                                        std::pair("$['\\", "']"), std::pair("$[?(@ == \"", "\")]")}) {
      const std::string path = std::string(before) + bytes + after;
      EXPECT_EQ(Selected(path), "Couldn't parse as UTF-8 string") << testing::PrintToString(path);
    }
  }
  for (const char* name : {"\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf",
                           "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(Selected(std::string("$.") + name, std::string("{\"") + name + "\":1}"), "[1]");
  }
}

TEST(JsonPathTest, LimitsTheWork) {
  std::string text = "1";
  for (int level = 0; level < 5; ++level) text = "[" + text + "," + text + "," + text + "," + text + "]";
  const auto root = ParseJson(text);
  JsonBudget budget(10'000);
  const JsonMatches matches = JsonPath::Parse("$..*..*..*..*..*").value().Select(root.value(), budget);
  EXPECT_TRUE(budget.IsSpent());
  EXPECT_LE(matches.size(), 10'000u);
}

// Returns how many steps a path takes.
uint64_t StepsOf(Bytes path_text, const JsonValue& root) {
  const auto path = JsonPath::Parse(path_text);
  EXPECT_TRUE(path.ok()) << path_text;
  JsonBudget budget;
  if (path.value().IsExpression()) {
    path.value().Compute(root, budget);
  } else {
    path.value().Select(root, budget);
  }
  return JsonBudget::kMaxSteps - budget.left();
}

TEST(JsonPathTest, CountsTheWorkInsideTexts) {
  const std::string text(160'000, 'x');
  const std::string name(1600, 'n');
  const auto root =
      ParseJson("{\"a\":\"" + text + "\",\"b\":\"" + text + "\",\"l\":[\"" + text + "\"],\"" + name + "\":1}");
  for (const char* path :
       {"$[?(@ == $.b)]", "$[?(@ < $.b)]", "$[?(@ =~ \"y\")]", "$[?(@ sizeof 3)]", "$.a.length()", "$.a.value()",
        "$.l.first()", "$.l.last()", "$.l.index(0)", "$.l.append(1)", "$.l.append($.a)", "append($.*, 1)",
        "concat($.a, $.b)", "$.a in $.l", "search($.a, \"y\")", "$.l == $.l"}) {
    EXPECT_GE(StepsOf(path, root.value()), 10'000u) << path;
  }
  EXPECT_LE(StepsOf("$[?(@ empty true)]", root.value()), 100u);
  EXPECT_GE(StepsOf("$." + name, root.value()), 100u);
  EXPECT_GE(StepsOf("$~", root.value()), 100u);
  EXPECT_GE(StepsOf("$.keys()", root.value()), 100u);
}

TEST(JsonPathTest, CountsThePartsOfUnionsThatSelectNothing) {
  const auto root = ParseJson("[{},{},{},[],[],[]]");
  std::string names = "$..['a'", indexes = "$..[9";
  for (int i = 0; i < 999; ++i) {
    names += ",'a'";
    indexes += ",9";
  }
  EXPECT_GE(StepsOf(names + "]", root.value()), 3'000u);
  EXPECT_GE(StepsOf(indexes + "]", root.value()), 3'000u);
  EXPECT_LE(StepsOf("$..['a']", root.value()), 20u);
  EXPECT_LE(StepsOf("$..[9]", root.value()), 20u);
}

TEST(JsonPathTest, LimitsRegularExpressions) {
  const auto root = ParseJson(R"({"t":")" + std::string(100'000, 'a') + R"(","l":["aab"]})");
  const auto is_spent = [&](Bytes path, uint64_t steps) {
    JsonBudget budget(steps);
    JsonPath::Parse(path).value().Select(root.value(), budget);
    return budget.IsSpent();
  };
  EXPECT_TRUE(is_spent("$[?(@ =~ \"(a|aa|aaa)*b\")]", 100'000));
  EXPECT_TRUE(is_spent("$.l[?(@ =~ \"a{255}{255}\")]", 8'000)) << "too large to be compiled";
  EXPECT_FALSE(is_spent("$.l[?(@ =~ \"a{255}{255}\")]", 10'000));
  const std::string longest = "a|" + std::string(8'190, 'b');
  EXPECT_EQ(Selected("$[?(@ =~ \"a|bb\")]", R"(["a"])"), R"(["a"])");
  EXPECT_EQ(Selected("$[?(@ =~ \"" + longest + "b\")]", R"(["a"])"), "[]");
  EXPECT_EQ(Selected("$[?match(@, \"" + longest + "b\")]", R"(["a"])"), "[]");
}

TEST(JsonPathTest, CopiesNothingThatTheBudgetDoesNotAllow) {
  const auto root = ParseJson(R"({"a":")" + std::string(16'000, 'x') + R"(","l":[[1,2,3,4,5,6,7,8,9]]})");
  for (const char* path : {"$.a.value()", "concat($.a, $.a)", "$.l.append($.a)", "append($.*, 1)"}) {
    JsonBudget budget(500);
    EXPECT_THAT(JsonPath::Parse(path).value().Compute(root.value(), budget), testing::IsEmpty()) << path;
    EXPECT_TRUE(budget.IsSpent()) << path;
  }
  JsonBudget budget(20);
  EXPECT_THAT(JsonPath::Parse("$.l.first()").value().Compute(root.value(), budget), testing::IsEmpty());
  EXPECT_TRUE(budget.IsSpent());
}

}  // namespace
}  // namespace respite
