// Values as commands: the base of an append-only file without an RDB preamble. After each test here and in all other
// command tests, the fixture checks that these commands restore the same data.
#include "persistence/value_commands.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {

namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

class ValueCommands : public CommandTest {
 protected:
  // The commands of a rewrite, one per line, without SELECT.
  std::vector<std::string> Rewritten() {
    std::vector<std::string> lines;
    for (const WordList& words : RewriteCommands(server().server())) {
      std::string line;
      for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
      if (words[0] != "SELECT") lines.push_back(line);
    }
    return lines;
  }
  // The number of arguments of each command.
  std::vector<size_t> Sizes() {
    std::vector<size_t> sizes;
    for (const WordList& words : RewriteCommands(server().server())) sizes.push_back(words.size());
    return sizes;
  }
};
INSTANTIATE_TEST_SUITE_P(Resp, ValueCommands, BothVersions(), VersionName);

TEST_P(ValueCommands, Strings) {
  Run("SET int -12");
  Run("SET text abc PXAT 1700000100000");
  Run({"SET", "empty", ""});
  Run({"SET", "long", std::string(100'000, 'x')});
  Run("APPEND raw abc");
  EXPECT_THAT(Rewritten(), UnorderedElementsAre("SET int -12", "SET text abc", "PEXPIREAT text 1700000100000",
                                                "SET empty ", "SET long " + std::string(100'000, 'x'), "SET raw abc"));
}

TEST_P(ValueCommands, DatabasesAreSelectedInOrder) {
  Run("SELECT 3");
  Run("SET b 1");
  Run("SELECT 1");
  Run("SET a 1");
  EXPECT_THAT(RewriteCommands(server().server()), ElementsAre(WordList{"SELECT", "1"}, WordList{"SET", "a", "1"},
                                                              WordList{"SELECT", "3"}, WordList{"SET", "b", "1"}));
}

TEST_P(ValueCommands, SmallCollections) {
  Run("RPUSH list a 1 \"\"");
  Run("SADD integers 3 1 2");
  Run("SADD set x");
  Run("ZADD zset 1.5 a -inf b 10000000000 c");
  Run("HSET hash f v");
  EXPECT_THAT(Rewritten(), UnorderedElementsAre("RPUSH list a 1 ", "SADD integers 1 2 3", "SADD set x",
                                                "ZADD zset -inf b 1.5 a 1e+10 c", "HMSET hash f v"));
}

TEST_P(ValueCommands, SixtyFourItemsForEachCommand) {
  for (const std::string name : {"RPUSH", "SADD"}) {
    for (int items : {64, 65, 128, 1000}) {
      Run("FLUSHALL");
      WordList words{name, "key"};
      for (int i = 0; i < items; ++i) words.push_back(StrCat("item", i));
      Run(words);
      std::vector<size_t> expected{2};
      for (int left = items; left > 0; left -= 64) expected.push_back(2 + static_cast<size_t>(std::min(left, 64)));
      EXPECT_EQ(Sizes(), expected) << name << " " << items;
    }
  }
}

TEST_P(ValueCommands, SixtyFourPairsForEachCommand) {
  WordList hash{"HSET", "key"};
  for (int i = 0; i < 130; ++i) hash.insert(hash.end(), {StrCat("field", i), "value"});
  Run(hash);
  EXPECT_THAT(Sizes(), ElementsAre(2, 130, 130, 6));
  WordList zset{"ZADD", "key"};
  for (int i = 0; i < 130; ++i) zset.insert(zset.end(), {StrCat(i, ".25"), StrCat("member", i)});
  Run("DEL key");
  Run(zset);
  EXPECT_THAT(Sizes(), ElementsAre(2, 130, 130, 6));
}

TEST_P(ValueCommands, LargeCollections) {
  WordList hash{"HSET", "hash"};
  WordList set{"SADD", "integers"};
  WordList list{"RPUSH", "list"};
  for (int i = 0; i < 2000; ++i) {
    hash.insert(hash.end(), {std::to_string(i), std::string(static_cast<size_t>(i % 100), 'v')});
    set.push_back(std::to_string(i * 7));
    list.push_back(StrCat("element ", i, std::string(static_cast<size_t>(i % 50), ' ')));
  }
  Run(hash);
  Run(set);
  Run(list);
  Run({"RPUSH", "list", std::string(70'000, 'L')});
  Run("HPEXPIREAT hash 1700000100000 FIELDS 3 1 2 3");
  Run("HPEXPIREAT hash 1700000200000 FIELDS 1 4");
  Run("ZADD zset -0 a 0.1 b 1e300 c 5e-324 d +inf e 4611686018427387904 f 17 " + std::string(100, 'g'));
}

TEST_P(ValueCommands, FieldsWithDeadlines) {
  Run("HSET hash a 1 b 2 c 3 d 4");
  Run("HPEXPIREAT hash 1700000200000 FIELDS 2 a b");
  Run("HPEXPIREAT hash 1700000100000 FIELDS 1 d");
  EXPECT_THAT(Rewritten(), ElementsAre("HMSET hash d 4 a 1 b 2 c 3", "HPEXPIREAT hash 1700000100000 FIELDS 1 d",
                                       "HPEXPIREAT hash 1700000200000 FIELDS 2 a b"));
}

TEST_P(ValueCommands, FieldsWithFormerDeadlines) {
  Run("HSET hash a 1");
  Run("HPEXPIREAT hash 1700000200000 FIELDS 1 a");
  Run("HPERSIST hash FIELDS 1 a");
  EXPECT_THAT(Rewritten(), ElementsAre("HMSET hash a 1"));
}

TEST_P(ValueCommands, ExpiredKeysRemainUntilTheirRemoval) {
  Run("SET k v PX 10");
  Run("HSET hash a 1 b 2");
  Run("HPEXPIRE hash 10 FIELDS 1 a");
  clock().AdvanceMs(100);
  EXPECT_THAT(Rewritten(), UnorderedElementsAre("SET k v", "PEXPIREAT k 1700000000010", "HMSET hash a 1 b 2",
                                                "HPEXPIREAT hash 1700000000010 FIELDS 1 a"));
}

TEST_P(ValueCommands, Streams) {
  Run("XADD s 1-1 a 1 b 2");
  Run("XADD s 1-2 a 1");
  Run("XADD s 3-0 a 3");
  Run("XDEL s 1-2");
  Run("PEXPIREAT s 1700000100000");
  EXPECT_THAT(Rewritten(), ElementsAre("XADD s 1-1 a 1 b 2", "XADD s 3-0 a 3",
                                       "XSETID s 3-0 ENTRIESADDED 3 MAXDELETEDID 1-2", "PEXPIREAT s 1700000100000"));
}

TEST_P(ValueCommands, EmptyStreams) {
  Run("XADD s 5-5 a 1");
  Run("XTRIM s MAXLEN 0");
  EXPECT_THAT(Rewritten(), ElementsAre("XADD s MAXLEN 0 0-1 x y", "XSETID s 5-5 ENTRIESADDED 1 MAXDELETEDID 0-0"));
  Run("DEL s");
  Run("XGROUP CREATE s g $ MKSTREAM");
  EXPECT_THAT(Rewritten(), ElementsAre("XADD s MAXLEN 0 0-1 x y", "XSETID s 0-0 ENTRIESADDED 0 MAXDELETEDID 0-0",
                                       "XGROUP CREATE s g 0-0 ENTRIESREAD -1"));
}

TEST_P(ValueCommands, Groups) {
  Run("XADD s 1-1 a 1");
  Run("XADD s 2-2 a 2");
  Run("XGROUP CREATE s g 0");
  Run("XGROUP CREATE s other 2-2 ENTRIESREAD 2");
  Run("XGROUP CREATECONSUMER s g idle");
  Run("XREADGROUP GROUP g busy COUNT 1 STREAMS s >");
  clock().AdvanceMs(5);
  Run("XREADGROUP GROUP g alice STREAMS s >");
  Run("XCLAIM s g alice 0 2-2");
  EXPECT_THAT(Rewritten(),
              ElementsAre("XADD s 1-1 a 1", "XADD s 2-2 a 2", "XSETID s 2-2 ENTRIESADDED 2 MAXDELETEDID 0-0",
                          "XGROUP CREATE s g 2-2 ENTRIESREAD 2",
                          "XCLAIM s g alice 0 2-2 TIME 1700000000005 RETRYCOUNT 2 JUSTID FORCE",
                          "XCLAIM s g busy 0 1-1 TIME 1700000000000 RETRYCOUNT 1 JUSTID FORCE",
                          "XGROUP CREATECONSUMER s g idle", "XGROUP CREATE s other 2-2 ENTRIESREAD 2"));
}

class GoneEntries : public ValueCommands {
 protected:
  void SetUp() override {
    for (const char* id : {"1-1", "2-2", "3-3", "4-4"}) Run({"XADD", "s", id, "a", "1"});
    Run("XGROUP CREATE s g 0");
    Run("XREADGROUP GROUP g c STREAMS s >");
  }
};
INSTANTIATE_TEST_SUITE_P(Resp, GoneEntries, BothVersions(), VersionName);

TEST_P(GoneEntries, StayPendingWhenTheyWereTrimmed) {
  Run("XTRIM s MAXLEN 2");
  Run("XACK s g 3-3 4-4");
  EXPECT_THAT(Rewritten(),
              ElementsAre("XADD s 1-1 x y", "XADD s 2-2 x y", "XADD s 3-3 a 1", "XADD s 4-4 a 1",
                          "XSETID s 4-4 ENTRIESADDED 4 MAXDELETEDID 0-0", "XGROUP CREATE s g 4-4 ENTRIESREAD 4",
                          "XCLAIM s g c 0 1-1 TIME 1700000000000 RETRYCOUNT 1 JUSTID FORCE",
                          "XCLAIM s g c 0 2-2 TIME 1700000000000 RETRYCOUNT 1 JUSTID FORCE", "XTRIM s MINID 3-3",
                          "XSETID s 4-4 ENTRIESADDED 4 MAXDELETEDID 0-0"));
}

TEST_P(GoneEntries, StayPendingWhenTheyWereDeleted) {
  Run("XDEL s 2-2 3-3");
  Run("XACK s g 1-1 4-4");
  EXPECT_THAT(Rewritten(),
              ElementsAre("XADD s 1-1 a 1", "XADD s 2-2 x y", "XADD s 3-3 x y", "XADD s 4-4 a 1",
                          "XSETID s 4-4 ENTRIESADDED 4 MAXDELETEDID 3-3", "XGROUP CREATE s g 4-4 ENTRIESREAD 4",
                          "XCLAIM s g c 0 2-2 TIME 1700000000000 RETRYCOUNT 1 JUSTID FORCE",
                          "XCLAIM s g c 0 3-3 TIME 1700000000000 RETRYCOUNT 1 JUSTID FORCE", "XDEL s 2-2 3-3",
                          "XSETID s 4-4 ENTRIESADDED 4 MAXDELETEDID 3-3"));
}

TEST_P(GoneEntries, StayPendingWhenNothingIsLeft) {
  Run("XTRIM s MAXLEN 0");
  Run("XACK s g 1-1 2-2 3-3");
  EXPECT_THAT(Rewritten(), ElementsAre("XADD s 4-4 x y", "XSETID s 4-4 ENTRIESADDED 4 MAXDELETEDID 0-0",
                                       "XGROUP CREATE s g 4-4 ENTRIESREAD 4",
                                       "XCLAIM s g c 0 4-4 TIME 1700000000000 RETRYCOUNT 1 JUSTID FORCE",
                                       "XTRIM s MAXLEN 0", "XSETID s 4-4 ENTRIESADDED 4 MAXDELETEDID 0-0"));
}

TEST_P(GoneEntries, StayPendingAfterTrimmingAndDeleting) {
  Run("XDEL s 1-1");
  Run("XTRIM s MINID 4-4");
}

TEST_P(ValueCommands, Libraries) {
  const std::string code = "#!lua name=lib\nredis.register_function('f', function() return 1 end)";
  Run({"FUNCTION", "LOAD", code});
  Run("SET k v");
  EXPECT_THAT(Rewritten(), ElementsAre("FUNCTION LOAD " + code, "SET k v"));
}

}  // namespace

}  // namespace respite
