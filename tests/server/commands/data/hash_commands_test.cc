#include <map>
#include <set>
#include <string>

#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {

namespace {

using testing::AllOf;
using testing::ElementsAre;

class HashCommands : public CommandTest {
 protected:
  HashCommands() : CommandTest({"hash-max-listpack-entries 4", "hash-max-ziplist-value 20"}) {}

  // Creates a hash `key` with fields f0, f1 … and values v0, v1 …
  void Fill(const std::string& key, int fields) {
    for (int i = 0; i < fields; ++i) Run({"HSET", key, StrCat("f", i), StrCat("v", i)});
  }
  std::map<std::string, std::string> Scanned(const std::string& options) {
    std::map<std::string, std::string> seen;
    std::string cursor = "0";
    do {
      const TestReply reply = Run("HSCAN h " + cursor + " " + options);
      cursor = reply[0].Text();
      const std::vector<std::string> texts = reply[1].Texts();
      for (size_t i = 0; i + 1 < texts.size(); i += 2) seen[texts[i]] = texts[i + 1];
    } while (cursor != "0");
    return seen;
  }
};
INSTANTIATE_TEST_SUITE_P(Resp, HashCommands, BothVersions(), VersionName);

TEST_P(HashCommands, SetAndGet) {
  EXPECT_THAT(Run("HSET h a 1 b two a 3"), Int(2));
  EXPECT_THAT(Run("HSET h b 2 c 3"), Int(1));
  EXPECT_THAT(Run("HGET h a"), Bulk("3"));
  EXPECT_THAT(Run("HGET h none"), Nil());
  EXPECT_THAT(Run("HGET none a"), Nil());
  EXPECT_THAT(Run("HMGET h a none b"), ArrayOf(Bulk("3"), Nil(), Bulk("2")));
  EXPECT_THAT(Run("HMGET none a b"), ArrayOf(Nil(), Nil()));
  EXPECT_THAT(Run("HGETALL h"), MapOf({{Bulk("a"), Bulk("3")}, {Bulk("b"), Bulk("2")}, {Bulk("c"), Bulk("3")}}));
  EXPECT_THAT(Run("HGETALL none"), MapOf({}));
  EXPECT_THAT(Run("HKEYS h"), UnorderedBulks({"a", "b", "c"}));
  EXPECT_THAT(Run("HVALS h"), UnorderedBulks({"3", "2", "3"}));
  EXPECT_THAT(Run("HKEYS none"), EmptyArray());
  EXPECT_THAT(Run("HLEN h"), Int(3));
  EXPECT_THAT(Run("HLEN none"), Int(0));
  EXPECT_THAT(Run("HSTRLEN h b"), Int(1));
  EXPECT_THAT(Run("HSTRLEN h none"), Int(0));
  EXPECT_THAT(Run("HEXISTS h a"), Int(1));
  EXPECT_THAT(Run("HEXISTS h none"), Int(0));
  EXPECT_THAT(Run("HMSET h d 4"), Ok());
  EXPECT_THAT(Run("TYPE h"), Simple("hash"));
}

TEST_P(HashCommands, PairsMustBeComplete) {
  EXPECT_THAT(Run("HSET h a 1 b"), Error("ERR wrong number of arguments for 'hset' command"));
  EXPECT_THAT(Run("HMSET h a 1 b"), Error("ERR wrong number of arguments for 'hmset' command"));
  EXPECT_THAT(Run("EXISTS h"), Int(0));
}

TEST_P(HashCommands, SetNxLeavesWhatIsThere) {
  EXPECT_THAT(Run("HSETNX h a 1"), Int(1));
  EXPECT_THAT(Run("HSETNX h a 2"), Int(0));
  EXPECT_THAT(Run("HSETNX h b 2"), Int(1));
  EXPECT_THAT(Run("HGET h a"), Bulk("1"));
}

TEST_P(HashCommands, RemovingTheLastFieldRemovesTheHash) {
  Run("HSET h a 1 b 2");
  EXPECT_THAT(Run("HDEL h none a a"), Int(1));
  EXPECT_THAT(Run("HDEL h b none"), Int(1));
  EXPECT_THAT(Run("EXISTS h"), Int(0));
  EXPECT_THAT(Run("HDEL h b"), Int(0));
  EXPECT_THAT(Journaled(), ElementsAre("0: HSET h a 1 b 2", "0: HDEL h none a a", "0: HDEL h b none"));
}

TEST_P(HashCommands, EncodingFollowsTheLimits) {
  Fill("h", 4);
  EXPECT_THAT(Run("OBJECT ENCODING h"), Bulk("listpack"));
  Fill("h", 5);
  EXPECT_THAT(Run("OBJECT ENCODING h"), Bulk("hashtable"));
  Run("HDEL h f0 f1 f2 f3");
  EXPECT_THAT(Run("OBJECT ENCODING h"), Bulk("hashtable"));
  EXPECT_THAT(Run("HGETALL h"), MapOf({{Bulk("f4"), Bulk("v4")}}));

  Run({"HSET", "long", "f", std::string(20, 'v')});
  EXPECT_THAT(Run("OBJECT ENCODING long"), Bulk("listpack"));
  Run({"HINCRBYFLOAT", "long", std::string(21, 'f'), "1"});
  EXPECT_THAT(Run("OBJECT ENCODING long"), Bulk("hashtable"));
  Run("HSET many a 1 a 1 a 1 a 1");
  EXPECT_THAT(Run("OBJECT ENCODING many"), Bulk("listpack"));
  Run("HSET many a 1 a 1 a 1 a 1 a 1");
  EXPECT_THAT(Run("OBJECT ENCODING many"), Bulk("hashtable"));

  Run("CONFIG SET hash-max-listpack-entries 1");
  Run("HSET narrow a 1 b 2");
  EXPECT_THAT(Run("OBJECT ENCODING narrow"), Bulk("hashtable"));
  EXPECT_THAT(Run("HMGET narrow a b"), Bulks({"1", "2"}));
}

TEST_P(HashCommands, IncrementsIntegers) {
  EXPECT_THAT(Run("HINCRBY h n 5"), Int(5));
  EXPECT_THAT(Run("HINCRBY h n -7"), Int(-2));
  Run("HSET h text x space \" 1\" max 9223372036854775807");
  EXPECT_THAT(Run("HINCRBY h text 1"), Error("ERR hash value is not an integer"));
  EXPECT_THAT(Run("HINCRBY h space 1"), Error("ERR hash value is not an integer"));
  EXPECT_THAT(Run("HINCRBY h max 1"), Error("ERR increment or decrement would overflow"));
  EXPECT_THAT(Run("HINCRBY h n x"), Error("ERR value is not an integer or out of range"));
  EXPECT_THAT(Run("HINCRBY none n x"), Error("ERR value is not an integer or out of range"));
  EXPECT_THAT(Run("EXISTS none"), Int(0));
  EXPECT_THAT(Run("HGET h n"), Bulk("-2"));
}

TEST_P(HashCommands, IncrementsFloatsAndJournalsTheResult) {
  EXPECT_THAT(Run("HINCRBYFLOAT h n 1.5"), Bulk("1.5"));
  EXPECT_THAT(Run("HINCRBYFLOAT h n 1e2"), Bulk("101.5"));
  EXPECT_THAT(Journaled(), ElementsAre("0: HSET h n 1.5", "0: HSET h n 101.5"));
  Run("HSET h text x max 1e4932");
  EXPECT_THAT(Run("HINCRBYFLOAT h text 1"), Error("ERR hash value is not a float"));
  EXPECT_THAT(Run("HINCRBYFLOAT h n x"), Error("ERR value is not a valid float"));
  EXPECT_THAT(Run("HINCRBYFLOAT h n inf"), Error("ERR value is NaN or Infinity"));
  EXPECT_THAT(Run("HINCRBYFLOAT h max 1e4932"), Error("ERR increment would produce NaN or Infinity"));
}

TEST_P(HashCommands, OtherTypesAreRefused) {
  Run("SET s x");
  for (const char* command : {"HSET s f v", "HMSET s f v", "HSETNX s f v", "HGET s f", "HMGET s f", "HGETALL s",
                              "HKEYS s", "HVALS s", "HLEN s", "HSTRLEN s f", "HEXISTS s f", "HDEL s f", "HINCRBY s f 1",
                              "HINCRBYFLOAT s f 1", "HRANDFIELD s", "HRANDFIELD s 1", "HSCAN s 0"}) {
    EXPECT_THAT(Run(command), Error(kWrongType)) << command;
  }
  Run("HSET h f v");
  EXPECT_THAT(Run("GET h"), Error(kWrongType));
  EXPECT_THAT(Run("SET h x GET"), Error(kWrongType));
}

TEST_P(HashCommands, RandFieldWithoutCountNamesOne) {
  EXPECT_THAT(Run("HRANDFIELD none"), Nil());
  for (int fields : {3, 50}) {
    Fill("h", fields);
    std::set<std::string> seen;
    for (int i = 0; i < 2000; ++i) seen.insert(Run("HRANDFIELD h").Text());
    EXPECT_EQ(seen.size(), static_cast<size_t>(fields));
  }
}

TEST_P(HashCommands, RandFieldWithCountNamesDifferentOnes) {
  for (int fields : {3, 50}) {
    Fill("h", fields);
    for (int count : {1, 2, 3, 10, 30, 49, 50, 1000}) {
      const std::vector<std::string> texts = Run(StrCat("HRANDFIELD h ", count)).Texts();
      EXPECT_EQ(texts.size(), static_cast<size_t>(std::min(count, fields)));
      EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), texts.size());
    }
    std::set<std::string> seen;
    for (int i = 0; i < 500; ++i)
      for (const std::string& text : Run("HRANDFIELD h 2").Texts()) seen.insert(text);
    EXPECT_EQ(seen.size(), static_cast<size_t>(fields));
  }
  EXPECT_THAT(Run("HRANDFIELD h 0"), EmptyArray());
  EXPECT_THAT(Run("HRANDFIELD none 3"), EmptyArray());
  EXPECT_THAT(Run("HRANDFIELD none 3 WITHVALUES"), EmptyArray());
}

TEST_P(HashCommands, RandFieldWithNegativeCountMayRepeat) {
  for (int fields : {1, 3, 50}) {
    Run("DEL h");
    Fill("h", fields);
    for (int count : {1, 5, 20, 400}) {
      EXPECT_EQ(Run(StrCat("HRANDFIELD h -", count)).Texts().size(), static_cast<size_t>(count));
    }
  }
}

TEST_P(HashCommands, RandFieldWithValuesGivesPairs) {
  Run("HSET h f v");
  const ReplyMatcher pair = ArrayOf(Bulk("f"), Bulk("v"));
  if (IsResp3()) {
    EXPECT_THAT(Run("HRANDFIELD h 1 WITHVALUES"), ArrayOf(pair));
    EXPECT_THAT(Run("HRANDFIELD h -2 withvalues"), ArrayOf(pair, pair));
  } else {
    EXPECT_THAT(Run("HRANDFIELD h 1 WITHVALUES"), Bulks({"f", "v"}));
    EXPECT_THAT(Run("HRANDFIELD h -2 withvalues"), Bulks({"f", "v", "f", "v"}));
  }
  EXPECT_THAT(Run("HRANDFIELD h 1 WITHVALUES x"), Error("ERR syntax error"));
  EXPECT_THAT(Run("HRANDFIELD h 1 x"), Error("ERR syntax error"));
  EXPECT_THAT(Run("HRANDFIELD h x"), Error("ERR value is not an integer or out of range"));
  EXPECT_THAT(Run("HRANDFIELD h -9223372036854775808"),
              Error("ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"));
  EXPECT_THAT(Run("HRANDFIELD h -9223372036854775807 WITHVALUES"), Error("ERR value is out of range"));
}

TEST_P(HashCommands, ScanMeetsEveryField) {
  for (int fields : {3, 500}) {
    Fill("h", fields);
    std::map<std::string, std::string> expected;
    for (int i = 0; i < fields; ++i) expected[StrCat("f", i)] = StrCat("v", i);
    EXPECT_EQ(Scanned(""), expected);
    EXPECT_EQ(Scanned("COUNT 100"), expected);
    EXPECT_EQ(Scanned("MATCH f2 COUNT 1000"), (std::map<std::string, std::string>{{"f2", "v2"}}));
  }
}

TEST_P(HashCommands, ScanOptions) {
  Run("HSET h a 1 b 2");
  EXPECT_THAT(Run("HSCAN h 0 NOVALUES"), ArrayOf(Bulk("0"), Bulks({"a", "b"})));
  EXPECT_THAT(Run("HSCAN h 0 MATCH b"), ArrayOf(Bulk("0"), Bulks({"b", "2"})));
  EXPECT_THAT(Run("HSCAN h x"), Error("ERR invalid cursor"));
  EXPECT_THAT(Run("HSCAN h 0 TYPE hash"), Error("ERR syntax error"));
  EXPECT_THAT(Run("HSCAN h 0 COUNT 0"), Error("ERR syntax error"));
  EXPECT_THAT(Run("HSCAN none 0 what"), ArrayOf(Bulk("0"), EmptyArray()));
}

TEST_P(HashCommands, HashesMoveAndAreCopied) {
  for (int fields : {2, 20}) {
    Run("FLUSHALL");
    Fill("h", fields);
    EXPECT_THAT(Run("COPY h copy"), Int(1));
    EXPECT_THAT(Run("HSET h f0 other"), Int(0));
    EXPECT_THAT(Run("HGET copy f0"), Bulk("v0"));
    EXPECT_THAT(Run("RENAME copy renamed"), Ok());
    EXPECT_THAT(Run("MOVE renamed 1"), Int(1));
    Run("SELECT 1");
    EXPECT_THAT(Run("HLEN renamed"), Int(fields));
    Run("SELECT 0");
    EXPECT_THAT(Run("SET h text"), Ok());
    EXPECT_THAT(Run("GET h"), Bulk("text"));
  }
}

TEST_P(HashCommands, KeysKeepTheirDeadline) {
  Run("HSET h f v");
  Run("EXPIRE h 100");
  Fill("h", 20);
  EXPECT_THAT(Run("TTL h"), Int(100));
  clock().AdvanceMs(100'001);
  EXPECT_THAT(Run("HLEN h"), Int(0));
  EXPECT_THAT(Run("HSET h f v"), Int(1));
  EXPECT_THAT(Run("TTL h"), Int(-1));
}

TEST_P(HashCommands, MemoryUsageGrowsWithTheFields) {
  Fill("small", 2);
  Fill("large", 200);
  EXPECT_THAT(Run("MEMORY USAGE small"), IntThat(AllOf(testing::Ge(20), testing::Le(96))));
  EXPECT_THAT(Run("MEMORY USAGE large SAMPLES 0"), IntThat(AllOf(testing::Ge(3000), testing::Le(10'000))));
}

}  // namespace
}  // namespace respite
