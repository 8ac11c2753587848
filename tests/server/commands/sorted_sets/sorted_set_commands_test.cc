#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {

namespace {

class SortedSetCommands : public CommandTest {
 protected:
  // Matches members with scores in replies of range commands: pairs under RESP3, a flat array under RESP2.
  ReplyMatcher Scored(const std::vector<std::pair<std::string, double>>& pairs) const {
    ReplyMatchers elements;
    for (const auto& [member, score] : pairs) {
      if (IsResp3()) {
        elements.push_back(ArrayOf(Bulk(member), Double(score)));
      } else {
        elements.push_back(Bulk(member));
        elements.push_back(Double(score));
      }
    }
    return ArrayOf(elements);
  }
  // Makes every set use the large encoding.
  void KeepLarge() { Run("CONFIG SET zset-max-listpack-entries 0"); }
};
INSTANTIATE_TEST_SUITE_P(Resp, SortedSetCommands, BothVersions(), VersionName);

std::string StoredBySortedSets(const std::string& command) { return "0: " + command; }

TEST_P(SortedSetCommands, ZAddCountsWhatItAdds) {
  EXPECT_THAT(Run("ZADD z 1 a 2 b"), Int(2));
  EXPECT_THAT(Run("ZADD z 3 a 4 c"), Int(1));
  EXPECT_THAT(Run("ZADD z CH 5 a 4 c 6 d"), Int(2));
  EXPECT_THAT(Run("ZADD z NX 9 a 7 e"), Int(1));
  EXPECT_THAT(Run("ZADD z XX CH 9 a 7 f"), Int(1));
  EXPECT_THAT(Run("ZADD z GT CH 8 a 8 b"), Int(1));
  EXPECT_THAT(Run("ZADD z LT CH 10 a 7 b"), Int(1));
  EXPECT_THAT(Run("ZRANGE z 0 -1 WITHSCORES"), Scored({{"c", 4}, {"d", 6}, {"b", 7}, {"e", 7}, {"a", 9}}));
  EXPECT_THAT(Run("ZADD absent XX 1 a"), Int(0));
  EXPECT_THAT(Run("EXISTS absent"), Int(0));
}

TEST_P(SortedSetCommands, ZAddRefusesBeforeItChanges) {
  const std::pair<const char*, const char*> kRefused[] = {
      {"ZADD z NX XX 1 a", "ERR XX and NX options at the same time are not compatible"},
      {"ZADD z NX GT 1 a", "ERR GT, LT, and/or NX options at the same time are not compatible"},
      {"ZADD z LT GT 1 a", "ERR GT, LT, and/or NX options at the same time are not compatible"},
      {"ZADD z INCR 1 a 2 b", "ERR INCR option supports a single increment-element pair"},
      {"ZADD z NX XX 1", "ERR syntax error"},
      {"ZADD z NX 1 a 2", "ERR syntax error"},
      {"ZADD z 1 a nan b", "ERR value is not a valid float"},
      {"ZADD z 1 a x b", "ERR value is not a valid float"},
      {"ZINCRBY z x b", "ERR value is not a valid float"},
  };
  for (const auto& [command, text] : kRefused) EXPECT_THAT(Run(command), Error(text)) << command;
  EXPECT_THAT(Run("EXISTS z"), Int(0));
  Run("ZADD z inf a");
  EXPECT_THAT(Run("ZINCRBY z -inf a"), Error("ERR resulting score is not a number (NaN)"));
  EXPECT_THAT(Run("ZADD z INCR -inf a"), Error("ERR resulting score is not a number (NaN)"));
  EXPECT_THAT(Run("ZSCORE z a"), DoubleText("inf"));
}

TEST_P(SortedSetCommands, IncrementsGiveTheNewScore) {
  EXPECT_THAT(Run("ZINCRBY z 1.5 a"), Double(1.5));
  EXPECT_THAT(Run("ZINCRBY z -0.4 a"), DoubleText("1.1"));
  EXPECT_THAT(Run("ZADD z INCR 1 a"), DoubleText("2.1"));
  EXPECT_THAT(Run("ZADD z NX INCR 1 a"), Nil());
  EXPECT_THAT(Run("ZADD z XX INCR 1 b"), Nil());
  EXPECT_THAT(Run("ZADD z GT INCR -1 a"), Nil());
  EXPECT_THAT(Run("ZADD none XX INCR 1 b"), Nil());
}

TEST_P(SortedSetCommands, ScoresAndRanksInBothEncodings) {
  for (const char* encoding : {"listpack", "skiplist"}) {
    Run("DEL z");
    Run("ZADD z 1 a 2 b 2 c 1e20 d");
    EXPECT_THAT(Run("OBJECT ENCODING z"), Bulk(encoding));
    EXPECT_THAT(Run("ZCARD z"), Int(4));
    EXPECT_THAT(Run("ZSCORE z d"), DoubleText("1e+20"));
    EXPECT_THAT(Run("ZSCORE z x"), Nil());
    EXPECT_THAT(Run("ZMSCORE z a x c"), ArrayOf(Double(1), Nil(), Double(2)));
    EXPECT_THAT(Run("ZMSCORE none a x"), ArrayOf(Nil(), Nil()));
    EXPECT_THAT(Run("ZRANK z c"), Int(2));
    EXPECT_THAT(Run("ZREVRANK z c"), Int(1));
    EXPECT_THAT(Run("ZRANK z c WITHSCORE"), ArrayOf(Int(2), Double(2)));
    EXPECT_THAT(Run("ZRANK z x"), Nil());
    EXPECT_THAT(Run("ZREVRANK z x WITHSCORE"), NilArray());
    EXPECT_THAT(Run("ZRANK none x WITHSCORE"), NilArray());
    EXPECT_THAT(Run("ZCOUNT z (1 2"), Int(2));
    EXPECT_THAT(Run("ZCOUNT z -inf +inf"), Int(4));
    KeepLarge();
  }
  EXPECT_THAT(Run("ZRANK z x WITHSCORES"), Error("ERR syntax error"));
  EXPECT_THAT(Run("ZRANK z x WITHSCORE y"), Error("ERR wrong number of arguments for 'zrank' command"));
  EXPECT_THAT(Run("ZCOUNT z a 1"), Error("ERR min or max is not a float"));
}

TEST_P(SortedSetCommands, ZRemDropsTheEmptySet) {
  Run("ZADD z 1 a 2 b 3 c");
  EXPECT_THAT(Run("ZREM z a x a"), Int(1));
  EXPECT_THAT(Run("ZREM z b c d"), Int(2));
  EXPECT_THAT(Run("EXISTS z"), Int(0));
  EXPECT_THAT(Run("ZREM z b"), Int(0));
}

TEST_P(SortedSetCommands, RangesInBothEncodings) {
  for (const char* encoding : {"listpack", "skiplist"}) {
    Run("DEL z");
    Run("ZADD z 1 a 2 b 3 c 4 d 5 e");
    EXPECT_THAT(Run("OBJECT ENCODING z"), Bulk(encoding));
    EXPECT_THAT(Run("ZRANGE z 1 -2"), Bulks({"b", "c", "d"}));
    EXPECT_THAT(Run("ZRANGE z 0 1 REV WITHSCORES"), Scored({{"e", 5}, {"d", 4}}));
    EXPECT_THAT(Run("ZREVRANGE z -2 100"), Bulks({"b", "a"}));
    EXPECT_THAT(Run("ZRANGE z 3 1"), EmptyArray());
    EXPECT_THAT(Run("ZRANGE z (1 4 BYSCORE"), Bulks({"b", "c", "d"}));
    EXPECT_THAT(Run("ZRANGE z 4 (1 BYSCORE REV LIMIT 1 1"), Bulks({"c"}));
    EXPECT_THAT(Run("ZRANGEBYSCORE z -inf inf WITHSCORES LIMIT 1 2"), Scored({{"b", 2}, {"c", 3}}));
    EXPECT_THAT(Run("ZRANGEBYSCORE z -inf inf LIMIT 1 -1"), Bulks({"b", "c", "d", "e"}));
    EXPECT_THAT(Run("ZRANGEBYSCORE z -inf inf LIMIT -1 2"), EmptyArray());
    EXPECT_THAT(Run("ZRANGEBYSCORE z -inf inf LIMIT 5 2"), EmptyArray());
    EXPECT_THAT(Run("ZREVRANGEBYSCORE z (5 2"), Bulks({"d", "c", "b"}));
    EXPECT_THAT(Run("ZREVRANGEBYSCORE z 2 5"), EmptyArray());
    EXPECT_THAT(Run("ZRANGE none 0 -1"), EmptyArray());
    KeepLarge();
  }
}

TEST_P(SortedSetCommands, LexRangesInBothEncodings) {
  for (const char* encoding : {"listpack", "skiplist"}) {
    Run("DEL z");
    Run("ZADD z 0 a 0 b 0 c 0 d");
    EXPECT_THAT(Run("OBJECT ENCODING z"), Bulk(encoding));
    EXPECT_THAT(Run("ZRANGEBYLEX z - (c"), Bulks({"a", "b"}));
    EXPECT_THAT(Run("ZRANGEBYLEX z [bb + LIMIT 0 1"), Bulks({"c"}));
    EXPECT_THAT(Run("ZREVRANGEBYLEX z + [b"), Bulks({"d", "c", "b"}));
    EXPECT_THAT(Run("ZRANGE z [d [b BYLEX REV"), Bulks({"d", "c", "b"}));
    EXPECT_THAT(Run("ZRANGEBYLEX z + -"), EmptyArray());
    EXPECT_THAT(Run("ZLEXCOUNT z (a [d"), Int(3));
    EXPECT_THAT(Run("ZREMRANGEBYLEX z [b (d"), Int(2));
    EXPECT_THAT(Run("ZRANGE z 0 -1"), Bulks({"a", "d"}));
    KeepLarge();
  }
  EXPECT_THAT(Run("ZRANGEBYLEX z a b"), Error("ERR min or max not valid string range item"));
  EXPECT_THAT(Run("ZLEXCOUNT z -x +"), Error("ERR min or max not valid string range item"));
}

TEST_P(SortedSetCommands, RangeOptionsThatDoNotGoTogether) {
  const std::pair<const char*, const char*> kRefused[] = {
      {"ZRANGE z 0 -1 LIMIT 0 1",
       "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX"},
      {"ZRANGE z - + BYLEX WITHSCORES", "ERR syntax error, WITHSCORES not supported in combination with BYLEX"},
      {"ZRANGE z 0 1 BYLEX BYSCORE", "ERR syntax error"},
      {"ZRANGE z 0 1 LIMIT 1", "ERR syntax error"},
      {"ZREVRANGE z 0 1 REV", "ERR syntax error"},
      {"ZRANGEBYSCORE z 0 1 BYLEX", "ERR syntax error"},
      {"ZRANGESTORE d z 0 1 WITHSCORES", "ERR syntax error"},
      {"ZRANGE z 0 x", "ERR value is not an integer or out of range"},
      {"ZRANGE z 0 x BYSCORE", "ERR min or max is not a float"},
      {"ZRANGEBYSCORE z 0 1 LIMIT a 1", "ERR value is not an integer or out of range"},
  };
  for (const auto& [command, text] : kRefused) EXPECT_THAT(Run(command), Error(text)) << command;
}

TEST_P(SortedSetCommands, ZRangeStoreReplacesItsDestination) {
  Run("ZADD z 1 a 2 b 3 c");
  Run("SET d text EX 100");
  EXPECT_THAT(Run("ZRANGESTORE d z 1 -1"), Int(2));
  EXPECT_THAT(Run("TTL d"), Int(-1));
  EXPECT_THAT(Run("ZRANGE d 0 -1 WITHSCORES"), Scored({{"b", 2}, {"c", 3}}));
  EXPECT_THAT(Run("ZRANGESTORE d z 3 (1 BYSCORE REV LIMIT 0 1"), Int(1));
  EXPECT_THAT(Run("ZRANGE d 0 -1"), Bulks({"c"}));
  EXPECT_THAT(Run("ZRANGESTORE d none 0 -1"), Int(0));
  EXPECT_THAT(Run("EXISTS d"), Int(0));
  EXPECT_THAT(Run("ZRANGESTORE z z 0 0"), Int(1));
  EXPECT_THAT(Run("ZCARD z"), Int(1));
}

TEST_P(SortedSetCommands, RemovesRanges) {
  for (const char* encoding : {"listpack", "skiplist"}) {
    Run("DEL z");
    Run("ZADD z 1 a 2 b 3 c 4 d 5 e");
    EXPECT_THAT(Run("OBJECT ENCODING z"), Bulk(encoding));
    EXPECT_THAT(Run("ZREMRANGEBYRANK z -1 10"), Int(1));
    EXPECT_THAT(Run("ZREMRANGEBYSCORE z (1 2"), Int(1));
    EXPECT_THAT(Run("ZREMRANGEBYSCORE z 7 9"), Int(0));
    EXPECT_THAT(Run("ZRANGE z 0 -1"), Bulks({"a", "c", "d"}));
    EXPECT_THAT(Run("ZREMRANGEBYRANK z 0 -1"), Int(3));
    EXPECT_THAT(Run("EXISTS z"), Int(0));
    KeepLarge();
  }
  EXPECT_THAT(Run("ZREMRANGEBYRANK z a 1"), Error("ERR value is not an integer or out of range"));
  EXPECT_THAT(Run("ZREMRANGEBYSCORE z a 1"), Error("ERR min or max is not a float"));
}

TEST_P(SortedSetCommands, PopsFromEitherEnd) {
  Run("ZADD z 1 a 2 b 3 c 4 d");
  EXPECT_THAT(Run("ZPOPMIN z"), ArrayOf(Bulk("a"), Double(1)));
  EXPECT_THAT(Run("ZPOPMAX z 1"), Scored({{"d", 4}}));
  EXPECT_THAT(Run("ZPOPMIN z 0"), EmptyArray());
  EXPECT_THAT(Run("ZPOPMIN z -1"), Error("ERR value is out of range, must be positive"));
  EXPECT_THAT(Run("ZPOPMIN z x"), Error("ERR value is out of range, must be positive"));
  EXPECT_THAT(Run("ZPOPMIN z 1 2"), Error("ERR syntax error"));
  EXPECT_THAT(Run("ZPOPMAX z 9"), Scored({{"c", 3}, {"b", 2}}));
  EXPECT_THAT(Run("EXISTS z"), Int(0));
  EXPECT_THAT(Run("ZPOPMIN z"), EmptyArray());
}

TEST_P(SortedSetCommands, ZMPopTakesTheFirstSetThatExists) {
  Run("ZADD z 1 a 2 b 3 c");
  EXPECT_THAT(Run("ZMPOP 2 none z MIN"), ArrayOf(Bulk("z"), ArrayOf(ArrayOf(Bulk("a"), Double(1)))));
  EXPECT_THAT(Run("ZMPOP 1 z MAX COUNT 10"),
              ArrayOf(Bulk("z"), ArrayOf(ArrayOf(Bulk("c"), Double(3)), ArrayOf(Bulk("b"), Double(2)))));
  EXPECT_THAT(Run("ZMPOP 1 z MAX"), NilArray());
  EXPECT_EQ(Journaled(),
            (std::vector<std::string>{StoredBySortedSets("ZADD z 1 a 2 b 3 c"), StoredBySortedSets("ZPOPMIN z 1"),
                                      StoredBySortedSets("ZPOPMAX z 2")}));
  EXPECT_THAT(Run("ZMPOP 0 z MAX"), Error("ERR numkeys should be greater than 0"));
  EXPECT_THAT(Run("ZMPOP 1 z MAX COUNT 0"), Error("ERR count should be greater than 0"));
  EXPECT_THAT(Run("ZMPOP 2 z MAX"), Error("ERR syntax error"));
  EXPECT_THAT(Run("ZMPOP 1 z UP"), Error("ERR syntax error"));
}

TEST_P(SortedSetCommands, RandomMembers) {
  for (int members : {5, 500}) {
    Run("DEL z");
    for (int i = 0; i < members; ++i) Run(StrCat("ZADD z ", i, " m", i));
    for (int count : {1, 3, 100, 400, 600}) {
      auto drawn = Run(StrCat("ZRANDMEMBER z ", count)).Texts();
      EXPECT_EQ(drawn.size(), static_cast<size_t>(std::min(count, members)));
      std::sort(drawn.begin(), drawn.end());
      EXPECT_EQ(std::unique(drawn.begin(), drawn.end()), drawn.end());
      for (const std::string& member : drawn)
        EXPECT_THAT(Run({"ZSCORE", "z", member}), Double(std::stod(member.substr(1))));
    }
    EXPECT_EQ(Run("ZRANDMEMBER z -700").Size(), 700u);
    EXPECT_EQ(Run("ZRANDMEMBER z 3 WITHSCORES").Size(), IsResp3() ? 3u : 6u);
    EXPECT_THAT(Run("ZRANDMEMBER z"), BulkThat(testing::StartsWith("m")));
  }
  EXPECT_THAT(Run("ZRANDMEMBER none"), Nil());
  EXPECT_THAT(Run("ZRANDMEMBER none 3"), EmptyArray());
  EXPECT_THAT(Run("ZRANDMEMBER z 0"), EmptyArray());
  EXPECT_THAT(Run("ZRANDMEMBER z 1 x"), Error("ERR syntax error"));
  EXPECT_THAT(Run("ZRANDMEMBER z -9223372036854775807 WITHSCORES"), Error("ERR value is out of range"));
  EXPECT_THAT(Run("ZRANDMEMBER z -9223372036854775808"),
              Error("ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"));
}

TEST_P(SortedSetCommands, ZScanReturnsEveryMember) {
  for (int members : {5, 1'000}) {
    Run("DEL z");
    for (int i = 0; i < members; ++i) Run(StrCat("ZADD z 1.1 m", i));
    std::set<std::string> met;
    std::string cursor = "0";
    do {
      const TestReply reply = Run("ZSCAN z " + cursor);
      cursor = reply[0].Text();
      const auto texts = reply[1].Texts();
      for (size_t i = 0; i < texts.size(); i += 2) {
        met.insert(texts[i]);
        EXPECT_EQ(texts[i + 1], members > 128 ? "1.1000000000000001" : "1.1");
      }
    } while (cursor != "0");
    EXPECT_EQ(met.size(), static_cast<size_t>(members));
  }
  EXPECT_THAT(Run("ZSCAN z 0 MATCH m1 COUNT 1000000"), ArrayOf(Bulk("0"), Bulks({"m1", "1.1000000000000001"})));
  EXPECT_THAT(Run("ZSCAN z 0 NOSCORES MATCH m1 COUNT 1000000"), ArrayOf(Bulk("0"), Bulks({"m1"})));
  Run("ZADD small 1 a 2 b");
  EXPECT_THAT(Run("ZSCAN small 0 COUNT 5 NOSCORES"), ArrayOf(Bulk("0"), Bulks({"a", "b"})));
  EXPECT_THAT(Run("SSCAN none 0 NOSCORES"), ArrayOf(Bulk("0"), EmptyArray()));
  EXPECT_THAT(Run("ZSCAN z 0 NOVALUES"), Error("ERR syntax error"));
  EXPECT_THAT(Run("SCAN 0 NOSCORES"), Error("ERR syntax error"));
  EXPECT_THAT(Run("ZSCAN none 0 NONSENSE"), ArrayOf(Bulk("0"), EmptyArray()));
  EXPECT_THAT(Run("ZSCAN z 0 NONSENSE"), Error("ERR syntax error"));
  EXPECT_THAT(Run("ZSCAN z x"), Error("ERR invalid cursor"));
}

TEST_P(SortedSetCommands, UnionsIntersectionsDifferences) {
  Run("ZADD a 1 x 2 y 3 z");
  Run("ZADD b 10 y 20 z 30 w");
  EXPECT_THAT(Run("ZUNION 2 a b WITHSCORES"), Scored({{"x", 1}, {"y", 12}, {"z", 23}, {"w", 30}}));
  EXPECT_THAT(Run("ZUNION 2 a b WEIGHTS 10 1 AGGREGATE MAX"), Bulks({"x", "y", "w", "z"}));
  EXPECT_THAT(Run("ZINTER 2 a b AGGREGATE MIN WITHSCORES"), Scored({{"y", 2}, {"z", 3}}));
  EXPECT_THAT(Run("ZINTER 2 a b AGGREGATE COUNT WITHSCORES"), Scored({{"y", 2}, {"z", 2}}));
  EXPECT_THAT(Run("ZINTER 2 a b WEIGHTS 10 0.5 AGGREGATE COUNT WITHSCORES"), Scored({{"y", 10.5}, {"z", 10.5}}));
  EXPECT_THAT(Run("ZINTER 2 a a WITHSCORES"), Scored({{"x", 2}, {"y", 4}, {"z", 6}}));
  EXPECT_THAT(Run("ZDIFF 2 a b WITHSCORES"), Scored({{"x", 1}}));
  EXPECT_THAT(Run("ZDIFF 2 a none"), Bulks({"x", "y", "z"}));
  EXPECT_THAT(Run("ZDIFF 2 a a"), EmptyArray());
  EXPECT_THAT(Run("ZINTERCARD 2 a b"), Int(2));
  EXPECT_THAT(Run("ZINTERCARD 2 a b LIMIT 1"), Int(1));
  EXPECT_THAT(Run("ZUNIONSTORE d 2 a b"), Int(4));
  EXPECT_THAT(Run("ZINTERSTORE a 2 a b WEIGHTS 2 3"), Int(2));
  EXPECT_THAT(Run("ZRANGE a 0 -1 WITHSCORES"), Scored({{"y", 34}, {"z", 66}}));
  EXPECT_THAT(Run("ZDIFFSTORE d 2 a b"), Int(0));
  EXPECT_THAT(Run("EXISTS d"), Int(0));
}

TEST_P(SortedSetCommands, SetsTakePartWithScoresOfOne) {
  Run("SADD s a b 3");
  Run("ZADD z 5 a 6 3 7 d");
  EXPECT_THAT(Run("ZUNION 2 s z WITHSCORES"), Scored({{"b", 1}, {"a", 6}, {"3", 7}, {"d", 7}}));
  EXPECT_THAT(Run("ZINTER 2 z s WEIGHTS 2 3 WITHSCORES"), Scored({{"a", 13}, {"3", 15}}));
  EXPECT_THAT(Run("ZDIFF 2 s z WITHSCORES"), Scored({{"b", 1}}));
  EXPECT_THAT(Run("ZINTERCARD 2 s z LIMIT 1"), Int(1));
  EXPECT_THAT(Run("ZUNIONSTORE s 1 s"), Int(3));
  EXPECT_THAT(Run("TYPE s"), Simple("zset"));
}

TEST_P(SortedSetCommands, InfinitiesThatMeetGiveZero) {
  Run("ZADD a inf x");
  Run("ZADD b -inf x");
  EXPECT_THAT(Run("ZUNION 2 a b WITHSCORES"), Scored({{"x", 0}}));
  EXPECT_THAT(Run("ZINTER 1 a WEIGHTS 0 WITHSCORES"), Scored({{"x", 0}}));
}

TEST_P(SortedSetCommands, AlgebraRefusals) {
  const std::pair<const char*, const char*> kRefused[] = {
      {"ZUNION 0 a", "ERR at least 1 input key is needed for 'zunion' command"},
      {"ZINTERSTORE d 0 a", "ERR at least 1 input key is needed for 'zinterstore' command"},
      {"ZUNION x a", "ERR value is not an integer or out of range"},
      {"ZUNION 2 a", "ERR syntax error"},
      {"ZUNION 1 a WEIGHTS", "ERR syntax error"},
      {"ZUNION 1 a WEIGHTS x", "ERR weight value is not a float"},
      {"ZUNION 1 a AGGREGATE AVG", "ERR syntax error"},
      {"ZUNIONSTORE d 1 a WITHSCORES", "ERR syntax error"},
      {"ZDIFF 1 a WEIGHTS 1", "ERR syntax error"},
      {"ZINTERCARD 1 a LIMIT -1", "ERR LIMIT can't be negative"},
      {"ZINTERCARD 1 a LIMIT x", "ERR LIMIT can't be negative"},
      {"ZINTERCARD 1 a WITHSCORES", "ERR syntax error"},
  };
  for (const auto& [command, text] : kRefused) EXPECT_THAT(Run(command), Error(text)) << command;
}

TEST_P(SortedSetCommands, LargeAlgebra) {
  std::vector<std::string> even = {"ZADD", "even"}, third = {"ZADD", "third"};
  for (int i = 0; i < 3'000; ++i) {
    if (i % 2 == 0) even.insert(even.end(), {std::to_string(i), StrCat("m", i)});
    if (i % 3 == 0) third.insert(third.end(), {"1", StrCat("m", i)});
  }
  Run(even);
  Run(third);
  EXPECT_THAT(Run("ZUNIONSTORE u 2 even third"), Int(2'000));
  EXPECT_THAT(Run("ZINTERSTORE i 2 even third"), Int(500));
  EXPECT_THAT(Run("ZDIFFSTORE d 2 even third"), Int(1'000));
  EXPECT_THAT(Run("ZSCORE u m6"), Double(7));
  EXPECT_THAT(Run("ZRANK i m2994"), Int(499));
  EXPECT_THAT(Run("ZSCORE d m6"), Nil());
  EXPECT_THAT(Run("ZINTERCARD 2 u i LIMIT 77"), Int(77));
}

TEST_P(SortedSetCommands, EncodingFollowsTheLimits) {
  Run("CONFIG SET zset-max-listpack-entries 3 zset-max-listpack-value 5");
  Run("ZADD z 1 a 2 b 3 c");
  EXPECT_THAT(Run("OBJECT ENCODING z"), Bulk("listpack"));
  Run("ZADD z 4 d");
  EXPECT_THAT(Run("OBJECT ENCODING z"), Bulk("skiplist"));
  Run("ZREM z a b c");
  EXPECT_THAT(Run("OBJECT ENCODING z"), Bulk("skiplist"));
  Run("ZADD long 1 12345");
  EXPECT_THAT(Run("OBJECT ENCODING long"), Bulk("listpack"));
  Run("ZADD long 1 123456");
  EXPECT_THAT(Run("OBJECT ENCODING long"), Bulk("skiplist"));
  Run("ZADD same 1 a 1 a 1 a 1 a");
  EXPECT_THAT(Run("OBJECT ENCODING same"), Bulk("skiplist"));  // four pairs with one member
  EXPECT_THAT(Run("ZUNIONSTORE u 1 z"), Int(1));
  EXPECT_THAT(Run("OBJECT ENCODING u"), Bulk("listpack"));
  EXPECT_THAT(Run("COPY long copy"), Int(1));
  EXPECT_THAT(Run("ZRANGE copy 0 -1"), Bulks({"12345", "123456"}));
}

TEST_P(SortedSetCommands, OtherTypesAreRefused) {
  Run("SET s text");
  for (const char* command : {"ZADD s 1 a",      "ZINCRBY s 1 a",       "ZREM s a",
                              "ZCARD s",         "ZSCORE s a",          "ZMSCORE s a",
                              "ZRANK s a",       "ZCOUNT s 0 1",        "ZLEXCOUNT s - +",
                              "ZRANGE s 0 1",    "ZRANGESTORE d s 0 1", "ZREMRANGEBYRANK s 0 1",
                              "ZPOPMIN s",       "ZPOPMIN s 0",         "ZMPOP 2 none s MIN",
                              "ZRANDMEMBER s",   "ZRANDMEMBER s 2",     "ZSCAN s 0",
                              "ZUNION 2 none s", "ZINTERCARD 1 s"}) {
    EXPECT_THAT(Run(command), Error("WRONGTYPE Operation against a key holding the wrong kind of value")) << command;
  }
  EXPECT_THAT(Run("GET s"), Bulk("text"));
}

}  // namespace

}  // namespace respite
