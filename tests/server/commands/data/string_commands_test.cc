#include <string>

#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {

namespace {

class StringCommands : public CommandTest {};
INSTANTIATE_TEST_SUITE_P(Resp, StringCommands, BothVersions(), VersionName);

std::string StoredByStrings(const std::string& command) { return "0: " + command; }

TEST_P(StringCommands, SetHonoursItsConditions) {
  EXPECT_THAT(Run("SET k 1 XX"), Nil());
  EXPECT_THAT(Run("SET k 1 NX"), Ok());
  EXPECT_THAT(Run("SET k 2 NX"), Nil());
  EXPECT_THAT(Run("SET k 3 XX"), Ok());
  EXPECT_THAT(Run("SET k 4 NX XX"), Error("ERR syntax error"));
  EXPECT_THAT(Run("SET k 5 NX GET"), Bulk("3"));
  EXPECT_THAT(Run("SET fresh 1 GET"), Nil());
  EXPECT_THAT(Run("SETNX k 6"), Int(0));
  EXPECT_THAT(Run("SETNX other 6"), Int(1));
  EXPECT_THAT(Run("GETSET k 7"), Bulk("3"));
  EXPECT_THAT(Run("GET k"), Bulk("7"));
}

TEST_P(StringCommands, SetIfEqualComparesTheValue) {
  EXPECT_THAT(Run("SET k 1 IFEQ 1"), Nil());
  EXPECT_THAT(Run("EXISTS k"), Int(0));
  Run("SET k 10");
  EXPECT_THAT(Run("SET k b IFEQ 010"), Nil());
  EXPECT_THAT(Run("SET k b IFEQ 10"), Ok());
  EXPECT_THAT(Run("SET k c IFEQ x GET"), Bulk("b"));
  EXPECT_THAT(Run("SET k c GET IFEQ b"), Bulk("b"));
  EXPECT_THAT(Run("GET k"), Bulk("c"));
  EXPECT_THAT(Run("SET k d IFEQ c EX 10"), Ok());
  EXPECT_THAT(Run("SET k e KEEPTTL IFEQ d"), Ok());
  EXPECT_THAT(Run("TTL k"), Int(10));
  EXPECT_THAT(Run("SET k f IFEQ e"), Ok());
  EXPECT_THAT(Run("TTL k"), Int(-1));
}

TEST_P(StringCommands, SetIfEqualRefusals) {
  for (const char* options : {"IFEQ", "NX IFEQ v", "XX IFEQ v"})
    EXPECT_THAT(Run("SET k v " + std::string(options)), Error("ERR syntax error")) << options;
  Run("RPUSH list a");
  EXPECT_THAT(Run("SET list v IFEQ a"), ErrorStartsWith("WRONGTYPE"));
  EXPECT_THAT(Run("DELIFEQ list a"), ErrorStartsWith("WRONGTYPE"));
}

TEST_P(StringCommands, SetIfEqualIsJournaledWithoutItsCondition) {
  Run("SET k a");
  Run("SET k b IFEQ a");
  Run("SET k c IFEQ b KEEPTTL");
  Run("SET k d IFEQ c PXAT 1800000000000");
  Run("SET k e IFEQ c");
  EXPECT_THAT(Journaled(),
              testing::ElementsAre(StoredByStrings("SET k a"), StoredByStrings("SET k b"),
                                   StoredByStrings("SET k c KEEPTTL"), StoredByStrings("SET k d PXAT 1800000000000")));
}

TEST_P(StringCommands, DelIfEqualDeletesOnlyThatValue) {
  EXPECT_THAT(Run("DELIFEQ k a"), Int(0));
  Run("SET k 10");
  EXPECT_THAT(Run("DELIFEQ k 010"), Int(0));
  EXPECT_THAT(Run("DELIFEQ k 10"), Int(1));
  EXPECT_THAT(Run("EXISTS k"), Int(0));
  EXPECT_THAT(Journaled(), testing::ElementsAre(StoredByStrings("SET k 10"), StoredByStrings("DEL k")));
}

TEST_P(StringCommands, SetTakesOneKindOfExpiry) {
  for (const char* options :
       {"EX 10 PX 10", "KEEPTTL EX 10", "EX 10 KEEPTTL", "EXAT 5 PXAT 5", "EX", "PERSIST", "foo"}) {
    EXPECT_THAT(Run("SET k v " + std::string(options)), Error("ERR syntax error")) << options;
  }
  EXPECT_THAT(Run("SET k v EX 10 EX 20"), Ok());
  EXPECT_THAT(Run("TTL k"), Int(20));
  EXPECT_THAT(Run("SET k w KEEPTTL"), Ok());
  EXPECT_THAT(Run("TTL k"), Int(20));
  EXPECT_THAT(Run("SET k w"), Ok());
  EXPECT_THAT(Run("TTL k"), Int(-1));
  EXPECT_THAT(Run("SET k v PXAT 1700000005000"), Ok());
  EXPECT_THAT(Run("PTTL k"), Int(5000));
}

TEST_P(StringCommands, ExpiryMustBePositiveAndInRange) {
  const struct {
    const char* command;
    const char* name;
  } kRefused[] = {
      {"SET k v EX 0", "set"},
      {"SET k v PX -1", "set"},
      {"SET k v EX 9223372036854775807", "set"},
      {"SET k v PX 9223372036854775807", "set"},
      {"SETEX k 0 v", "setex"},
      {"SETEX k 9223372036854775 v", "setex"},
      {"PSETEX k -5 v", "psetex"},
  };
  for (const auto& refused : kRefused) {
    EXPECT_THAT(Run(refused.command), Error("ERR invalid expire time in '" + std::string(refused.name) + "' command"))
        << refused.command;
  }
  EXPECT_THAT(Run("SET k v EX x"), Error("ERR value is not an integer or out of range"));
  EXPECT_THAT(Run("EXISTS k"), Int(0));
}

TEST_P(StringCommands, DeadlinesAreJournaledAsTimes) {
  Run("SET k v EX 10");
  Run("SETEX k 20 v");
  Run("GETEX k PX 500");
  Run("GETEX k PERSIST");
  Run("GETEX k PERSIST");
  Run("SET k w GET");
  Run("GETDEL k");
  Run("GETDEL k");
  EXPECT_THAT(Journaled(),
              testing::ElementsAre(StoredByStrings(StrCat("SET k v PXAT ", kStartMs + 10'000)),
                                   StoredByStrings(StrCat("SET k v PXAT ", kStartMs + 20'000)),
                                   StoredByStrings(StrCat("PEXPIREAT k ", kStartMs + 500)),
                                   StoredByStrings("PERSIST k"), StoredByStrings("SET k w"), StoredByStrings("DEL k")));
}

TEST_P(StringCommands, AnExpiredKeyIsGone) {
  Run("SET k v PX 100");
  clock().AdvanceMs(99);
  EXPECT_THAT(Run("GET k"), Bulk("v"));
  clock().AdvanceMs(2);
  EXPECT_THAT(Run("GET k"), Nil());
  EXPECT_THAT(Journaled().back(), StoredByStrings("DEL k"));
}

TEST_P(StringCommands, GetExDeletesWhenTheTimeHasPassed) {
  Run("SET k v");
  EXPECT_THAT(Run("GETEX k KEEPTTL"), Error("ERR syntax error"));
  EXPECT_THAT(Run("GETEX k EX 0"), Error("ERR invalid expire time in 'getex' command"));
  EXPECT_THAT(Run("GETEX nokey EX 0"), Nil());
  EXPECT_THAT(Run("GETEX k EXAT 1"), Bulk("v"));
  EXPECT_THAT(Run("EXISTS k"), Int(0));
  EXPECT_THAT(Journaled().back(), StoredByStrings("DEL k"));
}

TEST_P(StringCommands, EncodingFollowsTheValue) {
  const auto encoding_of = [this](const std::string& value) {
    Run({"SET", "k", value});
    return Run("OBJECT ENCODING k").Text();
  };
  EXPECT_EQ(encoding_of("9223372036854775807"), "int");
  EXPECT_EQ(encoding_of("9223372036854775808"), "embstr");
  EXPECT_EQ(encoding_of("01"), "embstr");
  EXPECT_EQ(encoding_of(std::string(44, 'x')), "embstr");
  EXPECT_EQ(encoding_of(std::string(45, 'x')), "raw");
  EXPECT_EQ(encoding_of(std::string(100'000, 'x')), "raw");
}

TEST_P(StringCommands, AppendGrowsThroughEveryForm) {
  std::string expected = "12";
  EXPECT_THAT(Run("APPEND k 12"), Int(2));
  EXPECT_THAT(Run("OBJECT ENCODING k"), Bulk("int"));
  for (size_t step : {1u, 1u, 40u, 100u, 1000u, 3000u, 1u, 5000u, 1u, 70'000u, 1u}) {
    const std::string suffix(step, static_cast<char>('a' + step % 26));
    expected += suffix;
    EXPECT_THAT(Run({"APPEND", "k", suffix}), Int(static_cast<int64_t>(expected.size())));
    EXPECT_THAT(Run("GET k"), Bulk(expected));
    EXPECT_THAT(Run("OBJECT ENCODING k"), Bulk("raw"));
  }
}

TEST_P(StringCommands, ACopyIsNotChangedWithTheOriginal) {
  for (size_t size : {10u, 1000u, 50'000u}) {
    const std::string text(size, 'x');
    Run({"SET", "k", text});
    Run("COPY k copy REPLACE");
    Run("APPEND k y");
    Run("SETRANGE k 0 z");
    EXPECT_THAT(Run("GET copy"), Bulk(text));
    EXPECT_THAT(Run("GET k"), Bulk("z" + text.substr(1) + "y"));
  }
}

TEST_P(StringCommands, SetRangePadsWithZeros) {
  EXPECT_THAT(Run({"SETRANGE", "k", "3", ""}), Int(0));
  EXPECT_THAT(Run("EXISTS k"), Int(0));
  EXPECT_THAT(Run("SETRANGE k 3 ab"), Int(5));
  EXPECT_THAT(Run("GET k"), Bulk(std::string("\0\0\0ab", 5)));
  EXPECT_THAT(Run("SETRANGE k 1 xy"), Int(5));
  EXPECT_THAT(Run("GET k"), Bulk(std::string("\0xyab", 5)));
  EXPECT_THAT(Run("SETRANGE k -1 x"), Error("ERR offset is out of range"));
  EXPECT_THAT(Run("SETRANGE k 536870912 x"), Error("ERR string exceeds maximum allowed size (proto-max-bulk-len)"));
  EXPECT_THAT(Run("SETRANGE k 9223372036854775807 x"),
              Error("ERR string exceeds maximum allowed size (proto-max-bulk-len)"));
}

TEST_P(StringCommands, GetRangeClampsItsOffsets) {
  Run("SET k HelloWorld");
  const struct {
    const char* range;
    const char* part;
  } kParts[] = {
      {"0 -1", "HelloWorld"},
      {"0 4", "Hello"},
      {"-5 -1", "World"},
      {"-1 -5", ""},
      {"-100 2", "Hel"},
      {"5 100", "World"},
      {"100 200", ""},
      {"-100 -50", "H"},
      {"3 1", ""},
      {"-9223372036854775808 9223372036854775807", "HelloWorld"},
  };
  for (const auto& row : kParts) {
    EXPECT_THAT(Run("GETRANGE k " + std::string(row.range)), Bulk(row.part)) << row.range;
    EXPECT_THAT(Run("SUBSTR k " + std::string(row.range)), Bulk(row.part)) << row.range;
  }
  EXPECT_THAT(Run("GETRANGE nokey 0 1"), Bulk(""));
}

TEST_P(StringCommands, MSetNxStoresAllOrNothing) {
  EXPECT_THAT(Run("MSET a 1 b"), Error("ERR wrong number of arguments for 'mset' command"));
  EXPECT_THAT(Run("MSET a 1 b 2 a 3"), Ok());
  EXPECT_THAT(Run("MSETNX c 1 a 2"), Int(0));
  EXPECT_THAT(Run("MGET a b c"), ArrayOf(Bulk("3"), Bulk("2"), Nil()));
  EXPECT_THAT(Run("MSETNX c 1 c 2 d 3"), Int(1));
  EXPECT_THAT(Run("MGET c d"), Bulks({"2", "3"}));
}

TEST_P(StringCommands, CountersRefuseWhatIsNoIntegerOrOverflows) {
  EXPECT_THAT(Run("INCR n"), Int(1));
  EXPECT_THAT(Run("INCRBY n 41"), Int(42));
  EXPECT_THAT(Run("DECRBY n 2"), Int(40));
  EXPECT_THAT(Run("DECR n"), Int(39));
  EXPECT_THAT(Run("DECRBY n -9223372036854775808"), Error("ERR decrement would overflow"));
  Run("SET n 9223372036854775807");
  EXPECT_THAT(Run("INCR n"), Error("ERR increment or decrement would overflow"));
  EXPECT_THAT(Run("GET n"), Bulk("9223372036854775807"));
  for (const char* text : {"abc", "01", "1.5", "\" 1\"", "9223372036854775808"}) {
    Run("SET n " + std::string(text));
    EXPECT_THAT(Run("INCR n"), Error("ERR value is not an integer or out of range")) << text;
  }
}

TEST_P(StringCommands, IncrKeepsTheDeadline) {
  Run("SET n 5 EX 100");
  Run("INCR n");
  Run("INCRBYFLOAT n 0.5");
  EXPECT_THAT(Run("TTL n"), Int(100));
  EXPECT_THAT(Run("GET n"), Bulk("6.5"));
  EXPECT_THAT(Journaled().back(), StoredByStrings("SET n 6.5 KEEPTTL"));
}

TEST_P(StringCommands, IncrByFloatRefusesWhatIsNoNumber) {
  EXPECT_THAT(Run("INCRBYFLOAT f 3.0e3"), Bulk("3000"));
  EXPECT_THAT(Run("INCRBYFLOAT f x"), Error("ERR value is not a valid float"));
  EXPECT_THAT(Run("INCRBYFLOAT f inf"), Error("ERR increment would produce NaN or Infinity"));
  Run("SET f abc");
  EXPECT_THAT(Run("INCRBYFLOAT f 1"), Error("ERR value is not a valid float"));
}

TEST_P(StringCommands, LcsFindsTextLengthAndMatches) {
  Run("MSET a ohmytext b mynewtext");
  EXPECT_THAT(Run("LCS a b"), Bulk("mytext"));
  EXPECT_THAT(Run("LCS a b LEN"), Int(6));
  EXPECT_THAT(Run("LCS a nokey"), Bulk(""));
  const auto match = [](int64_t a_first, int64_t a_last, int64_t b_first, int64_t b_last) {
    return ArrayOf(ArrayOf(Int(a_first), Int(a_last)), ArrayOf(Int(b_first), Int(b_last)));
  };
  EXPECT_THAT(Run("LCS a b IDX"),
              MapOf({{Bulk("matches"), ArrayOf(match(4, 7, 5, 8), match(2, 3, 0, 1))}, {Bulk("len"), Int(6)}}));
  EXPECT_THAT(Run("LCS a b IDX MINMATCHLEN 4"),
              MapOf({{Bulk("matches"), ArrayOf(match(4, 7, 5, 8))}, {Bulk("len"), Int(6)}}));
  EXPECT_THAT(Run("LCS a b LEN IDX"), Error("ERR If you want both the length and indexes, please just use IDX."));
}

TEST_P(StringCommands, LcsRefusesATableBeyondTheLimit) {
  const std::string text(20'000, 'x');
  Run({"MSET", "a", text, "b", text});
  EXPECT_THAT(Run("LCS a b LEN"),
              Error("ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len"));
}

TEST_P(StringCommands, ReadsCountHitsAndMisses) {
  const KeyspaceStats& stats = server()->services().data.dataset.stats;
  Run("SET k 1");
  Run("INCR k");
  EXPECT_EQ(stats.hits + stats.misses, 0u);
  for (const char* read : {"GET k", "GETEX k", "STRLEN k", "GETRANGE k 0 1", "SET k 2 GET", "GETSET k 3"}) {
    const uint64_t before = stats.hits;
    Run(read);
    EXPECT_EQ(stats.hits, before + 1) << read;
  }
  Run("MGET k nokey");
  EXPECT_EQ(stats.misses, 1u);
}

}  // namespace

}  // namespace respite
