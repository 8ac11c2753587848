// The JSON commands. Replies follow the documentation of Redis 8, and the suites of its clients.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/command_test.h"

namespace respite {
namespace {

class JsonCommands : public CommandTest {
 protected:
  JsonCommands() : CommandTest({"enable-debug-command yes"}) {}

  // Stores a document. Its text must not need quotes of the command line.
  void Put(Bytes key, Bytes text) { EXPECT_THAT(Run({"JSON.SET", key, "$", text}), Ok()); }
  std::string Get(Bytes key, Bytes path = ".") { return Run({"JSON.GET", key, path}).Text(); }
  // The reply to JSON.TYPE is in one more array under RESP3.
  ReplyMatcher Wrapped(const ReplyMatcher& matcher) const { return IsResp3() ? ArrayOf({matcher}) : matcher; }
};
INSTANTIATE_TEST_SUITE_P(Resp, JsonCommands, BothVersions(), VersionName);

constexpr char kNoKey[] = "ERR could not perform this operation on a key that doesn't exist";
constexpr char kWrongKeyType[] = "Existing key has wrong Redis type";
constexpr char kNoPath[] = "ERR Path does not exist";
constexpr char kNotUtf8[] = "Couldn't parse as UTF-8 string";
constexpr char kNested[] = R"({"a":["foo"],"nested1":{"a":["hello",null,"world"]},"nested2":{"a":31}})";

// ---------------------------------------------------------------------------------------------------------------------
// Setting and reading

TEST_P(JsonCommands, SetReplacesAndAdds) {
  Put("doc", R"({"a":2})");
  EXPECT_THAT(Run("JSON.SET doc $.a 3"), Ok());
  EXPECT_THAT(Run("JSON.SET doc $.b 8"), Ok());
  EXPECT_EQ(Get("doc", "$"), R"([{"a":3,"b":8}])");
  Put("doc", R"({"f1":{"a":1},"f2":{"a":2}})");
  EXPECT_THAT(Run("JSON.SET doc $..a 3"), Ok());
  EXPECT_EQ(Get("doc"), R"({"f1":{"a":3},"f2":{"a":3}})");
  Put("doc", "1");
  EXPECT_THAT(Run("JSON.SET doc $.x.y 2"), Nil());
  EXPECT_THAT(Run("JSON.SET doc $.x 2"), Nil());
  EXPECT_THAT(Run("JSON.SET none $ 5 XX"), Nil());
  EXPECT_THAT(Run("JSON.GET none"), Nil());
  EXPECT_THAT(Run("JSON.SET none $.x 5"), Error("ERR new objects must be created at the root"));
  EXPECT_THAT(Run("EXISTS none"), Int(0));
  EXPECT_THAT(Run("TYPE doc"), Simple("ReJSON-RL"));
  EXPECT_THAT(Run("OBJECT ENCODING doc"), Bulk("raw"));
  EXPECT_THAT(Run("SCAN 0 TYPE ReJSON-RL"), ArrayOf({Bulk("0"), ArrayOf({Bulk("doc")})}));
}

TEST_P(JsonCommands, SetConditions) {
  EXPECT_THAT(Run("JSON.SET k $ {} NX"), Ok());
  EXPECT_THAT(Run("JSON.SET k $ [] NX"), Nil());
  EXPECT_THAT(Run("JSON.SET k $.a 1 XX"), Nil());
  EXPECT_THAT(Run("JSON.SET k .a 1 NX"), Ok());
  EXPECT_THAT(Run("JSON.SET k .a 2 NX"), Nil());
  EXPECT_THAT(Run("JSON.SET k .a 2 xx"), Ok());
  EXPECT_THAT(Run("JSON.SET k .a 2 NX XX"), Error("ERR syntax error"));
  EXPECT_THAT(Run("JSON.SET k .a 2 MAYBE"), Error("ERR syntax error"));
  EXPECT_EQ(Get("k"), R"({"a":2})");
}

TEST_P(JsonCommands, SetNeedsAPlace) {
  Put("k", R"({"o":{"a":1},"l":[1]})");
  for (const char* path : {"$.l[5]", "$.o[5]", "$.none[0]", "$.l[0][-1]"}) {
    EXPECT_THAT(Run({"JSON.SET", "k", path, "1"}), Error("ERR array index out of range")) << path;
  }
  EXPECT_THAT(Run("JSON.SET k $.*.none 1"), Error("Err wrong static path"));
  EXPECT_THAT(Run("JSON.SET k $..none 1"), Error("Err wrong static path"));
  EXPECT_THAT(Run("JSON.SET k $.* 1 NX"), Error("Err wrong static path"));
  EXPECT_THAT(Run("JSON.SET k $.l.x 1"), Nil());
  EXPECT_THAT(Run("JSON.SET k $. 1"), Error("Error occurred at position 2, Error at position 2: expected one of the "
                                            "following: <string>, '*'"));
  EXPECT_THAT(Run({"JSON.SET", "k", "$", "{a:1}"}), Error("key must be a string at line 1 column 2"));
  EXPECT_EQ(Get("k"), R"({"o":{"a":1},"l":[1]})");
}

TEST_P(JsonCommands, SetTakesNoNameThatIsNotUtf8) {
  Put("k", "{}");
  EXPECT_THAT(Run({"JSON.SET", "k", "$[\"\xff\"]", "1"}), Error(kNotUtf8));
  EXPECT_THAT(Run({"JSON.SET", "k", "\xed\xa0\x80", "1"}), Error(kNotUtf8));
  EXPECT_THAT(Run({"JSON.SET", "k", "$", "\"\xff\""}), Error(kNotUtf8));
  EXPECT_EQ(Get("k"), "{}");
}

TEST_P(JsonCommands, SetOfNestedMatches) {
  Put("k", R"({"a":{"a":1,"b":[{"a":2}]}})");
  EXPECT_THAT(Run({"JSON.SET", "k", "$..a", R"({"c":1})"}), Ok());
  EXPECT_EQ(Get("k"), R"({"a":{"c":1}})");
  Put("k", "[[1,[2]],3]");
  EXPECT_THAT(Run("JSON.SET k $..* 0"), Ok());
  EXPECT_EQ(Get("k"), "[0,0]");
}

TEST_P(JsonCommands, FloatArrays) {
  EXPECT_THAT(Run("JSON.SET k $ [[1,2,3,4e3],[5,6.0,7,8]] FPHA FP16"), Ok());
  EXPECT_EQ(Get("k", "$"), "[[[1.0,2.0,3.0,4000.0],[5.0,6.0,7.0,8.0]]]");
  EXPECT_THAT(Run("JSON.SET k $ [0.1,1.1,65504] FPHA fp16"), Ok());
  EXPECT_EQ(Get("k"), "[0.1,1.1,65500.0]");
  EXPECT_THAT(Run("JSON.SET k $ [0.1,16777217] FPHA FP32"), Ok());
  EXPECT_EQ(Get("k"), "[0.1,16777216.0]");
  EXPECT_THAT(Run("JSON.SET k $ [1e5] FPHA FP16"), Error("ERR value out of range for FP16"));
  EXPECT_THAT(Run("JSON.SET k $ [1e39] FPHA BF16"), Error("ERR value out of range for BF16"));
  EXPECT_THAT(Run("JSON.SET k $ [1] FPHA FP8"), Error("ERR syntax error"));
  EXPECT_THAT(Run({"JSON.SET", "k", "$", R"({"a":[1,"x"],"b":[1]})", "FPHA", "FP64"}), Ok());
  EXPECT_EQ(Get("k"), R"({"a":[1,"x"],"b":[1.0]})");
}

TEST_P(JsonCommands, GetSeveralPaths) {
  Put("doc", R"({"a":2,"b":3,"nested":{"a":4,"b":null}})");
  EXPECT_EQ(Get("doc", "$..b"), "[3,null]");
  EXPECT_EQ(Run("JSON.GET doc ..a $..b").Text(), R"({"..a":[2,4],"$..b":[3,null]})");
  EXPECT_EQ(Run("JSON.GET doc .a nested").Text(), R"({".a":2,"nested":{"a":4,"b":null}})");
  EXPECT_EQ(Get("doc", "$.none"), "[]");
  EXPECT_THAT(Run("JSON.GET doc .none"), Error(kNoPath));
  EXPECT_THAT(Run("JSON.GET doc .a .none"), Error(kNoPath));
  EXPECT_EQ(Run({"JSON.GET", "doc", "INDENT", "\t", "NEWLINE", "\n", "SPACE", " ", "$.nested"}).Text(),
            "[\n\t{\n\t\t\"a\": 4,\n\t\t\"b\": null\n\t}\n]");
  EXPECT_EQ(Run({"JSON.GET", "doc", "space", " ", ".a", ".b"}).Text(), R"({".a": 2,".b": 3})");
  EXPECT_EQ(Get("doc", "$.a + $.b"), "[5]");
}

TEST_P(JsonCommands, SeveralKeys) {
  EXPECT_THAT(Run({"JSON.MSET", "d1", "$", R"({"a":1,"n":{"a":3}})", "d2", "$", R"({"a":4})"}), Ok());
  Run("SET text x");
  EXPECT_THAT(Run("JSON.MGET d1 d2 none text $..a"), ArrayOf({Bulk("[1,3]"), Bulk("[4]"), Nil(), Nil()}));
  EXPECT_THAT(Run("JSON.MGET d1 d2 .n"), ArrayOf({Bulk(R"({"a":3})"), Nil()}));
  // All or nothing.
  EXPECT_THAT(Run("JSON.MSET d1 $.a 9 text $ 1"), Error(kWrongKeyType));
  EXPECT_THAT(Run("JSON.MSET d1 $.a 9 fresh $.x 1"), Error("ERR new objects must be created at the root"));
  EXPECT_THAT(Run("JSON.MSET d1 $.a 9 d2 $ {"), Error("EOF while parsing an object at line 1 column 1"));
  EXPECT_THAT(Run("JSON.MSET d1 $.a 9 d2"), Error("ERR wrong number of arguments for 'json.mset' command"));
  EXPECT_THAT(Run("JSON.MSET d1 $.a 9 text"), Error(kWrongKeyType));
  EXPECT_THAT(Run({"JSON.SET", "d1", "$.a", "9", "\xff"}), Error("Couldn't parse as UTF-8 string"));
  EXPECT_EQ(Get("d1"), R"({"a":1,"n":{"a":3}})");
  EXPECT_THAT(Run("JSON.MSET new $ {} new $.x 1"), Error("ERR new objects must be created at the root"));
  EXPECT_THAT(Run("JSON.MSET d1 $..none x"), Error("Err wrong static path"));
  EXPECT_THAT(Run("JSON.MSET new $ {} d1 $.a 2"), Ok());
  EXPECT_EQ(Get("d1", ".a"), "2");
}

TEST_P(JsonCommands, Merge) {
  EXPECT_THAT(Run({"JSON.MERGE", "new", "$", R"({"a":2})"}), Ok());
  EXPECT_THAT(Run("JSON.MERGE new $.b 8"), Ok());
  EXPECT_EQ(Get("new"), R"({"a":2,"b":8})");
  EXPECT_THAT(Run({"JSON.MERGE", "new", "$", R"({"a":null,"c":{"d":1,"e":null},"b":{"f":1}})"}), Ok());
  EXPECT_EQ(Get("new"), R"({"b":{"f":1},"c":{"d":1}})");
  EXPECT_THAT(Run("JSON.MERGE new $.b [1,2]"), Ok());
  EXPECT_EQ(Get("new", ".b"), "[1,2]");
  Put("doc", R"({"f1":{"a":1},"f2":{"a":2}})");
  EXPECT_THAT(Run({"JSON.MERGE", "doc", "$", R"({"f1":null,"f2":{"a":3,"b":4},"f3":[2,4,6]})"}), Ok());
  EXPECT_EQ(Get("doc"), R"({"f2":{"a":3,"b":4},"f3":[2,4,6]})");
  EXPECT_THAT(Run("JSON.MERGE none $.x 1"), Error("ERR new objects must be created at the root"));
  Put("doc", R"({"e":{},"s":1})");
  EXPECT_THAT(Run({"JSON.MERGE", "doc", "$", R"({"e":{"a":{"b":null,"c":[null]},"d":null},"s":{"x":null,"y":{}}})"}),
              Ok());
  EXPECT_EQ(Get("doc"), R"({"e":{"a":{"c":[null]}},"s":{"y":{}}})");
}

TEST_P(JsonCommands, MergeOfManyMembers) {
  const auto members = [](int first, int last) {
    std::string text = "{";
    for (int i = first; i < last; ++i) text += "\"name" + std::to_string(i) + "\":" + std::to_string(first) + ",";
    text.back() = '}';
    return text;
  };
  Put("doc", members(0, 100));
  EXPECT_THAT(Run({"JSON.MERGE", "doc", "$", members(50, 200'000)}), Ok());
  EXPECT_THAT(Run("JSON.OBJLEN doc"), Int(200'000));
  EXPECT_EQ(Get("doc", "$['name49','name50','name199999']"), "[0,50,50]");
}

// ---------------------------------------------------------------------------------------------------------------------
// Deleting

TEST_P(JsonCommands, Delete) {
  Put("doc", R"({"a":1,"nested":{"a":2,"b":3}})");
  EXPECT_THAT(Run("JSON.DEL doc $..a"), Int(2));
  EXPECT_EQ(Get("doc", "$"), R"([{"nested":{"b":3}}])");
  EXPECT_THAT(Run("JSON.DEL doc $..none"), Int(0));
  EXPECT_THAT(Run("JSON.DEL none"), Int(0));
  Put("doc", R"({"a":{"a":2,"b":3},"b":["a","b"],"nested":{"b":[true,"a","b"]}})");
  EXPECT_THAT(Run("JSON.DEL doc $..a"), Int(1));
  EXPECT_EQ(Get("doc"), R"({"nested":{"b":[true,"a","b"]},"b":["a","b"]})");
  // An index that occurs twice removes two elements.
  Put("doc", "[1,2,[3,4,5],6]");
  EXPECT_THAT(Run("JSON.FORGET doc $[0,0,-1]"), Int(3));
  EXPECT_EQ(Get("doc"), "[[3,4,5]]");
  Put("doc", "[1,2,3,4,5,6,7,8,9]");
  EXPECT_THAT(Run("JSON.DEL doc $[0,5,0,2,-1,-99]"), Int(6));
  EXPECT_EQ(Get("doc"), "[5,7,8]");
  Put("doc", "[1,2,[3,4,5],6]");
  EXPECT_THAT(Run("JSON.DEL doc $[2][0,1]"), Int(2));
  EXPECT_EQ(Get("doc"), "[1,2,[5],6]");
  EXPECT_THAT(Run("JSON.DEL doc"), Int(1));
  EXPECT_THAT(Run("EXISTS doc"), Int(0));
  Put("doc", R"({"a":1})");
  EXPECT_THAT(Run("JSON.DEL doc $.a"), Int(1));
  EXPECT_THAT(Run("EXISTS doc"), Int(0));
}

TEST_P(JsonCommands, Clear) {
  Put("doc", R"({"obj":{"a":1,"b":2},"arr":[1,2,3],"str":"foo","bool":true,"int":42,"float":3.14})");
  EXPECT_THAT(Run("JSON.CLEAR doc $.*"), Int(4));
  EXPECT_EQ(Get("doc"), R"({"obj":{},"arr":[],"str":"foo","bool":true,"int":0,"float":0})");
  EXPECT_THAT(Run("JSON.CLEAR doc $.*"), Int(0));
  EXPECT_THAT(Run("JSON.CLEAR doc"), Int(1));
  EXPECT_EQ(Get("doc"), "{}");
  EXPECT_THAT(Run("JSON.CLEAR none"), Error(kNoKey));
}

// ---------------------------------------------------------------------------------------------------------------------
// Types and lengths

TEST_P(JsonCommands, Types) {
  Put("doc", R"([{},[],"s",1,18446744073709551615,1.5,true,null])");
  EXPECT_THAT(Run("JSON.TYPE doc $[*]"),
              Wrapped(ArrayOf({Bulk("object"), Bulk("array"), Bulk("string"), Bulk("integer"), Bulk("integer"),
                               Bulk("number"), Bulk("boolean"), Bulk("null")})));
  EXPECT_THAT(Run("JSON.TYPE doc"), Wrapped(Bulk("array")));
  EXPECT_THAT(Run("JSON.TYPE doc .none"), Wrapped(Nil()));
  EXPECT_THAT(Run("JSON.TYPE none $"), Wrapped(Nil()));
}

TEST_P(JsonCommands, Lengths) {
  Put("doc", R"({"a":[3],"nested":{"a":{"b":2,"c":1}},"s":{"a":"text"}})");
  EXPECT_THAT(Run("JSON.ARRLEN doc $..a"), ArrayOf({Int(1), Nil(), Nil()}));
  EXPECT_THAT(Run("JSON.OBJLEN doc $..a"), ArrayOf({Nil(), Int(2), Nil()}));
  EXPECT_THAT(Run("JSON.STRLEN doc $..a"), ArrayOf({Nil(), Nil(), Int(4)}));
  EXPECT_THAT(Run("JSON.OBJKEYS doc $..a"), ArrayOf({Nil(), ArrayOf({Bulk("b"), Bulk("c")}), Nil()}));
  EXPECT_THAT(Run("JSON.ARRLEN doc .a"), Int(1));
  EXPECT_THAT(Run("JSON.OBJLEN doc"), Int(3));
  EXPECT_THAT(Run("JSON.STRLEN doc s.a"), Int(4));
  EXPECT_THAT(Run("JSON.STRLEN doc .a"), Error("WRONGTYPE wrong type of path value - expected string"));
  EXPECT_THAT(Run("JSON.STRLEN doc .none"), Error(kNoPath));
  EXPECT_THAT(Run("JSON.OBJLEN doc .none"), Nil());
  EXPECT_THAT(Run("JSON.OBJKEYS doc .none"), Nil());
  EXPECT_THAT(Run("JSON.OBJKEYS doc $.none"), EmptyArray());
  for (const char* command : {"JSON.ARRLEN", "JSON.OBJLEN", "JSON.STRLEN", "JSON.OBJKEYS"}) {
    EXPECT_THAT(Run({command, "none"}), Nil()) << command;
    const bool is_length = Bytes(command) == "JSON.OBJLEN";
    EXPECT_THAT(Run({command, "none", "$"}), Error(is_length ? "ERR Path does not exist or not an object" : kNoKey));
  }
}

TEST_P(JsonCommands, ArrIndex) {
  Put("k", R"([{"arr":[0,1,3.0,3,2,1,0,3]},{"x":{"arr":[2,4,6]}},{"arr":"3"},{"arr":[]}])");
  EXPECT_THAT(Run("JSON.ARRINDEX k $..arr 3"), ArrayOf({Int(3), Int(-1), Nil(), Int(-1)}));
  EXPECT_THAT(Run("JSON.ARRINDEX k $..arr 3.0"), ArrayOf({Int(2), Int(-1), Nil(), Int(-1)}));
  EXPECT_THAT(Run("JSON.ARRINDEX k .[0].arr 3 4"), Int(7));
  EXPECT_THAT(Run("JSON.ARRINDEX k .[0].arr 3 -1"), Int(7));
  EXPECT_THAT(Run("JSON.ARRINDEX k .[0].arr 3 4 -1"), Int(-1));
  EXPECT_THAT(Run("JSON.ARRINDEX k .[0].arr 3 4 0"), Int(7));
  EXPECT_THAT(Run("JSON.ARRINDEX k .[0].arr 3 99"), Int(7));
  Put("nested", R"([[1],[1.0],{"a":1.0}])");
  EXPECT_THAT(Run("JSON.ARRINDEX nested . [1.0]"), Int(1));
  EXPECT_THAT(Run({"JSON.ARRINDEX", "nested", ".", R"({"a":1})"}), Int(-1));
  EXPECT_THAT(Run("JSON.ARRINDEX k .[0].none 3"), Error(kNoPath));
  EXPECT_THAT(Run("JSON.ARRINDEX none . 3"), Error(kNoPath));
}

TEST_P(JsonCommands, Resp) {
  Put("k", R"({"n":null,"b":true,"i":1,"d":-19.5,"s":"x","a":[1,{}]})");
  const ReplyMatcher number = IsResp3() ? Double(-19.5) : Bulk("-19.5");
  EXPECT_THAT(Run("JSON.RESP k"),
              ArrayOf({Simple("{"), Bulk("n"), Nil(), Bulk("b"), Simple("true"), Bulk("i"), Int(1), Bulk("d"), number,
                       Bulk("s"), Bulk("x"), Bulk("a"), ArrayOf({Simple("["), Int(1), ArrayOf({Simple("{")})})}));
  EXPECT_THAT(Run("JSON.RESP k $.i"), ArrayOf({Int(1)}));
  EXPECT_THAT(Run("JSON.RESP none"), Nil());
  Put("k", "18446744073709551615");
  EXPECT_THAT(Run("JSON.RESP k"), IsResp3() ? Double(18446744073709551615.0) : Bulk("18446744073709552000"));
}

TEST_P(JsonCommands, DebugMemory) {
  Put("k", R"({"a":1,"b":"a longer text"})");
  EXPECT_THAT(Run("JSON.DEBUG MEMORY k .a"), Int(8));
  EXPECT_GT(Run("JSON.DEBUG MEMORY k").Integer(), 50);
  EXPECT_THAT(Run("JSON.DEBUG MEMORY none"), Int(0));
  EXPECT_GT(Run("MEMORY USAGE k").Integer(), Run("JSON.DEBUG MEMORY k").Integer());
  EXPECT_EQ(Run("JSON.DEBUG HELP").Size(), 2u);
}

// ---------------------------------------------------------------------------------------------------------------------
// Changing values

TEST_P(JsonCommands, Numbers) {
  Put("doc", R"({"a":"b","b":[{"a":2},{"a":5.0},{"a":"c"}]})");
  const auto numbers = [&](const char* json, std::vector<ReplyMatcher> values) {
    return IsResp3() ? ArrayOf(std::move(values)) : Bulk(json);
  };
  EXPECT_THAT(Run("JSON.NUMINCRBY doc $..a 2"), numbers("[null,4,7.0,null]", {Nil(), Int(4), Double(7), Nil()}));
  EXPECT_THAT(Run("JSON.NUMINCRBY doc $..a 2.5"),
              numbers("[null,6.5,9.5,null]", {Nil(), Double(6.5), Double(9.5), Nil()}));
  EXPECT_THAT(Run("JSON.NUMMULTBY doc .b[0].a 2"), numbers("13.0", {Double(13)}));
  EXPECT_THAT(Run("JSON.NUMINCRBY doc $.none 1"), numbers("[]", {}));
  const char* const kNoNumber = "ERR Path does not exist or does not contains a number";
  EXPECT_THAT(Run("JSON.NUMINCRBY doc .a 1"), IsResp3() ? ArrayOf({Nil()}) : Error(kNoNumber));
  EXPECT_THAT(Run("JSON.NUMINCRBY doc .none x"), IsResp3() ? EmptyArray() : Error(kNoNumber));
  EXPECT_THAT(Run("JSON.NUMINCRBY doc $.a x"), numbers("[null]", {Nil()}));
  EXPECT_THAT(Run("JSON.NUMINCRBY doc $.b[0].a x"), Error("ERR expected value at line 1 column 1"));
  EXPECT_THAT(Run("JSON.NUMINCRBY none $ 1"), Error(kNoKey));
  EXPECT_THAT(Run({"JSON.NUMINCRBY", "doc", "$..a", "\"1\""}), Error("bad input number"));
  Put("big", "[9223372036854775807,1e308,1]");
  EXPECT_THAT(Run("JSON.NUMMULTBY big $[*] 10"), Error("result is not a number"));
  EXPECT_EQ(Get("big"), "[9223372036854775807,1e308,1]");
  EXPECT_THAT(Run("JSON.NUMINCRBY big .[0] 1"), numbers("9.223372036854776e18", {Double(9223372036854775808.0)}));
}

TEST_P(JsonCommands, StringsAndBooleans) {
  Put("doc", R"({"a":"foo","nested1":{"a":"hello"},"nested2":{"a":31},"t":true})");
  EXPECT_THAT(Run({"JSON.STRAPPEND", "doc", "$..a", "\"bar\""}), ArrayOf({Int(6), Int(8), Nil()}));
  EXPECT_THAT(Run({"JSON.STRAPPEND", "doc", ".*.a", "\"!\""}), Int(9));
  EXPECT_THAT(Run({"JSON.STRAPPEND", "doc", "\"!\""}), Error("ERR Path does not exist or not a string"));
  EXPECT_THAT(Run("JSON.STRAPPEND doc .a 1"), Error("WRONGTYPE wrong type of path value - expected string"));
  EXPECT_THAT(Run("JSON.TOGGLE doc $.*"), ArrayOf({Nil(), Nil(), Nil(), Int(0)}));
  EXPECT_THAT(Run("JSON.TOGGLE doc .t"), Bulk("true"));
  EXPECT_THAT(Run("JSON.TOGGLE doc .a"), Error("ERR Path does not exist or not a bool"));
  EXPECT_THAT(Run("JSON.TOGGLE none $.a"), Error(kNoKey));
  EXPECT_EQ(Get("doc"), R"({"a":"foobar","nested1":{"a":"hellobar!"},"nested2":{"a":31},"t":true})");
  Put("text", "\"\"");
  EXPECT_THAT(Run({"JSON.STRAPPEND", "text", "\"append\""}), Int(6));
}

TEST_P(JsonCommands, Append) {
  Put("doc", kNested);
  EXPECT_THAT(Run({"JSON.ARRAPPEND", "doc", "$..a", "\"bar\"", "{}"}), ArrayOf({Int(3), Int(5), Nil()}));
  EXPECT_THAT(Run("JSON.ARRAPPEND doc ..a 1 2"), Int(7));
  EXPECT_THAT(Run("JSON.ARRAPPEND doc .nested2.a 1"), Error("ERR Path does not exist or not an array"));
  EXPECT_THAT(Run("JSON.ARRAPPEND none $ 1"), Error(kNoKey));
  EXPECT_EQ(Get("doc"), R"({"a":["foo","bar",{},1,2],"nested1":{"a":["hello",null,"world","bar",{},1,2]},)"
                        R"("nested2":{"a":31}})");
  // Arrays in each other: a change of the outer one moves the inner ones.
  Put("deep", "[[[1],[2]],[3]]");
  EXPECT_THAT(Run("JSON.ARRAPPEND deep $..* 0 0 0 0 0 0 0 0 0"),
              ArrayOf({Int(11), Int(10), Int(10), Int(10), Nil(), Nil(), Nil()}));
  EXPECT_EQ(Get("deep", "$[0][0]"), "[[1,0,0,0,0,0,0,0,0,0]]");
}

TEST_P(JsonCommands, Insert) {
  Put("doc", kNested);
  EXPECT_THAT(Run("JSON.ARRINSERT doc $..a 1 7 8"), ArrayOf({Int(3), Int(5), Nil()}));
  EXPECT_THAT(Run("JSON.ARRINSERT doc $.nested1.a -2 9"), ArrayOf({Int(6)}));
  EXPECT_EQ(Get("doc", "$..a"), R"([["foo",7,8],["hello",7,8,9,null,"world"],31])");
  EXPECT_THAT(Run("JSON.ARRINSERT doc $..a 4 1"), Error("ERR index out of bounds"));
  EXPECT_THAT(Run("JSON.ARRINSERT doc $..a -9 1"), Error("ERR index out of bounds"));
  EXPECT_THAT(Run("JSON.ARRINSERT doc $..a 9223372036854775807 1"), Error("ERR index out of bounds"));
  EXPECT_THAT(Run("JSON.ARRINSERT doc $..a x 1"), Error("Couldn't parse as integer"));
  EXPECT_EQ(Get("doc", "$..a"), R"([["foo",7,8],["hello",7,8,9,null,"world"],31])");
}

TEST_P(JsonCommands, Pop) {
  Put("doc", kNested);
  EXPECT_THAT(Run("JSON.ARRPOP doc $..a 1"), ArrayOf({Bulk("\"foo\""), Bulk("null"), Nil()}));
  EXPECT_THAT(Run("JSON.ARRPOP doc $..a"), ArrayOf({Nil(), Bulk("\"world\""), Nil()}));
  EXPECT_THAT(Run("JSON.ARRPOP doc .nested1.a -100"), Bulk("\"hello\""));
  EXPECT_THAT(Run("JSON.ARRPOP doc .nested1.a"), Nil());
  Put("last", "[1,2,3]");
  EXPECT_THAT(Run("JSON.ARRPOP last . x ignored"), Bulk("3"));
  EXPECT_THAT(Run("JSON.ARRPOP doc"), Error("ERR Path does not exist or not an array"));
  EXPECT_THAT(Run("JSON.ARRPOP none"), Error(kNoKey));
  EXPECT_EQ(Get("doc"), R"({"a":[],"nested1":{"a":[]},"nested2":{"a":31}})");
}

TEST_P(JsonCommands, Trim) {
  const auto trimmed = [&](Bytes start, Bytes stop) {
    Put("k", "[0,1,2,3,4]");
    EXPECT_THAT(Run({"JSON.ARRTRIM", "k", "$", start, stop}), AnyReply());
    return Get("k");
  };
  EXPECT_EQ(trimmed("1", "3"), "[1,2,3]");
  EXPECT_EQ(trimmed("-1", "3"), "[]");
  EXPECT_EQ(trimmed("3", "99"), "[3,4]");
  EXPECT_EQ(trimmed("9", "1"), "[]");
  EXPECT_EQ(trimmed("9", "11"), "[]");
  EXPECT_EQ(trimmed("-3", "-2"), "[2,3]");
  EXPECT_EQ(trimmed("-99", "-9223372036854775808"), "[0]");
  EXPECT_EQ(trimmed("0", "-7"), "[0]");
  EXPECT_EQ(trimmed("-9223372036854775808", "9223372036854775807"), "[0,1,2,3,4]");
  Put("doc", kNested);
  EXPECT_THAT(Run("JSON.ARRTRIM doc $..a 1 -1"), ArrayOf({Int(0), Int(2), Nil()}));
  EXPECT_THAT(Run("JSON.ARRTRIM doc ..a 1 1"), Int(1));
}

// ---------------------------------------------------------------------------------------------------------------------
// Keys

TEST_P(JsonCommands, OtherTypesAreRefused) {
  Run("SET text x");
  for (const char* line :
       {"JSON.GET text", "JSON.SET text $ 1", "JSON.MERGE text $ 1", "JSON.DEL text", "JSON.TYPE text",
        "JSON.NUMINCRBY text $ 1", "JSON.ARRPOP text", "JSON.CLEAR text", "JSON.RESP text"}) {
    EXPECT_THAT(Run(line), Error(kWrongKeyType)) << line;
  }
  Put("doc", "{}");
  EXPECT_THAT(Run("GET doc"), Error(kWrongType));
  EXPECT_THAT(Run("HGET doc f"), Error(kWrongType));
  EXPECT_THAT(Run("SET doc x"), Ok());
}

TEST_P(JsonCommands, LivesLikeOtherValues) {
  Put("doc", R"({"a":[1,2]})");
  EXPECT_THAT(Run("EXPIRE doc 100"), Int(1));
  EXPECT_THAT(Run("JSON.SET doc $ [1]"), Ok());
  EXPECT_THAT(Run("TTL doc"), Int(100));
  EXPECT_THAT(Run("COPY doc copy"), Int(1));
  EXPECT_THAT(Run("JSON.ARRAPPEND copy $ 2"), ArrayOf({Int(2)}));
  EXPECT_EQ(Get("doc"), "[1]");
  EXPECT_THAT(Run("RENAME copy renamed"), Ok());
  EXPECT_EQ(Get("renamed"), "[1,2]");
  EXPECT_THAT(Run("MOVE renamed 1"), Int(1));
  EXPECT_THAT(Run("SELECT 1"), Ok());
  EXPECT_EQ(Get("renamed"), "[1,2]");
  EXPECT_THAT(Run("UNLINK renamed"), Int(1));
}

TEST_P(JsonCommands, TransactionsWatchAndScripts) {
  Put("doc", R"({"n":1})");
  EXPECT_THAT(Run("WATCH doc"), Ok());
  TestClient other(server(), GetParam());
  other.Run("JSON.NUMINCRBY doc $.n 1");
  Run("MULTI");
  Run("JSON.GET doc");
  EXPECT_THAT(Run("EXEC"), NilArray());
  EXPECT_THAT(Run({"EVAL", "return redis.call('JSON.GET', KEYS[1], '$.n')", "1", "doc"}), Bulk("[2]"));
  EXPECT_THAT(Run({"EVAL", "return redis.call('JSON.SET', KEYS[1], '$.n', 5)", "1", "doc"}), Ok());
  EXPECT_EQ(Get("doc"), R"({"n":5})");
}

TEST_P(JsonCommands, KeyspaceEvents) {
  Run("CONFIG SET notify-keyspace-events Ed");
  TestClient listener(server(), GetParam());
  listener.Run("PSUBSCRIBE __keyevent@0__:*");
  const auto event_of = [&](std::initializer_list<Bytes> words) {
    Run(words);
    std::string names;
    for (TestReply message = listener.Read(); message.HasValue(); message = listener.Read()) {
      const std::string channel = message[2].Text();
      names += (names.empty() ? "" : " ") + channel.substr(channel.find(':') + 1);
    }
    return names;
  };
  EXPECT_EQ(event_of({"JSON.SET", "k", "$", R"({"a":[1],"s":"x","t":true,"n":1})"}), "json.set");
  EXPECT_EQ(event_of({"JSON.ARRAPPEND", "k", "$.a", "2"}), "json.arrappend");
  EXPECT_EQ(event_of({"JSON.ARRINSERT", "k", "$.a", "0", "2"}), "json.arrinsert");
  EXPECT_EQ(event_of({"JSON.ARRPOP", "k", "$.a"}), "json.arrpop");
  EXPECT_EQ(event_of({"JSON.ARRTRIM", "k", "$.a", "0", "0"}), "json.arrtrim");
  EXPECT_EQ(event_of({"JSON.STRAPPEND", "k", "$.s", "\"y\""}), "json.strappend");
  EXPECT_EQ(event_of({"JSON.TOGGLE", "k", "$.t"}), "json.toggle");
  EXPECT_EQ(event_of({"JSON.NUMINCRBY", "k", "$.n", "1"}), "json.numincrby");
  EXPECT_EQ(event_of({"JSON.NUMMULTBY", "k", "$.n", "2"}), "json.nummultby");
  EXPECT_EQ(event_of({"JSON.MERGE", "k", "$", "{}"}), "json.merge");
  EXPECT_EQ(event_of({"JSON.CLEAR", "k", "$.n"}), "json.clear");
  EXPECT_EQ(event_of({"JSON.MSET", "k", "$.n", "2"}), "json.mset");
  EXPECT_EQ(event_of({"JSON.DEL", "k", "$.n"}), "json.del");
  EXPECT_EQ(event_of({"JSON.DEL", "k", "$.none"}), "");
  EXPECT_EQ(event_of({"JSON.GET", "k"}), "");
  EXPECT_EQ(event_of({"JSON.SET", "k", "$.a", "[]"}), "json.set");
  EXPECT_EQ(event_of({"JSON.ARRPOP", "k", "$.a"}), "") << "the array is empty";
  EXPECT_EQ(event_of({"JSON.MSET", "k", "$.a.b", "2"}), "") << "an array has no member";
  EXPECT_EQ(event_of({"JSON.MSET", "k", "$.a", "2", "k", "$.a.b", "2"}), "json.mset");
  EXPECT_EQ(event_of({"JSON.DEL", "k"}), "json.del");
}

TEST_P(JsonCommands, PropagatesChangesOnly) {
  Put("k", R"({"a":1})");
  const size_t before = Journaled().size();
  Run("JSON.SET k $.a 1 NX");
  Run("JSON.NUMINCRBY k $.none 1");
  Run("JSON.DEL k $.none");
  Run("JSON.CLEAR k $.none");
  EXPECT_EQ(Journaled().size(), before);
  Run("JSON.SET k $.a 2");
  EXPECT_EQ(Journaled().back(), "0: JSON.SET k $.a 2");
}

// ---------------------------------------------------------------------------------------------------------------------
// Limits

TEST_P(JsonCommands, LimitsDepth) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  Put("k", nested(128));
  EXPECT_THAT(Run({"JSON.SET", "k", "$", nested(129)}), Error("recursion limit exceeded at line 1 column 129"));
  EXPECT_THAT(Run("JSON.ARRAPPEND k $[0][0] []"), ArrayOf({Int(2)}));
  EXPECT_THAT(Run({"JSON.ARRAPPEND", "k", "$[0][0]", nested(126)}), Error("ERR recursion limit exceeded"));
  EXPECT_THAT(Run({"JSON.ARRAPPEND", "k", "$[0][0]", nested(125)}), ArrayOf({Int(3)}));
  EXPECT_THAT(Run({"JSON.SET", "k", "$[0][0]", nested(127)}), Error("ERR recursion limit exceeded"));
  EXPECT_THAT(Run({"JSON.SET", "k", "$..*", "[]"}), Error("ERR recursion limit exceeded"));
}

TEST_P(JsonCommands, LimitsWork) {
  std::string text = "1";
  for (int level = 0; level < 6; ++level) {
    std::string wider = "[";
    for (int i = 0; i < 8; ++i) wider += (i == 0 ? "" : ",") + text;
    text = wider + "]";
  }
  Put("wide", text);
  EXPECT_THAT(Run("JSON.GET wide $..*..*..*..*..*..*..*"), Error("ERR the path selects too many values"));
  EXPECT_THAT(Run("JSON.DEL wide $..*..*..*..*..*..*..*"), Error("ERR the path selects too many values"));
  std::string repeated = "$[0";
  for (int i = 0; i < 5'000; ++i) repeated += ",0";
  EXPECT_THAT(Run({"JSON.GET", "wide", repeated + "]"}), Error("ERR the path selects too many values"));
  EXPECT_THAT(Run({"JSON.RESP", "wide", repeated + "]"}), Error("ERR the path selects too many values"));
  EXPECT_THAT(Run({"JSON.DEBUG", "MEMORY", "wide", repeated + "]"}), Error("ERR the path selects too many values"));
  EXPECT_EQ(Run({"JSON.ARRAPPEND", "wide", repeated + "]", "1"}).Size(), 5'001u);
  EXPECT_THAT(Run("JSON.ARRTRIM wide $[0] 0 7"), ArrayOf({Int(8)}));
  EXPECT_EQ(Get("wide"), text);
}

TEST_P(JsonCommands, LimitsReplies) {
  Put("k", "[[1,2]]");
  const std::string longest(1024, ' ');
  for (const char* option : {"INDENT", "NEWLINE", "SPACE"}) {
    EXPECT_THAT(Run({"JSON.GET", "k", option, longest + " "}),
                Error("ERR INDENT, NEWLINE and SPACE may have at most 1024 bytes"));
    EXPECT_THAT(Run({"JSON.GET", "k", option, longest, ".[0][0]"}), Bulk("1"));
  }
  // The limit of a text counts for the whole reply.
  Run("CONFIG SET proto-max-bulk-len 1048576");
  Put("long", "\"" + std::string(300'000, 'x') + "\"");
  EXPECT_EQ(Run("JSON.MGET long long long none $").Size(), 4u);
  EXPECT_THAT(Run("JSON.MGET long long long long $"), Error("ERR the reply would be too long"));
  Put("array", "[\"" + std::string(300'000, 'x') + "\"]");
  EXPECT_THAT(Run("JSON.GET array $ . $[0] $[-1]"), Error("ERR the reply would be too long"));
  std::string wide = "[1";
  for (int i = 0; i < 2'000; ++i) wide += ",1";
  Put("wide", wide + "]");
  EXPECT_THAT(Run({"JSON.GET", "wide", "INDENT", longest}), Error("ERR the reply would be too long"));
}

// All paths and keys of a command have one budget.
TEST_P(JsonCommands, LimitsTheWorkOfAllPathsTogether) {
  std::string text = "[1";
  for (int i = 0; i < 50'000; ++i) text += ",1";
  Put("k", text + "]");
  EXPECT_THAT(Run("JSON.GET k $[?(@==2)] $[?(@==3)]"), Bulk(R"({"$[?(@==2)]":[],"$[?(@==3)]":[]})"));
  std::vector<std::string> words = {"JSON.GET", "k"};
  for (int i = 0; i < 100; ++i) words.emplace_back("$[?(@==" + std::to_string(i + 2) + ")]");
  EXPECT_THAT(Run(words), Error("ERR the path selects too many values"));
  words = {"JSON.MGET"};
  for (int i = 0; i < 100; ++i) words.emplace_back("k");
  words.emplace_back("$[?(@==2)]");
  EXPECT_THAT(Run(words), Error("ERR the path selects too many values"));
  words = {"JSON.MSET", "new", "$", "1"};
  for (int i = 0; i < 100; ++i) words.insert(words.end(), {"k", "$[?(@==1)]", "0"});
  EXPECT_THAT(Run(words), Error("ERR the path selects too many values"));
  EXPECT_THAT(Run("EXISTS new"), Int(0));
}

// A computation that was stopped has no result.
TEST_P(JsonCommands, ComputedPathsLimitWork) {
  std::string text = "[1";
  for (int i = 0; i < 5'000; ++i) text += "," + std::to_string(i);
  Put("k", text + "]");
  EXPECT_THAT(Run({"JSON.GET", "k", "$ subsetof $"}), Error("ERR the command would take too many steps"));
  EXPECT_EQ(Get("k", "$ anyof [9999]"), "[false]");
}

// An incomplete search is an error, because -1 would be wrong.
TEST_P(JsonCommands, ArrIndexLimitsWork) {
  std::string text = "[[0";
  for (int i = 0; i < 3'000; ++i) text += ",0";
  Put("k", text + "]]");
  std::string repeated = "$[0";
  for (int i = 0; i < 4'000; ++i) repeated += ",0";
  for (const char* wanted : {"1", "\"x\"", "[]"}) {
    EXPECT_THAT(Run({"JSON.ARRINDEX", "k", repeated + "]", wanted}),
                Error("ERR the command would take too many steps"));
  }
  EXPECT_THAT(Run("JSON.ARRINDEX k $[0] 1"), ArrayOf({Int(-1)}));
}

// Each change of an array moves its elements, so a path that selects one array many times is limited.
TEST_P(JsonCommands, RepeatedChangesOfArraysLimitWork) {
  std::string text = "[[\"a\"";
  for (int i = 0; i < 50'000; ++i) text += ",0";
  Put("k", text + "]]");
  std::string repeated = "$[0";
  for (int i = 0; i < 20'000; ++i) repeated += ",0";
  repeated += "]";
  const std::string before = Run("JSON.GET k").Text();
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"JSON.ARRINSERT", "k", repeated, "0", "1"},
                                             {"JSON.ARRPOP", "k", repeated, "0"},
                                             {"JSON.ARRTRIM", "k", repeated, "1", "-1"},
                                             {"JSON.ARRAPPEND", "k", repeated, "1"}}) {
    EXPECT_THAT(Run(words), Error("ERR the command would take too many steps")) << words[0];
  }
  EXPECT_EQ(Run("JSON.GET k").Text(), before);
  EXPECT_THAT(Run("JSON.ARRPOP k $[0,0,0] 0"), ArrayOf(Bulk("\"a\""), Bulk("0"), Bulk("0")));
  EXPECT_THAT(Run("JSON.ARRINSERT k $[0,0] 0 1 2"), ArrayOf(Int(50'000), Int(50'002)));
}

// The limit counts the values and the bytes that are copied, not the text of the value.
TEST_P(JsonCommands, CopiesLimitWork) {
  std::string zeros = "[0", objects = "[{\"\":{}}";
  for (int i = 1; i < 1000; ++i) zeros += ",0";
  for (int i = 1; i < 10'000; ++i) objects += ",{\"\":{}}";
  Put("k", zeros + "]");
  objects += "]";
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"JSON.SET", "k", "$[*]", objects},
                                             {"JSON.MERGE", "k", "$[*]", objects},
                                             {"JSON.MSET", "k", "$[*]", objects},
                                             {"JSON.ARRAPPEND", "k", "$[*]", objects}}) {
    EXPECT_THAT(Run(words), Error("ERR the command would store too much data")) << words[0];
  }
  EXPECT_EQ(Get("k", "$.length()"), "[1000]");
  EXPECT_THAT(Run({"JSON.SET", "k", "$[0]", objects}), Ok());
}

// A triplet may make the document larger for the next one: this counts too, before anything is changed.
TEST_P(JsonCommands, MSetLimitsTheWorkOnDocumentsThatGrow) {
  std::string large = "[{\"a\":1}";
  for (int i = 0; i < 50'000; ++i) large += ",0";
  large += "]";
  Put("k", R"({"a":1})");
  std::vector<std::string> words = {"JSON.MSET", "new", "$", "1", "k", "$", large};
  for (int i = 0; i < 500; ++i) words.insert(words.end(), {"k", "$..a", "2"});
  EXPECT_THAT(Run(words), Error("ERR the path selects too many values"));
  EXPECT_THAT(Run("EXISTS new"), Int(0));
  EXPECT_EQ(Get("k", "$"), R"([{"a":1}])");
  words.resize(7 + 3 * 20);
  EXPECT_THAT(Run(words), Ok());
  EXPECT_EQ(Get("k", "$[0]"), R"([{"a":2}])");
  // A path that an earlier triplet has made impossible changes nothing.
  EXPECT_THAT(Run("JSON.MSET k $ 5 k $[0].a 3 new $ 2"), Ok());
  EXPECT_EQ(Get("k", "$"), "[5]");
  EXPECT_EQ(Get("new", "$"), "[2]");
}

}  // namespace
}  // namespace respite
