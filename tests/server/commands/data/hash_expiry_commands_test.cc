#include <string>

#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {

namespace {

using testing::AllOf;
using testing::ElementsAre;

std::string Ms(int64_t after_start_ms) { return std::to_string(kStartMs + after_start_ms); }

// Each test runs on a packed hash and on a table.
class HashExpiryCommands : public CommandTest {
 protected:
  void ForBothForms(const std::function<void()>& test) {
    for (const char* entries : {"512", "0"}) {
      SCOPED_TRACE(std::string("hash-max-listpack-entries ") + entries);
      Run("FLUSHALL");
      Run({"CONFIG", "SET", "hash-max-listpack-entries", entries});
      journaled_before_ = server().journal().Records().size();
      test();
    }
  }
  std::vector<std::string> NewlyJournaled() {
    auto lines = Journaled();
    lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(journaled_before_));
    journaled_before_ += lines.size();
    return lines;
  }
  std::string KeyspaceInfo() { return Run("INFO keyspace").Text(); }

 private:
  size_t journaled_before_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Resp, HashExpiryCommands, BothVersions(), VersionName);

ReplyMatcher Ints(std::vector<int64_t> values) {
  ReplyMatchers matchers;
  for (int64_t value : values) matchers.push_back(Int(value));
  return ArrayOf(matchers);
}

TEST_P(HashExpiryCommands, FieldsExpire) {
  ForBothForms([&] {
    Run("HSET h a 1 b 2 c 3");
    EXPECT_THAT(Run("HPEXPIRE h 500 FIELDS 3 a b none"), Ints({1, 1, -2}));
    EXPECT_THAT(Run("HPTTL h FIELDS 4 a b c none"), Ints({500, 500, -1, -2}));
    EXPECT_THAT(Run("HTTL h FIELDS 1 a"), Ints({1}));
    clock().AdvanceMs(500);
    EXPECT_THAT(Run("HLEN h"), Int(3));
    clock().AdvanceMs(1);
    EXPECT_THAT(Run("HGET h a"), Nil());
    EXPECT_THAT(Run("HMGET h a b c"), ArrayOf(Nil(), Nil(), Bulk("3")));
    EXPECT_THAT(Run("HLEN h"), Int(1));
    EXPECT_THAT(Run("HGETALL h"), MapOf({{Bulk("c"), Bulk("3")}}));
    EXPECT_THAT(Run("HPTTL h FIELDS 2 a c"), Ints({-2, -1}));
  });
}

TEST_P(HashExpiryCommands, TheEncodingSaysSo) {
  Run("HSET h a 1");
  Run("HEXPIRE h 100 FIELDS 1 a");
  EXPECT_THAT(Run("OBJECT ENCODING h"), Bulk("listpackex"));
  for (int i = 0; i < 600; ++i) Run({"HSET", "h", std::to_string(i), "v"});
  EXPECT_THAT(Run("OBJECT ENCODING h"), Bulk("hashtable"));
  EXPECT_THAT(Run("HTTL h FIELDS 2 a 1"), Ints({100, -1}));
}

TEST_P(HashExpiryCommands, TimesOfEveryKind) {
  ForBothForms([&] {
    Run("HSET h a 1 b 2 c 3 d 4");
    const int64_t now_s = now_ms() / 1000;
    EXPECT_THAT(Run("HEXPIRE h 10 FIELDS 1 a"), Ints({1}));
    EXPECT_THAT(Run(StrCat("HEXPIREAT h ", now_s + 20, " FIELDS 1 b")), Ints({1}));
    EXPECT_THAT(Run(StrCat("HPEXPIREAT h ", now_ms() + 1, " FIELDS 1 c")), Ints({1}));
    EXPECT_THAT(Run("HTTL h FIELDS 4 a b c d"), Ints({10, 20, 1, -1}));
    EXPECT_THAT(Run("HEXPIRETIME h FIELDS 2 b d"), Ints({now_s + 20, -1}));
    EXPECT_THAT(Run("HPEXPIRETIME h FIELDS 2 c none"), Ints({now_ms() + 1, -2}));
    EXPECT_THAT(Run("HEXPIRE none 10 FIELDS 2 a b"), Ints({-2, -2}));
    EXPECT_THAT(Run("HTTL none FIELDS 2 a b"), Ints({-2, -2}));
  });
}

TEST_P(HashExpiryCommands, Conditions) {
  ForBothForms([&] {
    Run("HSET h a 1 b 2");
    EXPECT_THAT(Run("HEXPIRE h 100 XX FIELDS 1 a"), Ints({0}));
    EXPECT_THAT(Run("HEXPIRE h 100 GT FIELDS 1 a"), Ints({0}));
    EXPECT_THAT(Run("HEXPIRE h 100 NX FIELDS 1 a"), Ints({1}));
    EXPECT_THAT(Run("HEXPIRE h 200 NX FIELDS 2 a b"), Ints({0, 1}));
    EXPECT_THAT(Run("HEXPIRE h 100 GT FIELDS 2 a b"), Ints({0, 0}));
    EXPECT_THAT(Run("HEXPIRE h 150 gt FIELDS 2 a b"), Ints({1, 0}));
    EXPECT_THAT(Run("HEXPIRE h 160 LT FIELDS 2 a b"), Ints({0, 1}));
    EXPECT_THAT(Run("HEXPIRE h 170 XX FIELDS 2 a b"), Ints({1, 1}));
    Run("HPERSIST h FIELDS 1 a");
    EXPECT_THAT(Run("HEXPIRE h 170 LT FIELDS 1 a"), Ints({1}));
    EXPECT_THAT(Run("HEXPIRE h 0 GT FIELDS 1 a"), Ints({0}));
  });
}

TEST_P(HashExpiryCommands, APastTimeDeletes) {
  ForBothForms([&] {
    Run("HSET h a 1 b 2 c 3");
    EXPECT_THAT(Run("HEXPIRE h 0 FIELDS 2 a a"), Ints({2, -2}));
    EXPECT_THAT(Run("HPEXPIREAT h 1 FIELDS 1 b"), Ints({2}));
    EXPECT_THAT(Run("HKEYS h"), Bulks({"c"}));
    EXPECT_THAT(Run("HPEXPIREAT h 1 FIELDS 1 c"), Ints({2}));
    EXPECT_THAT(Run("EXISTS h"), Int(0));
    EXPECT_THAT(NewlyJournaled(), ElementsAre("0: HSET h a 1 b 2 c 3", "0: HDEL h a", "0: HDEL h b", "0: HDEL h c"));
  });
}

TEST_P(HashExpiryCommands, JournaledAsTimes) {
  ForBothForms([&] {
    const int64_t passed_ms = now_ms() - kStartMs;
    Run("HSET h a 1 b 2 c 3");
    Run("HEXPIRE h 10 NX FIELDS 3 a none b");
    Run("HEXPIRE h 10 NX FIELDS 1 a");
    Run("HPERSIST h FIELDS 2 a c");
    Run("HPERSIST h FIELDS 1 a");
    EXPECT_THAT(NewlyJournaled(),
                ElementsAre("0: HSET h a 1 b 2 c 3", "0: HPEXPIREAT h " + Ms(passed_ms + 10'000) + " FIELDS 2 a b",
                            "0: HPERSIST h FIELDS 1 a"));
  });
}

TEST_P(HashExpiryCommands, PersistRemovesTheDeadline) {
  ForBothForms([&] {
    Run("HSET h a 1 b 2");
    Run("HEXPIRE h 10 FIELDS 1 a");
    EXPECT_THAT(KeyspaceInfo(), testing::HasSubstr("subexpiry=1"));
    EXPECT_THAT(Run("HPERSIST h FIELDS 3 a b none"), Ints({1, -1, -2}));
    EXPECT_THAT(Run("HPERSIST none FIELDS 1 a"), Ints({-2}));
    EXPECT_THAT(KeyspaceInfo(), testing::Not(testing::HasSubstr("subexpiry")));
    clock().AdvanceMs(20'000);
    EXPECT_THAT(Run("HLEN h"), Int(2));
  });
}

TEST_P(HashExpiryCommands, SettingRemovesTheDeadlineAndCountingKeepsIt) {
  ForBothForms([&] {
    Run("HSET h a 1 b 2 c 3");
    Run("HEXPIRE h 10 FIELDS 3 a b c");
    Run("HSET h a 1");
    Run("HINCRBY h b 5");
    Run("HINCRBYFLOAT h c 0.5");
    EXPECT_THAT(Run("HTTL h FIELDS 3 a b c"), Ints({-1, 10, 10}));
    EXPECT_THAT(Run("HMGET h a b c"), Bulks({"1", "7", "3.5"}));
    const std::vector<std::string> lines = NewlyJournaled();
    EXPECT_EQ(lines[lines.size() - 2], "0: HSET h c 3.5");
    EXPECT_EQ(lines.back(), "0: HPEXPIREAT h " + Ms(now_ms() - kStartMs + 10'000) + " FIELDS 1 c");
  });
}

TEST_P(HashExpiryCommands, AReadLeavesTheExpiredToTheUnit) {
  ForBothForms([&] {
    Run("HSET h a 1 b 2 c 3");
    Run("HPEXPIRE h 100 FIELDS 2 a b");
    NewlyJournaled();
    clock().AdvanceMs(101);
    EXPECT_THAT(Run("HEXISTS h a"), Int(0));
    const auto lines = NewlyJournaled();
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_THAT(lines[0], testing::AnyOf("0: HDEL h a b", "0: HDEL h b a"));
    EXPECT_THAT(KeyspaceInfo(), testing::Not(testing::HasSubstr("subexpiry")));
  });
}

TEST_P(HashExpiryCommands, AWritePurgesFirst) {
  ForBothForms([&] {
    Run("HSET h a 1 b 2");
    Run("HPEXPIRE h 100 FIELDS 1 a");
    NewlyJournaled();
    clock().AdvanceMs(101);
    EXPECT_THAT(Run("HSETNX h a again"), Int(1));
    EXPECT_THAT(NewlyJournaled(), ElementsAre("0: HDEL h a", "0: HSETNX h a again"));
    Run("HPEXPIRE h 100 FIELDS 1 a");
    NewlyJournaled();
    clock().AdvanceMs(101);
    EXPECT_THAT(Run("HINCRBY h a 5"), Int(5));
    EXPECT_THAT(Run("HDEL h a"), Int(1));
    EXPECT_THAT(NewlyJournaled(), ElementsAre("0: HDEL h a", "0: HINCRBY h a 5", "0: HDEL h a"));
  });
}

TEST_P(HashExpiryCommands, AHashOfExpiredFieldsIsAbsent) {
  ForBothForms([&] {
    const auto expire_all = [&] {
      Run("DEL h");
      Run("HSET h a 1 b 2");
      Run("HPEXPIRE h 100 FIELDS 2 a b");
      clock().AdvanceMs(101);
    };
    for (const char* read : {"EXISTS h", "HLEN h", "DEL h", "COPY h other"}) {
      expire_all();
      EXPECT_THAT(Run(read), Int(0)) << read;
      EXPECT_THAT(Run("DBSIZE"), Int(0));
    }
    expire_all();
    EXPECT_THAT(Run("TYPE h"), Simple("none"));
    expire_all();
    EXPECT_THAT(Run("RENAME h other"), Error("ERR no such key"));
    expire_all();
    EXPECT_THAT(Run("SCAN 0"), ArrayOf(Bulk("0"), EmptyArray()));
    expire_all();
    EXPECT_THAT(Run("KEYS *"), EmptyArray());
    expire_all();
    NewlyJournaled();
    EXPECT_THAT(Run("HSET h c 3"), Int(1));
    EXPECT_THAT(NewlyJournaled(), ElementsAre("0: DEL h", "0: HSET h c 3"));
  });
}

TEST_P(HashExpiryCommands, WalksAndChancePassOverTheExpired) {
  ForBothForms([&] {
    Run("HSET h a 1 b 2 c 3");
    Run("HPEXPIRE h 100 FIELDS 2 a b");
    clock().AdvanceMs(101);
    Run("CLIENT PAUSE 1000 WRITE");  // keeps expired fields
    for (int i = 0; i < 20; ++i) EXPECT_THAT(Run("HRANDFIELD h"), Bulk("c"));
    EXPECT_THAT(Run("HRANDFIELD h 3"), Bulks({"c"}));
    EXPECT_THAT(Run("HRANDFIELD h -2"), Bulks({"c", "c"}));
    EXPECT_THAT(Run("HSCAN h 0"), ArrayOf(Bulk("0"), Bulks({"c", "3"})));
    EXPECT_THAT(Run("HKEYS h"), Bulks({"c"}));
    EXPECT_THAT(Run("HVALS h"), Bulks({"3"}));
    EXPECT_THAT(Run("HSTRLEN h a"), Int(0));
    EXPECT_THAT(KeyspaceInfo(), testing::HasSubstr("subexpiry=1"));
    Run("CLIENT UNPAUSE");
    EXPECT_THAT(Run("HLEN h"), Int(1));
    EXPECT_THAT(KeyspaceInfo(), testing::Not(testing::HasSubstr("subexpiry")));
  });
}

TEST_P(HashExpiryCommands, TheCycleRemovesThem) {
  ForBothForms([&] {
    for (int i = 0; i < 200; ++i) {
      const std::string key = StrCat("h", i);
      Run({"HSET", key, "a", "1", "b", "2"});
      Run({"HPEXPIRE", key, "100", "FIELDS", "1", "a"});
      if (i % 2 == 0) Run({"HPEXPIRE", key, "100", "FIELDS", "1", "b"});
    }
    EXPECT_THAT(KeyspaceInfo(), AllOf(testing::HasSubstr("keys=200"), testing::HasSubstr("subexpiry=200")));
    clock().AdvanceMs(101);
    server().RunCronFor(2000);
    EXPECT_THAT(KeyspaceInfo(), AllOf(testing::HasSubstr("keys=100"), testing::Not(testing::HasSubstr("subexpiry"))));
  });
}

TEST_P(HashExpiryCommands, TheCycleWorksOffALargeHash) {
  SkipReplayCheck("saves the time to repeat so many writes");
  for (int i = 0; i < 5000; ++i) {
    const std::string field = StrCat("f", i);
    Run({"HSETEX", "h", "PX", "100", "FIELDS", "1", field, "v"});
  }
  Run("HSET h stays v");
  clock().AdvanceMs(101);
  server().RunCronFor(3000);
  EXPECT_THAT(KeyspaceInfo(), testing::Not(testing::HasSubstr("subexpiry")));
  EXPECT_THAT(Run("HGETALL h"), MapOf({{Bulk("stays"), Bulk("v")}}));
}

TEST_P(HashExpiryCommands, DeadlinesMoveWithTheHash) {
  ForBothForms([&] {
    Run("HSET h a 1 b 2");
    Run("HEXPIRE h 100 FIELDS 1 a");
    EXPECT_THAT(Run("COPY h copy"), Int(1));
    EXPECT_THAT(Run("RENAME h renamed"), Ok());
    EXPECT_THAT(KeyspaceInfo(), testing::HasSubstr("subexpiry=2"));
    EXPECT_THAT(Run("MOVE renamed 1"), Int(1));
    EXPECT_THAT(KeyspaceInfo(), testing::HasSubstr("db1:keys=1,expires=0,avg_ttl=0,subexpiry=1"));
    EXPECT_THAT(Run("HTTL copy FIELDS 2 a b"), Ints({100, -1}));
    EXPECT_THAT(Run("SET copy text"), Ok());
    EXPECT_THAT(KeyspaceInfo(), testing::HasSubstr("db0:keys=1,expires=0,avg_ttl=0\r\n"));
    Run("SELECT 1");
    clock().AdvanceMs(100'001);
    EXPECT_THAT(Run("HGETALL renamed"), MapOf({{Bulk("b"), Bulk("2")}}));
    Run("SELECT 0");
  });
}

TEST_P(HashExpiryCommands, WordsInTheWrongPlace) {
  const struct {
    const char* command;
    const char* error;
  } kRefused[] = {
      {"HEXPIRE h 10 NX FIELD 1 a", "ERR Mandatory argument FIELDS is missing or not at the right position"},
      {"HEXPIRE h 10 a FIELDS 1 a", "ERR Mandatory argument FIELDS is missing or not at the right position"},
      {"HTTL h FIELD 1 a", "ERR Mandatory argument FIELDS is missing or not at the right position"},
      {"HEXPIRE h 10 FIELDS 0 a", "ERR Parameter `numFields` should be greater than 0"},
      {"HEXPIRE h 10 FIELDS x a", "ERR Parameter `numFields` should be greater than 0"},
      {"HPERSIST h FIELDS 0 a", "ERR Number of fields must be a positive integer"},
      {"HEXPIRE h 10 FIELDS 2 a", "ERR The `numfields` parameter must match the number of arguments"},
      {"HEXPIRE h 10 FIELDS 1 a b", "ERR The `numfields` parameter must match the number of arguments"},
      {"HTTL h FIELDS 9223372036854775807 a", "ERR The `numfields` parameter must match the number of arguments"},
      {"HEXPIRE h x FIELDS 1 a", "ERR value is not an integer or out of range"},
      {"HEXPIRE h -1 FIELDS 1 a", "ERR invalid expire time, must be >= 0"},
      {"HEXPIRE h 9223372036854775807 FIELDS 1 a", "ERR invalid expire time in 'hexpire' command"},
      {"HPEXPIREAT h 70368744177664 FIELDS 1 a", "ERR invalid expire time in 'hpexpireat' command"},
      {"HSETEX h EX 1 PX 1 FIELDS 1 a 1", "ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified"},
      {"HSETEX h FNX FXX FIELDS 1 a 1", "ERR Only one of FXX or FNX arguments can be specified"},
      {"HSETEX h NX XX FIELDS 1 a 1", "ERR syntax error"},
      {"HSETEX h FIELDS 1 a", "ERR wrong number of arguments for 'hsetex' command"},
      {"HSETEX h FIELDS 2 a 1 b", "ERR wrong number of arguments for 'hsetex' command"},
      {"HSETEX h FIELDS 1 a 1 b 2", "ERR wrong number of arguments for 'hsetex' command"},
      {"HSETEX h FIELDS 0 a 1", "ERR invalid number of fields"},
      {"HSETEX h FIELDS x a 1", "ERR invalid number of fields"},
      {"HSETEX h FIELDS 2147483648 a 1", "ERR invalid number of fields"},
      {"HGETEX h EX 1 PERSIST FIELDS 1 a", "ERR Mandatory argument FIELDS is missing or not at the right position"},
      {"HGETEX h EX -1 FIELDS 1 a", "ERR invalid expire time, must be >= 0"},
  };
  Run("HSET h a 1");
  for (const auto& refused : kRefused) EXPECT_THAT(Run(refused.command), Error(refused.error)) << refused.command;
  Run("SET s x");
  for (const char* command : {"HEXPIRE s x FIELDS 1 a", "HTTL s FIELDS 1 a", "HPERSIST s FIELDS 1 a",
                              "HGETDEL s FIELDS 1 a", "HGETEX s FIELDS 1 a", "HSETEX s FIELDS 1 a 1"}) {
    EXPECT_THAT(Run(command), ErrorStartsWith("WRONGTYPE")) << command;
  }
  EXPECT_THAT(Run("HTTL h FIELDS 1 a"), Ints({-1}));
}

TEST_P(HashExpiryCommands, GetDel) {
  ForBothForms([&] {
    Run("HSET h a 1 b 2 c 3");
    EXPECT_THAT(Run("HGETDEL h FIELDS 3 a none a"), ArrayOf(Bulk("1"), Nil(), Nil()));
    EXPECT_THAT(Run("HGETDEL h FIELDS 2 b c"), Bulks({"2", "3"}));
    EXPECT_THAT(Run("EXISTS h"), Int(0));
    EXPECT_THAT(Run("HGETDEL h FIELDS 1 b"), ArrayOf(Nil()));
    EXPECT_THAT(NewlyJournaled(), ElementsAre("0: HSET h a 1 b 2 c 3", "0: HDEL h a", "0: HDEL h b c"));
  });
}

TEST_P(HashExpiryCommands, GetEx) {
  ForBothForms([&] {
    Run("HSET h a 1 b 2");
    NewlyJournaled();
    EXPECT_THAT(Run("HGETEX h FIELDS 2 a none"), ArrayOf(Bulk("1"), Nil()));
    EXPECT_THAT(Run("HGETEX h EX 10 FIELDS 2 a b"), Bulks({"1", "2"}));
    EXPECT_THAT(Run("HTTL h FIELDS 2 a b"), Ints({10, 10}));
    EXPECT_THAT(Run("HGETEX h PERSIST FIELDS 1 a"), Bulks({"1"}));
    EXPECT_THAT(Run("HTTL h FIELDS 2 a b"), Ints({-1, 10}));
    EXPECT_THAT(Run("HGETEX h PXAT 1 FIELDS 1 a"), Bulks({"1"}));
    EXPECT_THAT(Run("HKEYS h"), Bulks({"b"}));
    EXPECT_THAT(Run("HGETEX none EX 10 FIELDS 1 a"), ArrayOf(Nil()));
    EXPECT_THAT(NewlyJournaled(), ElementsAre("0: HPEXPIREAT h " + Ms(now_ms() - kStartMs + 10'000) + " FIELDS 2 a b",
                                              "0: HPERSIST h FIELDS 1 a", "0: HDEL h a"));
  });
}

// As in Redis 8, where each field is set and then deleted.
TEST_P(HashExpiryCommands, SetExWithAPastDeadlineMakesAFullHashATable) {
  Run("CONFIG SET hash-max-listpack-entries 2");
  Run("HSET h a 1 b 2");
  EXPECT_THAT(Run("HSETEX h EXAT 1 FIELDS 2 a 3 c 4"), Int(1));
  EXPECT_THAT(Run("OBJECT ENCODING h"), Bulk("listpackex"));
  Run("HSET h a 1");
  EXPECT_THAT(Run("HSETEX h EXAT 1 FIELDS 1 c 4"), Int(1));
  EXPECT_THAT(Run("OBJECT ENCODING h"), Bulk("hashtable"));
  EXPECT_THAT(Run("HLEN h"), Int(2));
}

TEST_P(HashExpiryCommands, SetEx) {
  ForBothForms([&] {
    const std::string deadline = Ms(now_ms() - kStartMs + 10'000);
    EXPECT_THAT(Run("HSETEX h FXX FIELDS 1 a 1"), Int(0));
    EXPECT_THAT(Run("EXISTS h"), Int(0));
    EXPECT_THAT(Run("HSETEX h FNX EX 10 FIELDS 2 a 1 b 2"), Int(1));
    EXPECT_THAT(Run("HSETEX h FNX FIELDS 2 a 3 c 3"), Int(0));
    EXPECT_THAT(Run("HSETEX h FXX KEEPTTL FIELDS 1 a 4"), Int(1));
    EXPECT_THAT(Run("HSETEX h FXX FIELDS 2 a 5 c 5"), Int(0));
    EXPECT_THAT(Run("HSETEX h NX FIELDS 1 d 6"), Int(0));
    EXPECT_THAT(Run("HSETEX none XX FIELDS 1 d 6"), Int(0));
    EXPECT_THAT(Run("EXISTS none"), Int(0));
    EXPECT_THAT(Run("HSETEX h XX XX FXX KEEPTTL FIELDS 1 a 4"), Int(1));
    EXPECT_THAT(Run("HSETEX h XX FNX FIELDS 1 a 5"), Int(0));
    EXPECT_THAT(Run("HSETEX other NX FNX FIELDS 1 a 1"), Int(1));
    Run("DEL other");
    EXPECT_THAT(Run("HSETEX h FIELDS 1 b 6"), Int(1));
    EXPECT_THAT(Run("HTTL h FIELDS 2 a b"), Ints({10, -1}));
    EXPECT_THAT(Run("HMGET h a b c"), ArrayOf(Bulk("4"), Bulk("6"), Nil()));
    EXPECT_THAT(Run("HSETEX h PXAT 1 FIELDS 2 a 7 d 7"), Int(1));
    EXPECT_THAT(Run("HKEYS h"), Bulks({"b"}));
    EXPECT_THAT(Run("HSETEX none PXAT 1 FIELDS 1 a 7"), Int(1));
    EXPECT_THAT(Run("EXISTS none"), Int(0));
    EXPECT_THAT(NewlyJournaled(),
                ElementsAre("0: HSET h a 1 b 2", StrCat("0: HPEXPIREAT h ", deadline, " FIELDS 2 a b"), "0: HSET h a 4",
                            StrCat("0: HPEXPIREAT h ", deadline, " FIELDS 1 a"), "0: HSET h a 4",
                            StrCat("0: HPEXPIREAT h ", deadline, " FIELDS 1 a"), "0: HSET other a 1", "0: DEL other",
                            "0: HSET h b 6", "0: HDEL h a d", "0: HDEL none a"));
  });
}

}  // namespace
}  // namespace respite
