// The JSON commands in cases that the documents of Redis 8.6 do not describe. system/json_test.py compares
// random commands with Redis.
#include <sstream>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {
namespace {

class JsonOddities : public CommandTest {
 protected:
  // Stores a document. Its text must not need quotes of the command line.
  void Put(Bytes key, Bytes text) { EXPECT_THAT(Run({"JSON.SET", key, "$", text}), Ok()); }
  std::string Get(Bytes key, Bytes path = ".") { return Run({"JSON.GET", key, path}).Text(); }
  std::string Shown(const std::vector<std::string>& words) {  // a reply as text
    std::ostringstream text;
    text << Run(words);
    return text.str();
  }
  // The reply to JSON.TYPE is in one more array under RESP3.
  ReplyMatcher Wrapped(const ReplyMatcher& matcher) const { return IsResp3() ? ArrayOf({matcher}) : matcher; }
};
INSTANTIATE_TEST_SUITE_P(Resp, JsonOddities, BothVersions(), VersionName);

TEST_P(JsonOddities, GetShowsAPathOnce) {
  Put("doc", R"({"a":2})");
  EXPECT_EQ(Run("JSON.GET doc $.a $.a").Text(), R"({"$.a":[2]})");
  EXPECT_EQ(Run("JSON.GET doc $.a $.[ .a").Text(), R"({"$.a":[2],".a":[2]})");
  EXPECT_EQ(Run("JSON.GET doc .[ .[").Text(), "{}");
  EXPECT_THAT(Run("JSON.GET doc $ INDENT"), Error("ERR wrong number of arguments for 'json.get' command"));
}

// As in Redis, an absent key or another type of key hides a malformed path, and an error in the value hides both.
TEST_P(JsonOddities, OrderOfErrors) {
  Put("doc", "{}");
  Run("SET text x");
  EXPECT_THAT(Run("JSON.GET none $.["), Nil());
  EXPECT_THAT(Run("JSON.DEL none $.["), Int(0));
  EXPECT_THAT(Run("JSON.SET none $.[ 1"), Error("ERR new objects must be created at the root"));
  EXPECT_THAT(Run("JSON.SET none $.[ x"), Error("expected value at line 1 column 1"));
  EXPECT_THAT(Run("JSON.SET text $ x"), Error("Existing key has wrong Redis type"));
  EXPECT_THAT(Run("JSON.SET text $ x MAYBE"), Error("ERR syntax error"));
  EXPECT_THAT(Run("JSON.MERGE text $ x MAYBE"), Error("ERR syntax error"));
  EXPECT_THAT(Run("JSON.ARRAPPEND text $ x"), Error("expected value at line 1 column 1"));
  EXPECT_THAT(Run("JSON.ARRINDEX text $ x"), Error("ERR expected value at line 1 column 1"));
  EXPECT_THAT(Run("JSON.ARRINSERT text $ x y"), Error("Couldn't parse as integer"));
  EXPECT_THAT(Run("JSON.MGET doc text $.["), ArrayOf({Nil(), Nil()}));
  EXPECT_THAT(Run("JSON.TYPE doc .["), Wrapped(Nil()));
  EXPECT_THAT(Run("JSON.OBJLEN doc .["), Nil());
  EXPECT_THAT(Run("JSON.OBJKEYS doc .["), Nil());
  EXPECT_THAT(Run("JSON.OBJLEN none $"), Error("ERR Path does not exist or not an object"));
  EXPECT_THAT(Run("JSON.STRAPPEND doc $.none x"), EmptyArray());
  EXPECT_THAT(Run("JSON.STRLEN doc $.none ignored"), EmptyArray());
  EXPECT_THAT(Run("JSON.CLEAR doc $ extra"), Error("ERR wrong number of arguments for 'json.clear' command"));
  EXPECT_THAT(Run("JSON.MSET doc $.[ 1 none"), ErrorStartsWith("Error occurred at position 3, "));
  EXPECT_THAT(Run("JSON.MSET doc $ 1 none"), Error("ERR wrong number of arguments for 'json.mset' command"));
  EXPECT_EQ(Get("doc"), "{}");
}

TEST_P(JsonOddities, MergeOfNull) {
  Put("doc", R"({"a":1,"l":["x",2]})");
  EXPECT_THAT(Run("JSON.MERGE doc $.l[0] null"), Ok());
  EXPECT_THAT(Run("JSON.MERGE doc $.a null"), Ok());
  EXPECT_EQ(Get("doc"), R"({"a":null,"l":[null,2]})");
  EXPECT_THAT(Run("JSON.MERGE doc $ null"), Ok());
  EXPECT_EQ(Get("doc"), "null");
  EXPECT_THAT(Run({"JSON.MERGE", "doc", "$", R"({"a":null})"}), Ok());
  EXPECT_EQ(Get("doc"), "{}");
}

constexpr char kEight[] = R"({"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8})";

// The last member takes the place of a removed one.
TEST_P(JsonOddities, RemovedMembersAreReplacedByTheLastOne) {
  const auto merged = [&](const char* patch) {
    Put("doc", kEight);
    EXPECT_THAT(Run({"JSON.MERGE", "doc", "$", patch}), Ok());
    return Get("doc");
  };
  EXPECT_EQ(merged(R"({"b":null,"e":null,"c":null,"z":1})"), R"({"a":1,"h":8,"f":6,"d":4,"g":7,"z":1})");
  EXPECT_EQ(merged(R"({"y":1,"e":null,"x":2,"c":null,"b":null,"z":1})"),
            R"({"a":1,"h":8,"x":2,"d":4,"y":1,"f":6,"g":7,"z":1})");
  const auto deleted = [&](const char* path) {
    Put("doc", kEight);
    EXPECT_THAT(Run({"JSON.DEL", "doc", path}), Int(path[3] == 'b' || path[3] == 'e' ? 3 : 1));
    return Get("doc");
  };
  EXPECT_EQ(deleted("$.c"), R"({"a":1,"b":2,"h":8,"d":4,"e":5,"f":6,"g":7})");
  EXPECT_EQ(deleted("$.h"), R"({"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7})");
  EXPECT_EQ(deleted("$['b','e','c']"), R"({"a":1,"h":8,"g":7,"d":4,"f":6})");
  EXPECT_EQ(deleted("$['e','c','b']"), R"({"a":1,"h":8,"g":7,"d":4,"f":6})");
  std::string text = "{";
  for (int i = 0; i < 100; ++i) text += (i == 0 ? "\"n" : ",\"n") + std::to_string(i) + "\":" + std::to_string(i);
  Put("large", text + "}");
  for (int i = 0; i < 90; i += 2) {
    EXPECT_THAT(Run({"JSON.DEL", "large", "$.n" + std::to_string(i)}), Int(1));
    EXPECT_EQ(Get("large", "$['n0','n1','n99','n88']"), i < 88 ? "[1,99,88]" : "[1,99]");
  }
  EXPECT_THAT(Run("JSON.OBJLEN large"), Int(55));
}

TEST_P(JsonOddities, AValueThatIsSelectedTwiceChangesTwice) {
  Put("doc", R"([1,"a",true,["x"],{"q":["y",1]}])");
  const auto numbers = [&](const char* json, std::vector<ReplyMatcher> values) {
    return IsResp3() ? ArrayOf(std::move(values)) : Bulk(json);
  };
  EXPECT_THAT(Run("JSON.NUMINCRBY doc $[0,0] 1"), numbers("[2,3]", {Int(2), Int(3)}));
  EXPECT_THAT(Run({"JSON.STRAPPEND", "doc", "$[1,0,1]", "\"b\""}), ArrayOf({Int(2), Nil(), Int(3)}));
  EXPECT_THAT(Run("JSON.TOGGLE doc $[2,2]"), ArrayOf({Int(0), Int(1)}));
  EXPECT_THAT(Run({"JSON.ARRAPPEND", "doc", "$[3,3]", "\"z\""}), ArrayOf({Int(2), Int(3)}));
  EXPECT_THAT(Run({"JSON.ARRINSERT", "doc", "$[3,3]", "0", "\"i\""}), ArrayOf({Int(4), Int(5)}));
  EXPECT_THAT(Run("JSON.ARRTRIM doc $[3,3] 1 3"), ArrayOf({Int(3), Int(2)}));
  EXPECT_EQ(Get("doc"), R"([3,"abb",true,["x","z"],{"q":["y",1]}])");
  EXPECT_THAT(Run("JSON.ARRPOP doc $[3,3]"), ArrayOf({Bulk("\"z\""), Bulk("\"x\"")}));
  EXPECT_THAT(Run("JSON.CLEAR doc $[0,0]"), Int(2));
  EXPECT_EQ(Get("doc"), R"([0,"abb",true,[],{"q":["y",1]}])");
}

TEST_P(JsonOddities, LegacyPathsOfSeveralArrays) {
  Put("doc", "[[1,2,3],[1,2],\"x\"]");
  EXPECT_THAT(Run("JSON.ARRPOP doc .*"), Bulk("3"));
  EXPECT_THAT(Run("JSON.ARRAPPEND doc .* 1"), Int(2));
  EXPECT_THAT(Run("JSON.ARRINSERT doc .* 0 1"), Int(4));
  EXPECT_THAT(Run("JSON.ARRTRIM doc .* 1 9"), Int(3));
  Put("doc", "[{},[[[4,true],5],null]]");
  EXPECT_THAT(Run("JSON.ARRPOP doc ..[0]"), Bulk("5"));
  Put("doc", R"({"b":[1,2,3],"c":[1],"a":[1,2]})");
  EXPECT_THAT(Run("JSON.ARRINSERT doc .* 0 1"), Int(2));
}

// Arrays of numbers take fewer bytes per number. No reply depends on how an array is stored.
TEST_P(JsonOddities, RepliesDoNotDependOnTheStorage) {
  const std::vector<std::string> documents = {"[1,2,3]",
                                              "[0.5,-0.0,2.25]",
                                              "[0.1,0.7,19.9]",
                                              "[70000,-5,0]",
                                              "[[1,2],[300,4],[0.5,0.25]]",
                                              R"({"a":[1,2,3],"b":{"a":[0.1,0.2]}})",
                                              R"([[1,2,3],"x",{"a":[1.5,2.5]}])"};
  const std::vector<std::string> paths = {
      "$",           "$[0]", "$[-1]", "$[*]",  "$..[0]",  "$..*",     "$..a", "$[0,0,1]", "$..[1:]",     "$.a",
      "$..[?(@>1)]", ".a",   ".[1]",  "..[0]", "$[1][0]", "$..a[-1]", "..a",  "$.a.*",    "$[?(@==0.7)]"};
  const std::vector<std::vector<std::string>> commands = {{"JSON.GET"},
                                                          {"JSON.TYPE"},
                                                          {"JSON.RESP"},
                                                          {"JSON.ARRLEN"},
                                                          {"JSON.OBJLEN"},
                                                          {"JSON.STRLEN"},
                                                          {"JSON.ARRPOP"},
                                                          {"JSON.DEL"},
                                                          {"JSON.CLEAR"},
                                                          {"JSON.TOGGLE"},
                                                          {"JSON.ARRINDEX", "2"},
                                                          {"JSON.ARRINDEX", "0.7"},
                                                          {"JSON.ARRINDEX", "2", "-1", "9"},
                                                          {"JSON.ARRAPPEND", "7"},
                                                          {"JSON.ARRAPPEND", "0.25", "1000"},
                                                          {"JSON.ARRAPPEND", "\"x\"", "[1,2]"},
                                                          {"JSON.ARRINSERT", "1", "4", "5"},
                                                          {"JSON.ARRINSERT", "-1", "0.5"},
                                                          {"JSON.ARRPOP", "0"},
                                                          {"JSON.ARRPOP", "1"},
                                                          {"JSON.ARRTRIM", "1", "1"},
                                                          {"JSON.ARRTRIM", "0", "-2"},
                                                          {"JSON.NUMINCRBY", "1"},
                                                          {"JSON.NUMINCRBY", "0.1"},
                                                          {"JSON.NUMMULTBY", "1000"},
                                                          {"JSON.SET", "[4,5]"},
                                                          {"JSON.SET", "6"},
                                                          {"JSON.SET", "null"},
                                                          {"JSON.MERGE", "[1,2,3,4]"},
                                                          {"JSON.MERGE", R"({"a":[1,2]})"}};
  Random random(44);
  for (int round = 0; round < 1500; ++round) {
    const std::string& document = documents[random.Below(documents.size())];
    for (const char* key : {"packed", "plain"}) Run({"JSON.SET", key, "$", document});
    Run("JSON.NUMMULTBY plain $..* 1");  // changes nothing, but unpacks the arrays
    for (int step = 0; step < 3; ++step) {
      const std::vector<std::string>& command = commands[random.Below(commands.size())];
      const std::string& path = paths[random.Below(paths.size())];
      std::vector<std::string> words = {command[0], "packed", path};
      words.insert(words.end(), command.begin() + 1, command.end());
      const std::string reply = Shown(words);
      words[1] = "plain";
      ASSERT_EQ(reply, Shown(words)) << document << ": " << testing::PrintToString(words);
      ASSERT_EQ(Shown({"JSON.GET", "packed"}), Shown({"JSON.GET", "plain"})) << testing::PrintToString(words);
    }
  }
}

TEST_P(JsonOddities, TakeFewBytesPerNumber) {
  const auto bytes_of = [&](Bytes number, Bytes type) {
    std::string text = "[1";
    for (int i = 1; i < 1000; ++i) text += StrCat(",", number);
    EXPECT_THAT(
        type.empty() ? Run({"JSON.SET", "k", "$", text + "]"}) : Run({"JSON.SET", "k", "$", text + "]", "FPHA", type}),
        Ok());
    EXPECT_GT(Run("MEMORY USAGE k SAMPLES 0").Integer(), Run("JSON.DEBUG MEMORY k").Integer());
    return Run("JSON.DEBUG MEMORY k .").Integer();
  };
  EXPECT_LT(bytes_of("100", ""), 1300);
  EXPECT_LT(bytes_of("1000", ""), 2600);
  EXPECT_LT(bytes_of("100000", ""), 5200);
  EXPECT_GT(bytes_of("0.123456789012", ""), 8000);
  EXPECT_LT(bytes_of("0.123456789012", "FP16"), 2600);
  EXPECT_LT(bytes_of("0.123456789012", "BF16"), 2600);
  EXPECT_LT(bytes_of("0.123456789012", "FP32"), 5200);
  EXPECT_GT(bytes_of("0.123456789012", "FP64"), 8000);
}

}  // namespace
}  // namespace respite
