#include <string>

#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {

namespace {

using testing::ElementsAre;

class StringConditionCommands : public CommandTest {};
INSTANTIATE_TEST_SUITE_P(Resp, StringConditionCommands, BothVersions(), VersionName);

constexpr char kHelloWorldDigest[] = "b6acb9d84a38ff74";  // from the documentation of DIGEST

TEST_P(StringConditionCommands, DigestIsXxh3) {
  EXPECT_THAT(Run("DIGEST none"), Nil());
  Run(std::vector<std::string>{"SET", "k", "Hello world"});
  EXPECT_THAT(Run("DIGEST k"), Bulk(kHelloWorldDigest));
  Run("SET n 12");
  EXPECT_THAT(Run("DIGEST n"), Bulk("7ecd2e572c949f74"));  // from Redis 8.6.3
  Run("RPUSH l a");
  EXPECT_THAT(Run("DIGEST l"), ErrorStartsWith("WRONGTYPE"));
}

TEST_P(StringConditionCommands, SetComparesTheOldValue) {
  EXPECT_THAT(Run("SET k a IFNE b"), Ok()) << "an absent key differs from any value";
  EXPECT_THAT(Run("SET k b IFNE a"), Nil());
  EXPECT_THAT(Run("SET k b IFNE x GET"), Bulk("a"));
  EXPECT_THAT(Run("SET none a IFDEQ 0000000000000000"), Nil());
  EXPECT_THAT(Run("SET new a IFDNE 0000000000000000"), Ok());
  Run(std::vector<std::string>{"SET", "k", "Hello world"});
  EXPECT_THAT(Run(StrCat("SET k x IFDNE ", kHelloWorldDigest)), Nil());
  EXPECT_THAT(Run("SET k x IFDEQ B6ACB9D84A38FF74 EX 10"), Ok()) << "ignores case";
  EXPECT_THAT(Run("TTL k"), Int(10));
  EXPECT_THAT(Run("GET k"), Bulk("x"));
}

TEST_P(StringConditionCommands, SetCombinesAComparisonWithNxAndXxAfterIt) {
  Run("SET k v");
  EXPECT_THAT(Run("SET k w IFEQ v NX"), Nil());
  EXPECT_THAT(Run("SET k w IFEQ v XX"), Ok());
  EXPECT_THAT(Run("SET new w IFNE v NX"), Ok());
  EXPECT_THAT(Run("SET k x IFEQ other IFEQ w"), Ok()) << "the last one counts";
}

TEST_P(StringConditionCommands, SetRefusesBadComparisons) {
  for (const char* options : {"IFEQ", "IFDNE", "NX IFEQ v", "XX IFNE v", "IFEQ v IFNE w", "IFDEQ 0 IFDNE 0"})
    EXPECT_THAT(Run("SET k v " + std::string(options)), Error("ERR syntax error")) << options;
  EXPECT_THAT(Run("SET k v IFDNE abc"), Ok()) << "an absent key is not compared";
  EXPECT_THAT(Run("SET k v IFDEQ abc"), Error("ERR must be exactly 16 hexadecimal characters"));
  EXPECT_THAT(Run("SET k v IFDNE zzzzzzzzzzzzzzzz"), Ok()) << "not a digest, so it differs";
  Run("RPUSH l a");
  EXPECT_THAT(Run("SET l v IFNE a"), ErrorStartsWith("WRONGTYPE"));
  EXPECT_THAT(Run("SET l v IFDEQ abc"), ErrorStartsWith("WRONGTYPE"));
}

TEST_P(StringConditionCommands, DelExDeletesIfTheConditionHolds) {
  Run("MSET a 1 b 1 c 1");
  EXPECT_THAT(Run("DELEX a IFEQ 2"), Int(0));
  EXPECT_THAT(Run("DELEX a IFNE 1"), Int(0));
  EXPECT_THAT(Run("DELEX a IFEQ 1"), Int(1));
  EXPECT_THAT(Run("DELEX b IFNE 2"), Int(1));
  EXPECT_THAT(Run("DELEX c IFDEQ 0000000000000000"), Int(0));
  EXPECT_THAT(Run("DELEX c IFDNE 0000000000000000"), Int(1));
  EXPECT_THAT(Run("DELEX none IFNE a"), Int(0));
  Run("RPUSH l a");
  EXPECT_THAT(Run("DELEX l"), Int(1));
  EXPECT_THAT(Run("DELEX l"), Int(0));
  EXPECT_THAT(Run("DBSIZE"), Int(0));
  EXPECT_THAT(Journaled(),
              ElementsAre("0: MSET a 1 b 1 c 1", "0: DEL a", "0: DEL b", "0: DEL c", "0: RPUSH l a", "0: DEL l"));
}

TEST_P(StringConditionCommands, DelExRefusals) {
  Run("SET k v");
  Run("RPUSH l a");
  for (const char* options : {"IFEQ", "IFEQ v x"})
    EXPECT_THAT(Run("DELEX k " + std::string(options)), Error("ERR wrong number of arguments for 'delex' command"));
  EXPECT_THAT(Run("DELEX k IFXX v"), Error("ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE"));
  EXPECT_THAT(Run("DELEX k IFDNE abc"), Error("ERR must be exactly 16 hexadecimal characters"));
  for (const char* condition : {"IFXX v", "IFDNE abc"}) EXPECT_THAT(Run(StrCat("DELEX none ", condition)), Int(0));
  for (const char* condition : {"IFEQ", "IFXX"})
    EXPECT_THAT(Run(StrCat("DELEX l ", condition, " v")),
                Error("ERR Key should be of string type if conditions are specified"));
}

TEST_P(StringConditionCommands, MSetExStoresAllOrNothing) {
  EXPECT_THAT(Run("MSETEX 2 a 1 b 2"), Int(1));
  EXPECT_THAT(Run("MSETEX 2 b 3 c 3 NX"), Int(0));
  EXPECT_THAT(Run("MSETEX 2 b 3 c 3 XX"), Int(0));
  EXPECT_THAT(Run("EXISTS c"), Int(0));
  EXPECT_THAT(Run("MSETEX 2 a 4 b 4 XX EX 10"), Int(1));
  EXPECT_THAT(Run("TTL a"), Int(10));
  EXPECT_THAT(Run("MSETEX 1 a 5 KEEPTTL"), Int(1));
  EXPECT_THAT(Run("TTL a"), Int(10));
  EXPECT_THAT(Run("MSETEX 1 a 6"), Int(1));
  EXPECT_THAT(Run("TTL a"), Int(-1));
  Run("RPUSH l x");
  EXPECT_THAT(Run("MSETEX 2 l 1 l 2 EX 5 EX 7"), Int(1)) << "any type, and the last of equal options";
  EXPECT_THAT(Run("GET l"), Bulk("2"));
  EXPECT_THAT(Run("TTL l"), Int(7));
}

TEST_P(StringConditionCommands, MSetExIsJournaledAsSetWithItsDeadline) {
  Run("MSETEX 2 a 1 b 2 NX PXAT 1800000000000");
  Run("MSETEX 1 a 2 XX KEEPTTL");
  EXPECT_THAT(Journaled(),
              ElementsAre("0: SET a 1 PXAT 1800000000000", "0: SET b 2 PXAT 1800000000000", "0: SET a 2 KEEPTTL"));
}

TEST_P(StringConditionCommands, MSetExRefusals) {
  for (const char* line : {"MSETEX 0 a 1", "MSETEX x a 1", "MSETEX -1 a 1", "MSETEX 2147483648 a 1"})
    EXPECT_THAT(Run(line), Error("ERR invalid numkeys value")) << line;
  EXPECT_THAT(Run("MSETEX 2 a 1 b"), Error("ERR wrong number of key-value pairs"));
  for (const char* options : {"b", "b 2", "NX XX", "EX", "EX 1 PX 1", "KEEPTTL EX 1", "IFEQ 1", "GET"})
    EXPECT_THAT(Run("MSETEX 1 a 1 " + std::string(options)), Error("ERR syntax error")) << options;
  for (const char* options : {"EX 0", "PX -1", "EX 9223372036854775807"})
    EXPECT_THAT(Run("MSETEX 1 a 1 " + std::string(options)), Error("ERR invalid expire time in 'msetex' command"));
  EXPECT_THAT(Run("EXISTS a"), Int(0));
}

TEST_P(StringConditionCommands, KeysAreFoundWithTheirAccess) {
  EXPECT_THAT(Run("COMMAND GETKEYS MSETEX 2 a 1 b 2 NX"), Bulks({"a", "b"}));
  for (const char* request : {"DELEX k", "DELEX k extra", "DELEX k IF v"}) {
    EXPECT_THAT(Run(StrCat("COMMAND GETKEYSANDFLAGS ", request)),
                ArrayOf(ArrayOf(Bulk("k"), SetOf({Simple("RM"), Simple("delete")}))))
        << request;
  }
  EXPECT_THAT(Run("COMMAND GETKEYSANDFLAGS DELEX k IFEQ v"),
              ArrayOf(ArrayOf(Bulk("k"), SetOf({Simple("RW"), Simple("delete")}))));
  EXPECT_THAT(Run("COMMAND GETKEYSANDFLAGS SET k v IFEQ v"),
              ArrayOf(ArrayOf(Bulk("k"), SetOf({Simple("RW"), Simple("update")}))));
}

}  // namespace

}  // namespace respite
