#include <string>
#include <vector>

#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {

namespace {

class ListCommands : public CommandTest {
 protected:
  explicit ListCommands(std::vector<std::string> directives = {}) : CommandTest(std::move(directives)) {}

  void ExpectList(const std::string& key, std::vector<std::string> elements) {
    EXPECT_THAT(Run({"LRANGE", key, "0", "-1"}), Bulks(std::move(elements)));
  }
  void ExpectEncoding(const std::string& key, const std::string& name) {
    EXPECT_THAT(Run({"OBJECT", "ENCODING", key}), Bulk(name)) << key;
  }
};
INSTANTIATE_TEST_SUITE_P(Resp, ListCommands, BothVersions(), VersionName);

TEST_P(ListCommands, LMoveMMovesSeveralElements) {
  Run("RPUSH l 1 2 3 4");
  EXPECT_THAT(Run("LMOVEM l m LEFT LEFT COUNT 2 OBO"), Bulks({"2", "1"}));
  EXPECT_THAT(Run("LMOVEM l m LEFT LEFT EXACTLY 5 BULK"), Nil());
  EXPECT_THAT(Run("LMOVEM l m LEFT RIGHT"), Bulks({"3"})) << "one element, if the number is not given";
  EXPECT_THAT(Run("LMOVEM l m RIGHT LEFT COUNT 9 BULK"), Bulks({"4"}));
  EXPECT_THAT(Run("LRANGE m 0 -1"), Bulks({"4", "2", "1", "3"}));
  EXPECT_THAT(Run("EXISTS l"), Int(0));
  EXPECT_THAT(Run("LMOVEM l m LEFT LEFT COUNT 2 OBO"), Nil());
  EXPECT_THAT(Run("LMOVEM l m LEFT LEFT"), Nil());
  EXPECT_THAT(Run("LMOVEM l m LEFT LEFT EXACTLY 1 OBO"), Nil());
}

TEST_P(ListCommands, LMoveMOrdersTheElementsAsAsked) {
  struct Case {
    const char* options;
    std::vector<std::string> moved;
    std::vector<std::string> target;
  };
  const std::vector<Case> cases = {
      {"LEFT LEFT COUNT 3 OBO", {"c", "b", "a"}, {"c", "b", "a", "x"}},
      {"LEFT LEFT COUNT 3 BULK", {"a", "b", "c"}, {"a", "b", "c", "x"}},
      {"LEFT RIGHT COUNT 3 OBO", {"a", "b", "c"}, {"x", "a", "b", "c"}},
      {"LEFT RIGHT COUNT 3 BULK", {"a", "b", "c"}, {"x", "a", "b", "c"}},
      {"RIGHT LEFT COUNT 3 OBO", {"c", "d", "e"}, {"c", "d", "e", "x"}},
      {"RIGHT LEFT COUNT 3 BULK", {"c", "d", "e"}, {"c", "d", "e", "x"}},
      {"RIGHT RIGHT COUNT 3 OBO", {"e", "d", "c"}, {"x", "e", "d", "c"}},
      {"RIGHT RIGHT COUNT 3 BULK", {"c", "d", "e"}, {"x", "c", "d", "e"}},
  };
  for (const Case& one : cases) {
    Run("DEL l m");
    Run("RPUSH l a b c d e");
    Run("RPUSH m x");
    EXPECT_THAT(Run(StrCat("LMOVEM l m ", one.options)), Bulks(one.moved)) << one.options;
    EXPECT_THAT(Run("LRANGE m 0 -1"), Bulks(one.target)) << one.options;
  }
}

TEST_P(ListCommands, LMoveMWithinOneList) {
  Run("RPUSH l a b c");
  EXPECT_THAT(Run("LMOVEM l l LEFT LEFT EXACTLY 2 OBO"), Bulks({"b", "a"}));
  EXPECT_THAT(Run("LRANGE l 0 -1"), Bulks({"b", "a", "c"}));
  EXPECT_THAT(Run("LMOVEM l l RIGHT RIGHT EXACTLY 3 BULK"), Bulks({"b", "a", "c"}));
  EXPECT_THAT(Run("LRANGE l 0 -1"), Bulks({"b", "a", "c"}));
  EXPECT_THAT(Run("LMOVEM l l LEFT RIGHT COUNT 2 OBO"), Bulks({"b", "a"}));
  EXPECT_THAT(Run("LRANGE l 0 -1"), Bulks({"c", "b", "a"}));
}

TEST_P(ListCommands, LMoveMRefusals) {
  Run("RPUSH l a b");
  Run("SET s v");
  for (const char* options : {"UP LEFT", "LEFT LEFT COUNT", "LEFT LEFT COUNT 1", "LEFT LEFT OBO", "LEFT LEFT COUNT 1 X",
                              "LEFT LEFT COUNT 1 OBO BULK", "LEFT LEFT MANY 1 OBO"})
    EXPECT_THAT(Run(StrCat("LMOVEM l m ", options)), Error("ERR syntax error")) << options;
  for (const char* count : {"0", "-1", "x"})
    EXPECT_THAT(Run(StrCat("LMOVEM l m LEFT LEFT EXACTLY ", count, " OBO")),
                Error("ERR count should be greater than 0"));
  EXPECT_THAT(Run("LMOVEM l s LEFT LEFT"), ErrorStartsWith("WRONGTYPE"));
  EXPECT_THAT(Run("LMOVEM s l LEFT LEFT"), ErrorStartsWith("WRONGTYPE"));
  EXPECT_THAT(Run("LLEN l"), Int(2));
}

TEST_P(ListCommands, PushesAtEitherEnd) {
  EXPECT_THAT(Run("RPUSH l a b"), Int(2));
  EXPECT_THAT(Run("LPUSH l c d"), Int(4));
  ExpectList("l", {"d", "c", "a", "b"});
  EXPECT_THAT(Run("TYPE l"), Simple("list"));
  EXPECT_THAT(Run("LPUSHX none a"), Int(0));
  EXPECT_THAT(Run("RPUSHX none a"), Int(0));
  EXPECT_THAT(Run("EXISTS none"), Int(0));
  EXPECT_THAT(Run("LPUSHX l e f"), Int(6));
  EXPECT_THAT(Run("RPUSHX l g"), Int(7));
  ExpectList("l", {"f", "e", "d", "c", "a", "b", "g"});
}

TEST_P(ListCommands, PopsOneOrMany) {
  Run("RPUSH l 1 2 3 4 5 6");
  EXPECT_THAT(Run("LPOP l"), Bulk("1"));
  EXPECT_THAT(Run("RPOP l"), Bulk("6"));
  EXPECT_THAT(Run("LPOP l 2"), Bulks({"2", "3"}));
  EXPECT_THAT(Run("RPOP l 0"), EmptyArray());
  EXPECT_THAT(Run("RPOP l 10"), Bulks({"5", "4"}));
  EXPECT_THAT(Run("EXISTS l"), Int(0));
  EXPECT_THAT(Run("LPOP l"), Nil());
  EXPECT_THAT(Run("LPOP l 3"), NilArray());
  EXPECT_THAT(Run("LPOP l -1"), Error("ERR value is out of range, must be positive"));
  EXPECT_THAT(Run("RPOP l x"), Error("ERR value is out of range, must be positive"));
  EXPECT_THAT(Run("RPOP l 1 2"), Error("ERR wrong number of arguments for 'rpop' command"));
}

TEST_P(ListCommands, AnEmptiedListIsGone) {
  Run("RPUSH l a");
  Run("EXPIRE l 100");
  EXPECT_THAT(Run("LPOP l"), Bulk("a"));
  EXPECT_THAT(Run("RPUSH l a"), Int(1));
  EXPECT_THAT(Run("TTL l"), Int(-1));
  EXPECT_THAT(Run("LREM l 0 a"), Int(1));
  EXPECT_THAT(Run("EXISTS l"), Int(0));
  Run("RPUSH l a b");
  EXPECT_THAT(Run("LTRIM l 5 9"), Ok());
  EXPECT_THAT(Run("DBSIZE"), Int(0));
}

TEST_P(ListCommands, PopsTheFirstOfSeveralLists) {
  Run("RPUSH b 1 2 3");
  EXPECT_THAT(Run("LMPOP 2 a b LEFT"), ArrayOf(Bulk("b"), Bulks({"1"})));
  EXPECT_THAT(Run("LMPOP 2 a b right COUNT 10"), ArrayOf(Bulk("b"), Bulks({"3", "2"})));
  EXPECT_THAT(Run("LMPOP 2 a b LEFT"), NilArray());
  EXPECT_THAT(Journaled(), testing::ElementsAre("0: RPUSH b 1 2 3", "0: LPOP b 1", "0: RPOP b 2"));
}

TEST_P(ListCommands, LMPopChecksItsWords) {
  EXPECT_THAT(Run("LMPOP 0 a LEFT"), Error("ERR numkeys should be greater than 0"));
  EXPECT_THAT(Run("LMPOP x a LEFT"), Error("ERR numkeys should be greater than 0"));
  EXPECT_THAT(Run("LMPOP 1 a LEFT COUNT 0"), Error("ERR count should be greater than 0"));
  for (const char* words : {"2 a LEFT", "1 a UP", "1 a LEFT COUNT", "1 a LEFT COUNT 1 COUNT 1", "1 a LEFT x",
                            "9223372036854775807 a LEFT"}) {
    EXPECT_THAT(Run("LMPOP " + std::string(words)), Error("ERR syntax error")) << words;
  }
}

TEST_P(ListCommands, MovesBetweenLists) {
  Run("RPUSH a 1 2 3");
  EXPECT_THAT(Run("LMOVE a b LEFT RIGHT"), Bulk("1"));
  EXPECT_THAT(Run("RPOPLPUSH a b"), Bulk("3"));
  ExpectList("b", {"3", "1"});
  EXPECT_THAT(Run("LMOVE a b right left"), Bulk("2"));
  EXPECT_THAT(Run("EXISTS a"), Int(0));
  EXPECT_THAT(Run("LMOVE a b RIGHT LEFT"), Nil());
  EXPECT_THAT(Run("LMOVE a b RIGHT UP"), Error("ERR syntax error"));
}

TEST_P(ListCommands, RotatesAList) {
  Run("RPUSH l 1 2 3");
  EXPECT_THAT(Run("RPOPLPUSH l l"), Bulk("3"));
  ExpectList("l", {"3", "1", "2"});
  EXPECT_THAT(Run("LMOVE l l LEFT LEFT"), Bulk("3"));
  ExpectList("l", {"3", "1", "2"});
  Run("RPUSH one x");
  EXPECT_THAT(Run("LMOVE one one LEFT RIGHT"), Bulk("x"));
  ExpectList("one", {"x"});
}

TEST_P(ListCommands, AMoveThatIsRefusedLeavesNoTrace) {
  Run("RPUSH a 1");
  Run("SET s x");
  EXPECT_THAT(Run("LMOVE a s LEFT LEFT"), Error("WRONGTYPE Operation against a key holding the wrong kind of value"));
  ExpectList("a", {"1"});
  EXPECT_THAT(Run("LMOVE none s LEFT LEFT"), Nil());
}

TEST_P(ListCommands, ReadsByIndexAndRange) {
  Run("RPUSH l a 12 -3");
  EXPECT_THAT(Run("LLEN l"), Int(3));
  EXPECT_THAT(Run("LLEN none"), Int(0));
  EXPECT_THAT(Run("LINDEX l 1"), Bulk("12"));
  EXPECT_THAT(Run("LINDEX l -1"), Bulk("-3"));
  EXPECT_THAT(Run("LINDEX l 3"), Nil());
  EXPECT_THAT(Run("LINDEX l -4"), Nil());
  EXPECT_THAT(Run("LINDEX l x"), Error("ERR value is not an integer or out of range"));
  EXPECT_THAT(Run("LINDEX none x"), Nil());
  EXPECT_THAT(Run("LRANGE l 1 1"), Bulks({"12"}));
  EXPECT_THAT(Run("LRANGE l -100 100"), Bulks({"a", "12", "-3"}));
  EXPECT_THAT(Run("LRANGE l -2 -2"), Bulks({"12"}));
  EXPECT_THAT(Run("LRANGE l 2 1"), EmptyArray());
  EXPECT_THAT(Run("LRANGE no-list 0 -1"), EmptyArray());
  EXPECT_THAT(Run("LRANGE l 3 9"), EmptyArray());
  EXPECT_THAT(Run("LRANGE l 0 -9"), EmptyArray());
  EXPECT_THAT(Run("LRANGE none 0 x"), Error("ERR value is not an integer or out of range"));
}

TEST_P(ListCommands, FindsPositions) {
  Run("RPUSH l a b c 1 2 3 c c");
  EXPECT_THAT(Run("LPOS l c"), Int(2));
  EXPECT_THAT(Run("LPOS l c RANK 2"), Int(6));
  EXPECT_THAT(Run("LPOS l c RANK -1"), Int(7));
  EXPECT_THAT(Run("LPOS l c RANK 4"), Nil());
  EXPECT_THAT(Run("LPOS l c COUNT 2"), ArrayOf(Int(2), Int(6)));
  EXPECT_THAT(Run("LPOS l c COUNT 0 RANK -2"), ArrayOf(Int(6), Int(2)));
  EXPECT_THAT(Run("LPOS l c COUNT 0 MAXLEN 7"), ArrayOf(Int(2), Int(6)));
  EXPECT_THAT(Run("LPOS l c COUNT 0 MAXLEN 2 RANK -1"), ArrayOf(Int(7), Int(6)));
  EXPECT_THAT(Run("LPOS l c MAXLEN 2"), Nil());
  EXPECT_THAT(Run("LPOS l none COUNT 1"), EmptyArray());
  EXPECT_THAT(Run("LPOS none a"), Nil());
  EXPECT_THAT(Run("LPOS none a COUNT 1"), EmptyArray());
  EXPECT_THAT(Run("LPOS l 2"), Int(4));
}

TEST_P(ListCommands, LPosChecksItsWords) {
  EXPECT_THAT(Run("LPOS l a RANK 0"), ErrorStartsWith("ERR RANK can't be zero: use 1 to start from the first match"));
  EXPECT_THAT(Run("LPOS l a RANK -9223372036854775808"),
              Error("ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"));
  EXPECT_THAT(Run("LPOS l a RANK x"), Error("ERR value is not an integer or out of range"));
  EXPECT_THAT(Run("LPOS l a COUNT -1"), Error("ERR COUNT can't be negative"));
  EXPECT_THAT(Run("LPOS l a MAXLEN -1"), Error("ERR MAXLEN can't be negative"));
  EXPECT_THAT(Run("LPOS l a COUNT"), Error("ERR syntax error"));
  EXPECT_THAT(Run("LPOS l a WHAT 1"), Error("ERR syntax error"));
}

TEST_P(ListCommands, ReplacesByIndex) {
  Run("RPUSH l a b c");
  EXPECT_THAT(Run("LSET l 1 X"), Ok());
  EXPECT_THAT(Run("LSET l -1 12345"), Ok());
  ExpectList("l", {"a", "X", "12345"});
  EXPECT_THAT(Run("LSET l 3 X"), Error("ERR index out of range"));
  EXPECT_THAT(Run("LSET l -4 X"), Error("ERR index out of range"));
  EXPECT_THAT(Run("LSET l x X"), Error("ERR value is not an integer or out of range"));
  EXPECT_THAT(Run("LSET none x X"), Error("ERR no such key"));
}

TEST_P(ListCommands, InsertsBesideAPivot) {
  Run("RPUSH l a b b");
  EXPECT_THAT(Run("LINSERT l BEFORE b x"), Int(4));
  EXPECT_THAT(Run("LINSERT l after b y"), Int(5));
  ExpectList("l", {"a", "x", "b", "y", "b"});
  EXPECT_THAT(Run("LINSERT l BEFORE none x"), Int(-1));
  EXPECT_THAT(Run("LINSERT none BEFORE b x"), Int(0));
  EXPECT_THAT(Run("LINSERT l BESIDE b x"), Error("ERR syntax error"));
}

TEST_P(ListCommands, RemovesFromEitherEnd) {
  Run("RPUSH l a b a c a d");
  EXPECT_THAT(Run("LREM l -1 a"), Int(1));
  ExpectList("l", {"a", "b", "a", "c", "d"});
  EXPECT_THAT(Run("LREM l 1 a"), Int(1));
  EXPECT_THAT(Run("LREM l 0 none"), Int(0));
  EXPECT_THAT(Run("LREM l 0 a"), Int(1));
  ExpectList("l", {"b", "c", "d"});
  EXPECT_THAT(Run("LREM none 0 a"), Int(0));
  EXPECT_THAT(Run("LREM l -9223372036854775808 b"), Int(1));
}

TEST_P(ListCommands, Trims) {
  Run("RPUSH l 1 2 3 4 5");
  EXPECT_THAT(Run("LTRIM l 1 -2"), Ok());
  ExpectList("l", {"2", "3", "4"});
  EXPECT_THAT(Run("LTRIM l -2 100"), Ok());
  ExpectList("l", {"3", "4"});
  EXPECT_THAT(Run("LTRIM none 0 1"), Ok());
}

TEST_P(ListCommands, RefusesOtherTypes) {
  Run("SET s x");
  Run("RPUSH l a");
  for (const char* line :
       {"LPUSH s a", "RPUSHX s a", "LPOP s", "RPOP s 1", "LLEN s", "LRANGE s 0 1", "LINDEX s x", "LSET s 0 a",
        "LINSERT s BEFORE a b", "LREM s 0 a", "LTRIM s 0 1", "LPOS s a", "LMOVE s l LEFT LEFT", "LMPOP 1 s LEFT"}) {
    EXPECT_THAT(Run(line), ErrorStartsWith("WRONGTYPE ")) << line;
  }
  EXPECT_THAT(Run("GET l"), ErrorStartsWith("WRONGTYPE "));
}

TEST_P(ListCommands, ChangesItsEncodingAtTheLimit) {
  Run("CONFIG SET list-max-listpack-size 4");
  Run("RPUSH l 1 2 3 4");
  ExpectEncoding("l", "listpack");
  Run("RPUSH l 5");
  ExpectEncoding("l", "quicklist");
  Run("LTRIM l 0 2");
  ExpectEncoding("l", "quicklist");
  Run("LPOP l");
  ExpectEncoding("l", "listpack");
  ExpectList("l", {"2", "3"});
  EXPECT_THAT(Run("CONFIG SET list-max-ziplist-size -2"), Ok());
  EXPECT_THAT(Run("CONFIG GET list-max-listpack-size"), MapOf({{Bulk("list-max-listpack-size"), Bulk("-2")}}));
}

TEST_P(ListCommands, SurvivesCopyAndRename) {
  Run("CONFIG SET list-max-listpack-size 2");
  Run("RPUSH l a 7 -300 b c");
  EXPECT_THAT(Run("COPY l copy"), Int(1));
  EXPECT_THAT(Run("RENAME copy other"), Ok());
  Run("LSET l 0 changed");
  ExpectList("other", {"a", "7", "-300", "b", "c"});
  ExpectEncoding("other", "quicklist");
  EXPECT_THAT(Run("DEL l other"), Int(2));
}

// Reads, trims and changes lists of several chunks, some of them sealed, in the middle.
TEST_P(ListCommands, KeepsLongListsInOrder) {
  std::vector<std::string> all;
  for (int i = 0; i < 5000; ++i) {
    all.push_back(StrCat(i % 3 == 0 ? "element:" : "e", i));
    Run({"RPUSH", "l", all.back()});
  }
  EXPECT_THAT(Run("LRANGE l 2000 2099"), Bulks({all.begin() + 2000, all.begin() + 2100}));
  EXPECT_THAT(Run("LINDEX l -4000"), Bulk(all[1000]));
  EXPECT_THAT(Run({"LPOS", "l", all[3333]}), Int(3333));
  Run("LSET l 1500 changed");
  all[1500] = "changed";
  Run("LTRIM l 700 -300");
  all.assign(all.begin() + 700, all.end() - 299);
  ExpectList("l", all);
}

class ListDigest : public ListCommands {
 protected:
  ListDigest() : ListCommands({"enable-debug-command yes"}) {}
};
INSTANTIATE_TEST_SUITE_P(Resp, ListDigest, BothVersions(), VersionName);

TEST_P(ListDigest, IsThatOfRedis) {
  Run("RPUSH l a b 12 -1000000 c");
  EXPECT_THAT(Run("DEBUG DIGEST-VALUE l"), ArrayOf(Simple("38d5d4092a14420b3ac2da7b1409304679888b5e")));
}

// A list loaded from a ziplist is large regardless of its size, until it is trimmed.
TEST_P(ListCommands, TrimOfNothingPacksASmallList) {
  const std::string ziplist(
      "\x0a\x10\x10\0\0\0\x0d\0\0\0\x02\0\0\x01"
      "a\x03\xf2\xff\x09\0y\xda\x05R\x0b=\xac\x85",
      28);
  ASSERT_THAT(Run({"RESTORE", "l", "0", ziplist}), Ok());
  EXPECT_THAT(Run("OBJECT ENCODING l"), Bulk("quicklist"));
  EXPECT_THAT(Run("LTRIM l 0 -1"), Ok());
  EXPECT_THAT(Run("OBJECT ENCODING l"), Bulk("listpack"));
  EXPECT_THAT(Run("LRANGE l 0 -1"), Bulks({"a", "1"}));
}

}  // namespace

}  // namespace respite
