#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/lab/fixture_formats.h"
#include "server/lab/fixture_json.h"

namespace respite {
namespace {

using testing::ElementsAre;

// One line for each request: `line 1: SET a 1`.
std::vector<std::string> RequestLines(const Result<Fixture>& fixture) {
  if (!fixture) return {"refused: " + fixture.error()};
  std::vector<std::string> lines;
  for (const Fixture::Request& request : fixture.value().requests) {
    std::string line = request.place + ":";
    for (const std::string& word : request.words) line += " " + (word.empty() ? "''" : word);
    lines.push_back(line);
  }
  return lines;
}

std::string FixtureRefusal(Bytes json) {
  const auto fixture = ReadJsonFixture(json);
  return fixture ? "accepted" : fixture.error();
}

TEST(FixtureFormatTest, HasNames) {
  EXPECT_EQ(FixtureFormatOf("json"), FixtureFormat::kJson);
  EXPECT_EQ(FixtureFormatOf("RDB"), FixtureFormat::kRdb);
  EXPECT_EQ(FixtureFormatOf("aof"), FixtureFormat::kAof);
  EXPECT_EQ(FixtureFormatOf("resp"), FixtureFormat::kResp);
  EXPECT_EQ(FixtureFormatOf("redis"), FixtureFormat::kRedis);
  for (const Bytes name : {"", "txt", "jso", "json5"}) EXPECT_EQ(FixtureFormatOf(name), std::nullopt) << name;
}

TEST(RedisFixtureTest, LinesAreRequests) {
  EXPECT_THAT(RequestLines(ReadRedisFixture("SET a 1\r\n\n  # no request\nSET 'b c' \"\\x41\\n\"\nECHO ''")),
              ElementsAre("line 1: SET a 1", "line 4: SET b c A\n", "line 5: ECHO ''"));
  EXPECT_THAT(RequestLines(ReadRedisFixture("")), ElementsAre());
  EXPECT_THAT(RequestLines(ReadRedisFixture("SET a #1")), ElementsAre("line 1: SET a #1"));
}

TEST(RedisFixtureTest, UnbalancedQuotes) {
  EXPECT_THAT(RequestLines(ReadRedisFixture("SET a 1\n# it's fine here\nSET a \"1\n")),
              ElementsAre("refused: line 3: the quotes are not balanced"));
}

TEST(RespFixtureTest, RequestsWithOffsets) {
  EXPECT_THAT(RequestLines(ReadRespFixture("*1\r\n$4\r\nPING\r\n#TS:17\r\n*2\r\n$4\r\nECHO\r\n$0\r\n\r\n")),
              ElementsAre("offset 0: PING", "offset 14: ECHO ''"));
  EXPECT_THAT(RequestLines(ReadRespFixture("")), ElementsAre());
}

TEST(RespFixtureTest, EveryCutIsNoticed) {
  const std::string whole = "*1\r\n$4\r\nPING\r\n*2\r\n$4\r\nECHO\r\n$1\r\nx\r\n";
  for (size_t size = 1; size < whole.size(); ++size) {
    const auto fixture = ReadRespFixture(Bytes(whole).substr(0, size));
    if (size == 14) {
      EXPECT_TRUE(fixture.ok());
      continue;
    }
    ASSERT_FALSE(fixture.ok()) << size;
    EXPECT_THAT(fixture.error(), testing::StartsWith(size < 14 ? "offset 0: " : "offset 14: ")) << size;
  }
}

TEST(RespFixtureTest, OtherTextIsRefused) {
  EXPECT_THAT(RequestLines(ReadRespFixture("*1\r\n$4\r\nPING\r\nPING\r\n")),
              ElementsAre("refused: offset 14: this is not a RESP array of bulk strings"));
}

TEST(RespFixtureTest, ArgumentsLargerThanTheBuffer) {
  const std::string large(300'000, 'x');
  const auto fixture = ReadRespFixture("*2\r\n$4\r\nECHO\r\n$300000\r\n" + large + "\r\n*1\r\n$4\r\nPING\r\n");
  ASSERT_TRUE(fixture.ok());
  ASSERT_EQ(fixture.value().requests.size(), 2U);
  EXPECT_EQ(fixture.value().requests[0].words[1], large);
}

TEST(JsonFixtureTest, EachTypeOfValue) {
  EXPECT_THAT(RequestLines(ReadJsonFixture(
                  R"({"a": "x", "b": 5, "c": -1.5, "d": {"string": 7}, "e": {"json": {"x": [1, "y", null]}}})")),
              ElementsAre("key \"a\": DEL a", "key \"a\": SET a x", "key \"b\": DEL b", "key \"b\": SET b 5",
                          "key \"c\": DEL c", "key \"c\": SET c -1.5", "key \"d\": DEL d", "key \"d\": SET d 7",
                          "key \"e\": DEL e", "key \"e\": SET e {\"x\":[1,\"y\",null]}"));
  EXPECT_THAT(RequestLines(ReadJsonFixture(R"({"k": {"list": ["b", "a", "a", 1]}})")),
              ElementsAre("key \"k\": DEL k", "key \"k\": RPUSH k b a a 1"));
  EXPECT_THAT(RequestLines(ReadJsonFixture(R"({"k": {"set": [""]}})")),
              ElementsAre("key \"k\": DEL k", "key \"k\": SADD k ''"));
  EXPECT_THAT(RequestLines(ReadJsonFixture(R"({"k": {"hash": {"z": 1, "a": "2"}}})")),
              ElementsAre("key \"k\": DEL k", "key \"k\": HSET k z 1 a 2"));
  EXPECT_THAT(RequestLines(ReadJsonFixture(R"({"k": {"zset": {"z": 1.25, "a": "-inf"}}})")),
              ElementsAre("key \"k\": DEL k", "key \"k\": ZADD k 1.25 z -inf a"));
  EXPECT_THAT(RequestLines(ReadJsonFixture(R"({"k": {"stream": {"1-1": {"a": 1, "b": 2}, "2-*": {"c": 3}}}})")),
              ElementsAre("key \"k\": DEL k", "key \"k\": XADD k 1-1 a 1 b 2", "key \"k\": XADD k 2-* c 3"));
  EXPECT_THAT(RequestLines(ReadJsonFixture(R"({"k": {"stream": [{"a": 1}, {"a": 2}]}})")),
              ElementsAre("key \"k\": DEL k", "key \"k\": XADD k * a 1", "key \"k\": XADD k * a 2"));
  EXPECT_THAT(RequestLines(ReadJsonFixture(R"({"k": {"array": ["a", null, 2]}})")),
              ElementsAre("key \"k\": DEL k", "key \"k\": ARMSET k 0 a 2 2"));
  EXPECT_THAT(RequestLines(ReadJsonFixture(R"({"k": {"array": {"70": "x", "8": "y"}}})")),
              ElementsAre("key \"k\": DEL k", "key \"k\": ARMSET k 70 x 8 y"));
  EXPECT_THAT(RequestLines(ReadJsonFixture(
                  R"({"k": {"vectorset": {"a": [1, 0.5], "b": {"vector": [0, 1], "attributes": {"n": 1}}}}})")),
              ElementsAre("key \"k\": DEL k", "key \"k\": VADD k VALUES 2 1 0.5 a",
                          "key \"k\": VADD k VALUES 2 0 1 b SETATTR {\"n\":1}"));
  EXPECT_THAT(RequestLines(ReadJsonFixture(R"({"k": {"document": {"a": [1, 2.5]}}})")),
              ElementsAre("key \"k\": DEL k", R"(key "k": JSON.SET k $ {"a":[1,2.5]})"));
}

TEST(JsonFixtureTest, DatabasesAndDeadlines) {
  EXPECT_THAT(RequestLines(ReadJsonFixture(
                  R"({"a": {"db": 3, "string": "x", "ttl": "1h"}, "b": {"string": "y", "db": 3}, "c": "z"})")),
              ElementsAre("key \"a\": SELECT 3", "key \"a\": DEL a", "key \"a\": SET a x",
                          "key \"a\": PEXPIRE a 3600000", "key \"b\": DEL b", "key \"b\": SET b y",
                          "key \"c\": SELECT 0", "key \"c\": DEL c", "key \"c\": SET c z"));
}

TEST(JsonFixtureTest, NamesAreAnyText) {
  EXPECT_THAT(RequestLines(ReadJsonFixture("{\"\": \"\\u00e4\\u0000\"}")),
              ElementsAre("key \"\": DEL ''", std::string("key \"\": SET '' \xc3\xa4\0", 18)));
}

TEST(JsonFixtureTest, RefusalsSayWhatWouldBeRight) {
  constexpr const char* kValueKinds =
      "A value is one of string, json, list, set, zset, hash, stream, array, vectorset, document";
  EXPECT_EQ(FixtureRefusal(R"({"a": {"ttl": "1h"}})"), std::string("key \"a\": it has no value. ") + kValueKinds);
  EXPECT_EQ(FixtureRefusal(R"({"a": {"hsah": {}}})"), std::string("key \"a\": there is no member \"hsah\". ") +
                                                          kValueKinds + "; besides, there may be ttl and db");
  EXPECT_EQ(FixtureRefusal(R"({"a": {"list": ["x"], "string": "y"}})"),
            "key \"a\": it has two values, \"list\" and \"string\", but a key has one");
  EXPECT_EQ(FixtureRefusal(R"({"a": {"list": []}})"),
            "key \"a\": an empty collection does not exist. Leave the key out");
  EXPECT_EQ(FixtureRefusal(R"({"a": {"hash": ["x"]}})"),
            "key \"a\": \"hash\" must be an object, such as {\"name\": \"Ada\"}");
  EXPECT_EQ(FixtureRefusal(R"({"a": {"set": {"x": 1}}})"),
            "key \"a\": \"set\" must be an array, such as [\"red\", \"green\"]");
  EXPECT_EQ(FixtureRefusal(R"({"a": {"stream": {"1-1": []}}})"),
            "key \"a\": an entry of a stream must be an object, such as {\"name\": \"Ada\"}");
  EXPECT_EQ(FixtureRefusal(R"({"a": {"list": [null]}})"), "key \"a\": null must be a text or a number");
  EXPECT_EQ(FixtureRefusal(R"({"a": [1]})"), "key \"a\": [1] must be a text or a number");
  for (const Bytes ttl : {"5", "\"soon\"", "\"0\"", "\"\"", "null"}) {
    EXPECT_EQ(FixtureRefusal("{\"a\": {\"string\": 1, \"ttl\": " + std::string(ttl) + "}}"),
              "key \"a\": \"ttl\" must be a duration, such as \"90s\", \"1h\" or \"250ms\"");
  }
  for (const Bytes db : {"-1", "1.5", "\"1\""}) {
    EXPECT_EQ(FixtureRefusal("{\"a\": {\"string\": 1, \"db\": " + std::string(db) + "}}"),
              "key \"a\": \"db\" must be the number of a database");
  }
}

TEST(JsonFixtureTest, WrongJson) {
  EXPECT_THAT(FixtureRefusal("{\n \"a\": [1}"), testing::StartsWith("line 2, column 9: "));
  EXPECT_THAT(FixtureRefusal(""), testing::StartsWith("line 1, column 1: "));
  EXPECT_THAT(FixtureRefusal("{} x"), testing::StartsWith("line 1, column 4: "));
  EXPECT_THAT(FixtureRefusal("{\"a\": 1e999}"), testing::HasSubstr("number overflow"));
  const std::string said = FixtureRefusal("{\"\xff\": 1}");
  EXPECT_THAT(said, testing::StartsWith("line 1, column 3: "));
  for (const char c : said) EXPECT_TRUE(c >= ' ' && c <= '~') << said;
  for (const Bytes text : {"[]", "1", "null"})
    EXPECT_THAT(FixtureRefusal(text), testing::StartsWith("a fixture must be an object"));
  EXPECT_EQ(FixtureRefusal(R"({"a": 1, "b": 2, "a": 3})"), "the name \"a\" occurs twice in an object");
  EXPECT_EQ(FixtureRefusal(R"({"a": {"hash": {"f": 1, "f": 2}}})"), "the name \"f\" occurs twice in an object");
  EXPECT_EQ(FixtureRefusal(R"({"a": {"hash": {"f": 1}}, "b": {"hash": {"f": 2}}})"), "accepted");
}

TEST(JsonFixtureTest, DepthIsLimited) {
  const auto nested = [](size_t depth) {
    return "{\"a\": {\"json\": " + std::string(depth, '[') + std::string(depth, ']') + "}}";
  };
  EXPECT_EQ(FixtureRefusal(nested(100)), "accepted");
  EXPECT_EQ(FixtureRefusal(nested(1'000'000)), "arrays and objects are nested too deeply");
}

}  // namespace
}  // namespace respite
