// The commands of arrays. Replies follow the documentation of Redis 8.8 and its error texts.
#include <algorithm>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {
namespace {

class ArrayCommands : public CommandTest {
 protected:
  ArrayCommands() : CommandTest({"enable-debug-command yes"}) {}

  std::vector<std::string> Range(Bytes start, Bytes end) {
    std::vector<std::string> texts;
    const TestReply reply = Run({"ARGETRANGE", "a", start, end});
    for (size_t i = 0; i < reply.Size(); ++i) texts.push_back(Matches(reply[i], Nil()) ? "-" : reply[i].Text());
    return texts;
  }
  // Returns a field of the reply to ARINFO.
  TestReply Field(Bytes line, Bytes name) {
    const TestReply info = Run(line);
    for (size_t i = 0; i + 1 < info.Size(); i += 2)
      if (info[i].Text() == name) return info[i + 1];
    ADD_FAILURE() << line << " has no field " << name;
    return {};
  }

 private:
  static bool Matches(const TestReply& reply, const ReplyMatcher& matcher) {
    return testing::Matches(testing::Matcher<const TestReply&>(matcher))(reply);
  }
};
INSTANTIATE_TEST_SUITE_P(Resp, ArrayCommands, BothVersions(), VersionName);

using Texts = std::vector<std::string>;

constexpr char kBadIndex[] = "ERR invalid array index";
constexpr char kMaxIndexText[] = "18446744073709551614";

ReplyMatcher Pair(int64_t index, Bytes text) { return ArrayOf(Int(index), Bulk(std::string(text))); }

TEST_P(ArrayCommands, SetAndGet) {
  EXPECT_THAT(Run("ARSET events 0 login click purchase"), Int(3));
  EXPECT_THAT(Run("ARGET events 0"), Bulk("login"));
  EXPECT_THAT(Run("ARGET events 999"), Nil());
  EXPECT_THAT(Run("ARGET none 0"), Nil());
  EXPECT_THAT(Run("ARSET events 2 x y"), Int(1));
  EXPECT_THAT(Run("ARMSET metrics 0 10 5 20 100 30"), Int(3));
  EXPECT_THAT(Run("ARMSET metrics 5 21 6 22"), Int(1));
  EXPECT_THAT(Run("ARMGET metrics 0 5 100 999"), ArrayOf({Bulk("10"), Bulk("21"), Bulk("30"), Nil()}));
  EXPECT_THAT(Run("ARMGET none 0 1"), ArrayOf({Nil(), Nil()}));
  EXPECT_THAT(Run("TYPE events"), Simple("array"));
  EXPECT_THAT(Run("OBJECT ENCODING events"), Bulk("sliced-array"));
}

TEST_P(ArrayCommands, ChecksIndexes) {
  for (const Bytes word : {"-1", "x", "1.5", "", "18446744073709551615", "18446744073709551616"}) {
    EXPECT_THAT(Run({"ARSET", "a", word, "v"}), Error(kBadIndex)) << word;
    EXPECT_THAT(Run({"ARGET", "a", word}), Error(kBadIndex)) << word;
    EXPECT_THAT(Run({"ARMSET", "a", "0", "v", word, "v"}), Error(kBadIndex)) << word;
    EXPECT_THAT(Run({"ARMGET", "a", "0", word}), Error(kBadIndex)) << word;
    EXPECT_THAT(Run({"ARDEL", "a", "0", word}), Error(kBadIndex)) << word;
    EXPECT_THAT(Run({"ARDELRANGE", "a", "0", word}), Error(kBadIndex)) << word;
    EXPECT_THAT(Run({"ARGETRANGE", "a", word, "0"}), Error(kBadIndex)) << word;
    EXPECT_THAT(Run({"ARSCAN", "a", "0", word}), Error(kBadIndex)) << word;
    EXPECT_THAT(Run({"AROP", "a", "0", word, "SUM"}), Error(kBadIndex)) << word;
    EXPECT_THAT(Run({"ARGREP", "a", word, "+", "EXACT", "v"}), Error(kBadIndex)) << word;
  }
  EXPECT_THAT(Run("EXISTS a"), Int(0));
  EXPECT_THAT(Run({"ARSET", "a", kMaxIndexText, "v", "w"}), Error("ERR array index overflow"));
  EXPECT_THAT(Run({"ARSET", "a", kMaxIndexText, "v"}), Int(1));
  EXPECT_THAT(Run({"ARGET", "a", kMaxIndexText}), Bulk("v"));
  EXPECT_THAT(Run("ARCOUNT a"), Int(1));
  EXPECT_EQ(Run("ARLEN a").Text(), "18446744073709551615");
  EXPECT_THAT(Run("ARSCAN a 18446744073709551614 0"), ArrayOf({ArrayOf({AnyReply(), Bulk("v")})}));
}

TEST_P(ArrayCommands, ChecksArity) {
  EXPECT_THAT(Run("ARMSET a 0 v 1"), Error("ERR wrong number of arguments for 'armset' command"));
  EXPECT_THAT(Run("ARDELRANGE a 0 1 2"), Error("ERR wrong number of arguments for 'ardelrange' command"));
  EXPECT_THAT(Run("ARSCAN a 0 1 LIMIT"), Error("ERR wrong number of arguments for 'arscan' command"));
  EXPECT_THAT(Run("AROP a 0 1 SUM x"), Error("ERR wrong number of arguments for 'arop' command"));
  EXPECT_THAT(Run("ARLASTITEMS a 1 REV x"), Error("ERR wrong number of arguments for 'arlastitems' command"));
}

TEST_P(ArrayCommands, RefuseOtherTypes) {
  Run("SET s text");
  for (const char* line :
       {"ARSET s 0 v", "ARMSET s 0 v", "ARGET s 0", "ARMGET s 0", "ARGETRANGE s 0 1", "ARLEN s", "ARCOUNT s",
        "ARDEL s 0", "ARDELRANGE s 0 1", "ARINSERT s v", "ARRING s 3 v", "ARNEXT s", "ARSEEK s 1", "ARLASTITEMS s 1",
        "ARSCAN s 0 1", "AROP s 0 1 SUM", "ARGREP s - + EXACT v", "ARINFO s"}) {
    EXPECT_THAT(Run(line), Error(kWrongType)) << line;
  }
  Run("ARSET a 0 v");
  for (const char* line : {"GET a", "LPUSH a x", "HGET a f", "SORT a", "XADD a * f v", "SADD a m", "ZADD a 1 m"}) {
    EXPECT_THAT(Run(line), Error(kWrongType)) << line;
  }
}

TEST_P(ArrayCommands, LengthAndCount) {
  Run("ARSET sparse 0 a");
  Run("ARSET sparse 1000000 b");
  EXPECT_THAT(Run("ARLEN sparse"), Int(1000001));
  EXPECT_THAT(Run("ARCOUNT sparse"), Int(2));
  EXPECT_THAT(Run("ARLEN none"), Int(0));
  EXPECT_THAT(Run("ARCOUNT none"), Int(0));
}

TEST_P(ArrayCommands, GetRange) {
  Run("ARMSET a 0 a 1 b 3 d");
  EXPECT_EQ(Range("0", "3"), (Texts{"a", "b", "-", "d"}));
  EXPECT_EQ(Range("3", "0"), (Texts{"d", "-", "b", "a"}));
  EXPECT_EQ(Range("2", "5"), (Texts{"-", "d", "-", "-"}));
  EXPECT_EQ(Range("5", "2"), (Texts{"-", "-", "d", "-"}));
  EXPECT_EQ(Range("7", "7"), Texts{"-"});
  EXPECT_THAT(Run("ARGETRANGE none 1 0"), ArrayOf({Nil(), Nil()}));
  EXPECT_THAT(Run("ARGETRANGE none 0 1000000"), Error("ERR range exceeds maximum of 1000000 items"));
  EXPECT_THAT(Run({"ARGETRANGE", "a", kMaxIndexText, "0"}), Error("ERR range exceeds maximum of 1000000 items"));
  EXPECT_EQ(Run("ARGETRANGE a 0 999999").Size(), 1'000'000u);
}

TEST_P(ArrayCommands, Delete) {
  Run("ARMSET a 0 a 1 b 2 c 3 d 4 e");
  EXPECT_THAT(Run("ARDEL a 1 1 9"), Int(1));
  EXPECT_THAT(Run("ARDELRANGE a 3 2 3 8"), Int(3));
  EXPECT_THAT(Run("ARCOUNT a"), Int(1));
  EXPECT_THAT(Run("ARDELRANGE a 0 18446744073709551614"), Int(1));
  EXPECT_THAT(Run("EXISTS a"), Int(0));
  EXPECT_THAT(Run("ARDEL a 0"), Int(0));
  EXPECT_THAT(Run("ARDELRANGE a 0 1"), Int(0));
  Run("ARSET a 7 x");
  EXPECT_THAT(Run("ARDEL a 7"), Int(1));
  EXPECT_THAT(Run("EXISTS a"), Int(0));
}

TEST_P(ArrayCommands, InsertAtTheCursor) {
  EXPECT_THAT(Run("ARNEXT log"), Int(0));
  EXPECT_THAT(Run("ARSEEK log 5"), Int(0));
  EXPECT_THAT(Run("ARINSERT log event1"), Int(0));
  EXPECT_THAT(Run("ARINSERT log event2 event3"), Int(2));
  EXPECT_THAT(Run("ARNEXT log"), Int(3));
  EXPECT_THAT(Run("ARSEEK log 10"), Int(1));
  EXPECT_THAT(Run("ARINSERT log event4"), Int(10));
  EXPECT_THAT(Run("ARNEXT log"), Int(11));
  EXPECT_THAT(Run("ARSEEK log 0"), Int(1));
  EXPECT_THAT(Run("ARNEXT log"), Int(0));
  EXPECT_THAT(Run("ARSEEK log -1"), Error(kBadIndex));
}

TEST_P(ArrayCommands, CursorEndsAtTheGreatestIndex) {
  Run("ARSET a 0 x");
  EXPECT_THAT(Run({"ARSEEK", "a", kMaxIndexText}), Int(1));
  EXPECT_THAT(Run("ARINSERT a y z"), Error("ERR insert index overflow"));
  EXPECT_EQ(Run("ARINSERT a y").Text(), kMaxIndexText);
  EXPECT_THAT(Run("ARNEXT a"), Nil());
  EXPECT_THAT(Run("ARINSERT a z"), Error("ERR insert index overflow"));
  EXPECT_THAT(Run("ARSEEK a 18446744073709551615"), Int(1));
  EXPECT_THAT(Run("ARNEXT a"), Nil());
  EXPECT_THAT(Run("ARRING a 3 z"), Int(1));  // y is the newest and moves to index 0
}

TEST_P(ArrayCommands, Ring) {
  for (int i = 0; i < 4; ++i) EXPECT_THAT(Run({"ARRING", "a", "3", StrCat("v", i)}), Int(i % 3));
  EXPECT_EQ(Range("0", "3"), (Texts{"v3", "v1", "v2", "-"}));
  EXPECT_THAT(Run("ARLASTITEMS a 3"), ArrayOf({Bulk("v1"), Bulk("v2"), Bulk("v3")}));
  EXPECT_THAT(Run("ARLASTITEMS a 2 REV"), ArrayOf({Bulk("v3"), Bulk("v2")}));
  EXPECT_THAT(Run("ARRING a 2 v4 v5 v6"), Int(0));  // keeps v2 and v3
  EXPECT_EQ(Range("0", "2"), (Texts{"v6", "v5", "-"}));
  EXPECT_THAT(Run("ARRING a 4 v7"), Int(2));  // v5 and v6 move, because the cursor had wrapped
  EXPECT_EQ(Range("0", "3"), (Texts{"v5", "v6", "v7", "-"}));
  EXPECT_THAT(Run("ARRING a 9 v8"), Int(3));
  EXPECT_EQ(Range("0", "4"), (Texts{"v5", "v6", "v7", "v8", "-"}));
}

TEST_P(ArrayCommands, RingWithHolesAndSeeks) {
  Run("ARMSET a 0 a 1 b 3 d 4 e");
  EXPECT_THAT(Run("ARRING a 3 x"), Int(2));  // d and e are the newest; b is before a hole
  EXPECT_EQ(Range("0", "3"), (Texts{"d", "e", "x", "-"}));
  Run("ARSEEK a 0");
  EXPECT_THAT(Run("ARRING a 6 y"), Int(0));
  EXPECT_EQ(Range("0", "3"), (Texts{"y", "e", "x", "-"}));
  Run("ARSEEK a 2");
  Run("ARDEL a 1");
  EXPECT_THAT(Run("ARRING a 2 z"), Int(0));  // the cursor is at a hole, so nothing is kept
  EXPECT_THAT(Run("ARCOUNT a"), Int(1));
  EXPECT_THAT(Run("ARRING a 9223372036854775807 w"), Int(1));
}

TEST_P(ArrayCommands, RingChecksItsSize) {
  EXPECT_THAT(Run("ARRING a x v"), Error("ERR invalid size"));
  EXPECT_THAT(Run("ARRING a 9223372036854775808 v"), Error("ERR invalid size"));
  EXPECT_THAT(Run("ARRING a 0 v"), Error("ERR size must be positive"));
  EXPECT_THAT(Run("ARRING a -1 v"), Error("ERR size must be positive"));
}

TEST_P(ArrayCommands, LastItems) {
  EXPECT_THAT(Run("ARLASTITEMS none 3"), EmptyArray());
  EXPECT_THAT(Run("ARLASTITEMS none x"), Error("ERR invalid COUNT"));
  EXPECT_THAT(Run("ARLASTITEMS none 0 BAD"), EmptyArray());
  EXPECT_THAT(Run("ARLASTITEMS none 1 BAD"), Error("ERR syntax error"));
  Run("ARINSERT a a b c");
  EXPECT_THAT(Run("ARLASTITEMS a 2"), ArrayOf({Bulk("b"), Bulk("c")}));
  EXPECT_THAT(Run("ARLASTITEMS a 99 REV"), ArrayOf({Bulk("c"), Bulk("b"), Bulk("a")}));
  Run("ARSEEK a 2");
  EXPECT_THAT(Run("ARLASTITEMS a 3"), ArrayOf({Bulk("c"), Bulk("a"), Bulk("b")}));
  Run("ARSEEK a 6");
  EXPECT_THAT(Run("ARLASTITEMS a 3 REV"), ArrayOf({Nil(), Nil(), Nil()}));
  Run("ARSEEK a 0");
  EXPECT_THAT(Run("ARLASTITEMS a 1"), ArrayOf({Bulk("c")}));
}

TEST_P(ArrayCommands, Scan) {
  Run("ARMSET a 0 a 5 b 9 c");
  EXPECT_THAT(Run("ARSCAN a 0 10"), ArrayOf({Pair(0, "a"), Pair(5, "b"), Pair(9, "c")}));
  EXPECT_THAT(Run("ARSCAN a 9 1"), ArrayOf({Pair(9, "c"), Pair(5, "b")}));
  EXPECT_THAT(Run("ARSCAN a 0 10 limit 2"), ArrayOf({Pair(0, "a"), Pair(5, "b")}));
  EXPECT_THAT(Run("ARSCAN a 0 10 LIMIT 0"), Error("ERR LIMIT must be positive"));
  EXPECT_THAT(Run("ARSCAN a 0 10 LIMIT x"), Error("ERR value is not an integer or out of range"));
  EXPECT_THAT(Run("ARSCAN a 0 10 COUNT 1"), Error("ERR syntax error"));
  EXPECT_THAT(Run("ARSCAN none 0 10"), EmptyArray());
}

TEST_P(ArrayCommands, Aggregate) {
  Run("ARMSET a 0 10 1 20 2 30 3 text");
  EXPECT_THAT(Run("AROP a 0 9 SUM"), Bulk("60"));
  EXPECT_THAT(Run("AROP a 9 0 min"), Bulk("10"));
  EXPECT_THAT(Run("AROP a 0 2 MAX"), Bulk("30"));
  EXPECT_THAT(Run("AROP a 0 9 MATCH 10"), Int(1));
  EXPECT_THAT(Run("AROP a 0 9 USED"), Int(4));
  EXPECT_THAT(Run("AROP a 3 9 SUM"), Nil());
  EXPECT_THAT(Run("AROP a 3 9 AND"), Nil());
  EXPECT_THAT(Run("AROP none 0 9 SUM"), Nil());
  EXPECT_THAT(Run("AROP none 0 9 USED"), Int(0));
  EXPECT_THAT(Run("AROP none 0 9 MATCH x"), Int(0));
  EXPECT_THAT(Run("AROP a 0 9 AVG"), Error("ERR unknown operation"));
  EXPECT_THAT(Run("AROP a 0 9 MATCH"), Error("ERR MATCH requires a value argument"));
}

TEST_P(ArrayCommands, AggregateFractionsAndBits) {
  Run("ARMSET flags 0 255 1 15 2 240.9 3 nan 4 1e30 5 -inf");
  EXPECT_THAT(Run("AROP flags 0 2 AND"), Int(0));
  EXPECT_THAT(Run("AROP flags 0 1 AND"), Int(15));
  EXPECT_THAT(Run("AROP flags 0 9 OR"), Int(255));
  EXPECT_THAT(Run("AROP flags 1 2 XOR"), Int(255));
  EXPECT_THAT(Run("AROP flags 0 4 MAX"), Bulk("1e+30"));
  EXPECT_THAT(Run("AROP flags 0 5 MIN"), Bulk("-inf"));
  Run("ARMSET f 0 0.1 1 0.2 2 0.5 3 -9223372036854775808 4 9223372036854775807");
  EXPECT_THAT(Run("AROP f 0 1 SUM"), Bulk("0.3"));
  EXPECT_THAT(Run("AROP f 2 2 SUM"), Bulk("0.5"));
  EXPECT_THAT(Run("AROP f 3 4 SUM"), Bulk("-1"));
  EXPECT_THAT(Run("AROP f 3 4 OR"), Int(-1));
}

TEST_P(ArrayCommands, Search) {
  Run({"ARMSET", "log", "0", "boot: ok", "1", "warn: disk", "2", "ERROR: cpu", "3", "info: ready", "4", "error: net"});
  EXPECT_THAT(Run("ARGREP log - + MATCH error NOCASE"), ArrayOf({Int(2), Int(4)}));
  EXPECT_THAT(Run("ARGREP log + - MATCH error NOCASE"), ArrayOf({Int(4), Int(2)}));
  EXPECT_THAT(Run("ARGREP log - + MATCH error NOCASE WITHVALUES"),
              ArrayOf({Pair(2, "ERROR: cpu"), Pair(4, "error: net")}));
  EXPECT_THAT(Run("ARGREP log 0 4 GLOB warn:* OR GLOB error:*"), ArrayOf({Int(1), Int(4)}));
  EXPECT_THAT(Run({"ARGREP", "log", "0", "4", "RE", "^[A-Za-z]+: (cpu|net)$", "NOCASE"}), ArrayOf({Int(2), Int(4)}));
  EXPECT_THAT(Run({"ARGREP", "log", "0", "4", "EXACT", "info: ready"}), ArrayOf({Int(3)}));
  EXPECT_THAT(Run({"ARGREP", "log", "0", "4", "EXACT", "INFO: ready"}), EmptyArray());
  EXPECT_THAT(Run({"ARGREP", "log", "0", "4", "EXACT", "INFO: ready", "NOCASE"}), ArrayOf({Int(3)}));
  EXPECT_THAT(Run("ARGREP log - + MATCH error NOCASE LIMIT 1"), ArrayOf({Int(2)}));
  EXPECT_THAT(Run("ARGREP log - + MATCH o MATCH k AND"), ArrayOf({Int(0)}));
  EXPECT_THAT(Run("ARGREP log - + MATCH o MATCH k AND OR"), ArrayOf({Int(0), Int(1), Int(3), Int(4)}));
  EXPECT_THAT(Run({"ARGREP", "log", "-", "+", "MATCH", ""}), ArrayOf({Int(0), Int(1), Int(2), Int(3), Int(4)}));
  EXPECT_THAT(Run("ARGREP none - + MATCH x"), EmptyArray());
}

TEST_P(ArrayCommands, SearchChecksItsArguments) {
  EXPECT_THAT(Run("ARGREP a - + MATCH"), Error("ERR wrong number of arguments for 'argrep' command"));
  EXPECT_THAT(Run("ARGREP a - + NOCASE AND"), Error("ERR syntax error"));
  EXPECT_THAT(Run("ARGREP a - + MATCH x LIMIT"), Error("ERR syntax error"));
  EXPECT_THAT(Run("ARGREP a - + MATCH x LIMIT 0"), Error("ERR LIMIT must be positive"));
  EXPECT_THAT(Run("ARGREP a - + MATCH x BAD"), Error("ERR syntax error"));
  EXPECT_THAT(Run({"ARGREP", "a", "-", "+", "RE", ""}), Error("ERR regular expression is empty"));
  EXPECT_THAT(Run("ARGREP a - + RE [a"), Error("ERR invalid regular expression: Missing ']'"));
  EXPECT_THAT(Run({"ARGREP", "a", "-", "+", "RE", "(a)\\1"}),
              Error("ERR regular expression backreferences are not supported"));
  EXPECT_THAT(Run({"ARGREP", "a", "-", "+", "RE", std::string(2049, 'a')}),
              Error("ERR regular expression is too long, maximum is 2048 bytes"));
  std::vector<std::string> many = {"ARGREP", "a", "-", "+"};
  for (int i = 0; i < 251; ++i) many.insert(many.end(), {"EXACT", "x"});
  EXPECT_THAT(Run(many), Error("ERR too many predicates, maximum is 250"));
}

TEST_P(ArrayCommands, Info) {
  EXPECT_THAT(Run("ARINFO none"), Error("ERR no such key"));
  EXPECT_THAT(Run("ARINFO none SHORT"), Error("ERR syntax error"));
  Run("ARMSET a 0 a 1 b 100 c");
  Run("ARINSERT a d");
  const auto info = [&](Bytes field, Bytes line = "ARINFO a") { return Field(line, field); };
  EXPECT_THAT(info("count"), Int(3));
  EXPECT_THAT(info("len"), Int(101));
  EXPECT_THAT(info("next-insert-index"), Int(1));
  EXPECT_THAT(info("slices"), Int(1));
  EXPECT_THAT(info("slice-size"), Int(4096));
  EXPECT_THAT(info("sparse-slices", "ARINFO a FULL"), Int(1));
  EXPECT_THAT(info("dense-slices", "ARINFO a FULL"), Int(0));
  for (int i = 0; i < 20; ++i) Run({"ARSET", "a", std::to_string(10'000 + i), "x"});
  EXPECT_THAT(info("slices"), Int(2));
  EXPECT_THAT(info("dense-slices", "ARINFO a FULL"), Int(1));
}

TEST_P(ArrayCommands, KeyspaceEvents) {
  Run("CONFIG SET notify-keyspace-events KEA");
  TestClient listener(server(), GetParam());
  listener.Run("PSUBSCRIBE __keyevent@0__:*");
  const auto events = [&](Bytes line) {
    Run(line);
    std::string names;
    for (TestReply message = listener.Read(); message.HasValue(); message = listener.Read()) {
      const std::string channel = message[2].Text();
      StrAppend(names, names.empty() ? "" : " ", Bytes(channel).substr(channel.find(':') + 1));
    }
    return names;
  };
  EXPECT_EQ(events("ARSET a 0 v"), "arset");
  EXPECT_EQ(events("ARMSET a 0 v"), "armset");
  EXPECT_EQ(events("ARINSERT a v"), "arinsert");
  EXPECT_EQ(events("ARRING a 3 v"), "arring");
  EXPECT_EQ(events("ARSEEK a 1"), "arseek");
  EXPECT_EQ(events("ARDEL a 9"), "");
  EXPECT_EQ(events("ARDEL a 0"), "ardel");
  EXPECT_EQ(events("ARDELRANGE a 0 9"), "ardelrange del");
  Run("CONFIG SET notify-keyspace-events Ea");
  EXPECT_EQ(events("ARSET a 0 v"), "arset");
  EXPECT_EQ(events("DEL a"), "");
}

TEST_P(ArrayCommands, GenericCommands) {
  Run("ARINSERT a 1 2.5 long-text-that-needs-memory");
  EXPECT_THAT(Run("COPY a b"), Int(1));
  EXPECT_THAT(Run("ARNEXT b"), Int(3));
  EXPECT_THAT(Run("RENAME b c"), Ok());
  EXPECT_THAT(Run("ARGET c 1"), Bulk("2.5"));
  EXPECT_THAT(Run("SCAN 0 TYPE array"), ArrayOf({Bulk("0"), ArrayOf({AnyReply(), AnyReply()})}));
  EXPECT_THAT(Run("MOVE c 1"), Int(1));
  EXPECT_THAT(Run("OBJECT IDLETIME a"), Int(0));
  EXPECT_GT(Run("MEMORY USAGE a").Integer(), 50);
  const std::string payload(Run("DUMP a").Text());
  EXPECT_EQ(payload[0], 28);
  EXPECT_THAT(Run({"RESTORE", "d", "0", payload}), Ok());
  EXPECT_THAT(Run("ARGETRANGE d 0 2"), ArrayOf({Bulk("1"), Bulk("2.5"), Bulk("long-text-that-needs-memory")}));
  EXPECT_THAT(Run("ARNEXT d"), Int(3));
  EXPECT_EQ(Run("DEBUG DIGEST-VALUE a")[0].Text(), Run("DEBUG DIGEST-VALUE d")[0].Text());
  const auto names = Run("ACL CAT array").Texts();
  EXPECT_EQ(std::count(names.begin(), names.end(), "arset"), 1);
}

TEST_P(ArrayCommands, TransactionsAndScripts) {
  EXPECT_THAT(Run({"EVAL", "return redis.call('ARSET', KEYS[1], 3, 'x', 'y')", "1", "a"}), Int(2));
  EXPECT_THAT(Run({"EVAL", "return redis.call('ARGETRANGE', KEYS[1], 3, 4)", "1", "a"}),
              ArrayOf({Bulk("x"), Bulk("y")}));
  Run("MULTI");
  Run("ARINSERT a p");
  Run("ARDEL a 3 4");
  EXPECT_THAT(Run("EXEC"), ArrayOf({Int(0), Int(2)}));
  TestClient other(server(), GetParam());
  Run("WATCH a");
  other.Run("ARSEEK a 8");
  Run("MULTI");
  Run("ARLEN a");
  EXPECT_THAT(Run("EXEC"), NilArray());
}

// No other client is served during a search.
TEST_P(ArrayCommands, RegularExpressionsOfOneSearchHaveALimit) {
  Run({"ARSET", "a", "0", std::string(400'000, 'a')});
  const auto search = [&](size_t count) {
    std::vector<std::string> words = {"ARGREP", "a", "-", "+"};
    for (size_t i = 0; i < count; ++i) words.insert(words.end(), {"RE", "(a?){1,250}b"});
    return client().Run(words);
  };
  EXPECT_THAT(search(1), Error("ERR the search takes too long. Use a smaller range or a simpler regular expression"));
  EXPECT_THAT(search(250), Error("ERR invalid regular expression: Out of memory"));
  EXPECT_THAT(Run("ARGREP a - + RE ^a"), ArrayOf(Int(0)));
}

}  // namespace
}  // namespace respite
