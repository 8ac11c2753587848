// TEST LOAD, TEST DUMP and TEST SEED over the protocol.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/str_cat.h"
#include "tests/support/reply_matchers.h"
#include "tests/support/test_client.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

using testing::HasSubstr;

class TestFixtureTest : public testing::Test {
 protected:
  ~TestFixtureTest() override { ExpectReplayMatches(server_); }

  TestServer server_{{.directives = {"test-commands yes"}}};
  TestClient client_{server_};
};

TEST_F(TestFixtureTest, LoadsEachFormat) {
  EXPECT_THAT(client_.Run({"TEST", "LOAD", "redis", "# a comment\nSET k \"a b\"\n\nSELECT 2\nRPUSH l 1 2\n"}), Int(3));
  EXPECT_THAT(client_.Run({"TEST", "LOAD", "JSON", R"({"user:1": {"hash": {"name": "Ada"}, "ttl": "1h"}})"}),
              AnyReply());
  EXPECT_THAT(client_.Run({"TEST", "LOAD", "resp", "*3\r\n$3\r\nSET\r\n$1\r\nr\r\n$1\r\nv\r\n"}), Int(1));
  EXPECT_THAT(client_.Run("MGET k r"), Bulks({"a b", "v"}));
  EXPECT_THAT(client_.Run("HGET user:1 name"), Bulk("Ada"));
  EXPECT_THAT(client_.Run("TTL user:1"), Int(3600));
  EXPECT_EQ(client_.session().db, 0);
  client_.Run("SELECT 2");
  EXPECT_THAT(client_.Run("LRANGE l 0 -1"), Bulks({"1", "2"}));
}

TEST_F(TestFixtureTest, LoadsAllOrNothing) {
  client_.Run("SET k before");
  client_.Run("SADD other x");
  const Snapshot before = SnapshotOf(*server_);
  EXPECT_THAT(client_.Run({"TEST", "LOAD", "redis", "SET k after\nDEL other\nSET new 1\nINCR k\n"}),
              Error("ERR line 4: incr: ERR value is not an integer or out of range"));
  EXPECT_EQ(SnapshotDifference(before, SnapshotOf(*server_)), "");
  EXPECT_THAT(client_.Run({"TEST", "LOAD", "redis", "SET k after\nFLUSHALL\nNOSUCH 1\n"}),
              ErrorStartsWith("ERR line 3: unknown"));
  EXPECT_THAT(client_.Run({"TEST", "LOAD", "redis", "SET k after\nSET\n"}), ErrorStartsWith("ERR line 2: "));
  EXPECT_THAT(client_.Run({"TEST", "LOAD", "redis", "SET k after\nSUBSCRIBE x\n"}), ErrorStartsWith("ERR line 2: "));
  EXPECT_THAT(client_.Run({"TEST", "LOAD", "redis", "SET k after\nSET \"open\n"}), ErrorStartsWith("ERR line 2: "));
  EXPECT_THAT(client_.Run({"TEST", "LOAD", "rdb", "REDIS0011"}), ErrorStartsWith("ERR the format is REDIS"));
  EXPECT_EQ(SnapshotDifference(before, SnapshotOf(*server_)), "");
}

TEST_F(TestFixtureTest, AFailedLoadLeavesNoFunctionsAndScripts) {
  client_.Run("FUNCTION LOAD \"#!lua name=old\\nredis.register_function('f', function() return 1 end)\"");
  const std::string lines =
      "FUNCTION LOAD \"#!lua name=new\\nredis.register_function('g', function() end)\"\n"
      "FUNCTION DELETE old\nEVAL 'return 5' 0\nINCR\n";
  EXPECT_THAT(client_.Run({"TEST", "LOAD", "redis", lines}), ErrorStartsWith("ERR line 4: "));
  EXPECT_THAT(client_.Run("FCALL f 0"), Int(1));
  EXPECT_EQ(client_.Run("FUNCTION LIST").Size(), 1u);
  EXPECT_THAT(client_.Run("EVALSHA 4ca238f611c9d0ae4e9a75a5dbac22aedc379801 0"), ErrorStartsWith("NOSCRIPT"));
  EXPECT_THAT(client_.Run({"TEST", "LOAD", "redis", "FUNCTION FLUSH ASYNC\nINCR\n"}), ErrorStartsWith("ERR line 2: "));
  EXPECT_THAT(client_.Run("FCALL f 0"), Int(1));
}

TEST_F(TestFixtureTest, DumpsTheSameTextForTheSameData) {
  client_.Run("TEST CLOCK FREEZE 1700000000000");
  const std::vector<std::string> lines = {"SADD colours green \"light blue\" red",
                                          "HSET user:1 age 36 name Ada",
                                          "PEXPIREAT user:1 1700003600000",
                                          "RPUSH queue b a",
                                          "ZADD board 1 ada 2 bob",
                                          "SET \"\" \"\\x00\\n\"",
                                          "XADD events 1-1 kind login",
                                          R"(JSON.SET document $ '{"a":[1,"b"]}')",
                                          "VADD vectors VALUES 2 1 2 element SETATTR 7"};
  for (const std::string& line : lines) client_.Run(line);
  client_.Run("SET gone v PX 1");
  client_.Run("TEST CLOCK ADVANCE 1");
  client_.Run("SELECT 3");
  client_.Run("SET other v");
  const std::string text = client_.Run("TEST DUMP").Text();
  EXPECT_THAT(text, HasSubstr("SADD colours green \"light blue\" red\n"
                              "JSON.SET document $ \"{\\\"a\\\":[1,\\\"b\\\"]}\"\nXADD events 1-1 kind login\n"));
  EXPECT_THAT(text, HasSubstr("HSET user:1 age 36 name Ada\nPEXPIREAT user:1 1700003600000\nRESTORE vectors 0 "));
  EXPECT_EQ(client_.Run("TEST DUMP o*").Text(), "SELECT 3\nSET other v\n");
  const Snapshot before = SnapshotOf(*server_);
  client_.Run("FLUSHALL");
  EXPECT_THAT(client_.Run({"TEST", "LOAD", "redis", text}), AnyReply());
  EXPECT_EQ(SnapshotDifference(before, SnapshotOf(*server_)), "");
  EXPECT_EQ(client_.Run("TEST DUMP").Text(), text);
}

TEST_F(TestFixtureTest, LargeSetsAndHashesAreSorted) {
  for (int i = 999; i >= 0; --i) {
    client_.Run(StrCat("SADD s m", i));
    client_.Run(StrCat("HSET h f", i, " v"));
  }
  client_.Run("HPEXPIREAT h 1800000000000 FIELDS 2 f7 f3");
  const std::string text = client_.Run("TEST DUMP").Text();
  EXPECT_THAT(text, HasSubstr("SADD s m0 m1 m10 m100 m101"));
  EXPECT_THAT(text, HasSubstr("HSET h f0 v f1 v f10 v"));
  EXPECT_THAT(text, HasSubstr("HPEXPIREAT h 1800000000000 FIELDS 2 f3 f7\n"));
}

TEST_F(TestFixtureTest, ASeedRepeatsChoices) {
  for (int i = 0; i < 100; ++i) client_.Run(StrCat("SADD s ", i));
  const auto choices = [&] {
    client_.Run("TEST SEED 42");
    std::string chosen;
    for (int i = 0; i < 20; ++i) chosen += client_.Run("SRANDMEMBER s").Text() + " ";
    return chosen;
  };
  EXPECT_EQ(choices(), choices());
  EXPECT_THAT(client_.Run("TEST SEED many"), ErrorStartsWith("ERR value is not an integer"));
}

}  // namespace
}  // namespace respite
