// Commands on one set.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {

namespace {

class SetCommands : public CommandTest {
 protected:
  static std::vector<std::string> Words(std::string command, std::string key, int from, int to, Bytes prefix = "") {
    std::vector<std::string> words = {std::move(command), std::move(key)};
    for (int i = from; i < to; ++i) words.push_back(StrCat(prefix, i));
    return words;
  }
  std::set<std::string> MembersOf(const std::string& key) {
    std::set<std::string> members;
    const TestReply reply = Run({"SMEMBERS", key});
    for (const ReplyTree& member : reply.tree->children) members.insert(member.text);
    return members;
  }
  int64_t Dirty() { return static_cast<int64_t>(server()->services().data.dataset.stats.dirty); }
};
INSTANTIATE_TEST_SUITE_P(Resp, SetCommands, BothVersions(), VersionName);

TEST_P(SetCommands, AddCountsNewMembers) {
  EXPECT_THAT(Run("SADD s a b a"), Int(2));
  EXPECT_EQ(Dirty(), 2);
  EXPECT_THAT(Run("SADD s b"), Int(0));
  EXPECT_EQ(Dirty(), 2);
  EXPECT_THAT(Run("SCARD s"), Int(2));
  EXPECT_THAT(Run("SMEMBERS s"), SetOf({Bulk("a"), Bulk("b")}));
  EXPECT_EQ(Journaled(), std::vector<std::string>{"0: SADD s a b a"});
}

TEST_P(SetCommands, RemoveDropsTheEmptySet) {
  Run("SADD s a b 1");
  EXPECT_THAT(Run("SREM s x"), Int(0));
  EXPECT_THAT(Run("SREM s a x b"), Int(2));
  EXPECT_THAT(Run("EXISTS s"), Int(1));
  EXPECT_THAT(Run("SREM s 1 more"), Int(1));
  EXPECT_THAT(Run("EXISTS s"), Int(0));
  EXPECT_THAT(Run("SREM s 1"), Int(0));
}

TEST_P(SetCommands, Membership) {
  for (const char* members :
       {"1 2 3", "1 b 3", "1 bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}) {
    Run("DEL s");
    Run(std::string("SADD s ") + members);
    EXPECT_THAT(Run("SISMEMBER s 1"), Int(1)) << members;
    EXPECT_THAT(Run("SISMEMBER s 01"), Int(0)) << members;
    EXPECT_THAT(Run("SMISMEMBER s x 1"), ArrayOf(Int(0), Int(1))) << members;
  }
  EXPECT_THAT(Run("SISMEMBER none 1"), Int(0));
  EXPECT_THAT(Run("SMISMEMBER none 1 2"), ArrayOf(Int(0), Int(0)));
  EXPECT_THAT(Run("SMEMBERS none"), SetOf({}));
}

TEST_P(SetCommands, ManyMembersGoIntoATable) {
  Run(Words("SADD", "s", 0, 1000, "member:"));
  EXPECT_THAT(Run("OBJECT ENCODING s"), Bulk("hashtable"));
  EXPECT_THAT(Run("SCARD s"), Int(1000));
  EXPECT_THAT(Run(Words("SREM", "s", 500, 1500, "member:")), Int(500));
  EXPECT_EQ(MembersOf("s").size(), 500u);
  EXPECT_THAT(Run("OBJECT ENCODING s"), Bulk("hashtable"));
  EXPECT_THAT(Run("COPY s t"), Int(1));
  EXPECT_EQ(MembersOf("t"), MembersOf("s"));
  Run(Words("SREM", "s", 0, 500, "member:"));
  EXPECT_THAT(Run("EXISTS s t"), Int(1));
}

TEST_P(SetCommands, EncodingFollowsTheDirectives) {
  Run("CONFIG SET set-max-intset-entries 3 set-max-listpack-entries 2 set-max-listpack-value 4");
  Run("SADD i 1 2 3");
  EXPECT_THAT(Run("OBJECT ENCODING i"), Bulk("intset"));
  Run("SADD i 4");
  EXPECT_THAT(Run("OBJECT ENCODING i"), Bulk("hashtable"));
  Run("SADD l a b");
  EXPECT_THAT(Run("OBJECT ENCODING l"), Bulk("listpack"));
  Run("SADD l c");
  EXPECT_THAT(Run("OBJECT ENCODING l"), Bulk("hashtable"));
  Run("SADD v abcd");
  EXPECT_THAT(Run("OBJECT ENCODING v"), Bulk("listpack"));
  Run("SADD v abcde");
  EXPECT_THAT(Run("OBJECT ENCODING v"), Bulk("hashtable"));
}

TEST_P(SetCommands, Move) {
  Run("SADD a 1 x");
  Run("SADD b 1");
  const int64_t before = Dirty();
  EXPECT_THAT(Run("SMOVE a b 1"), Int(1));
  EXPECT_EQ(Dirty(), before + 1) << "the target had it";
  EXPECT_THAT(Run("SMOVE a b x"), Int(1));
  EXPECT_EQ(Dirty(), before + 3);
  EXPECT_THAT(Run("EXISTS a"), Int(0));
  EXPECT_THAT(Run("SMEMBERS b"), SetOf({Bulk("1"), Bulk("x")}));
  EXPECT_THAT(Run("SMOVE a b 1"), Int(0));
  EXPECT_THAT(Run("SMOVE b b 1"), Int(1));
  EXPECT_THAT(Run("SMOVE b b 2"), Int(0));
  EXPECT_THAT(Run("SMOVE b c 1"), Int(1));
  EXPECT_THAT(Run("OBJECT ENCODING c"), Bulk("intset"));
  Run("SET str x");
  EXPECT_THAT(Run("SMOVE none str 1"), Int(0)) << "nothing to move: the type of the target does not matter";
  EXPECT_THAT(Run("SMOVE b str none"), ErrorStartsWith("WRONGTYPE"));
  Run("PEXPIRE str 10");
  clock().AdvanceMs(20);
  EXPECT_THAT(Run("SMOVE none str 1"), Int(0));
  EXPECT_EQ(server()->services().data.dataset.stats.expired_keys, 1u) << "it is looked for, and so expires";
}

TEST_P(SetCommands, PopOneIsRecordedAsItsRemoval) {
  Run("SADD s only");
  EXPECT_THAT(Run("SPOP s"), Bulk("only"));
  EXPECT_THAT(Run("EXISTS s"), Int(0));
  EXPECT_THAT(Run("SPOP s"), Nil());
  EXPECT_EQ(Journaled().back(), "0: SREM s only");
}

TEST_P(SetCommands, PopAllIsRecordedAsDeletion) {
  Run("SADD s 1 2 3");
  EXPECT_THAT(Run("SPOP s 3"), SetOf({Bulk("1"), Bulk("2"), Bulk("3")}));
  EXPECT_EQ(Journaled().back(), "0: DEL s");
  Run("CONFIG SET lazyfree-lazy-server-del yes");
  Run("SADD s 1");
  EXPECT_THAT(Run("SPOP s 9"), SetOf({Bulk("1")}));
  EXPECT_EQ(Journaled().back(), "0: UNLINK s");
  EXPECT_THAT(Run("SPOP s 9"), SetOf({}));
}

// Pops few of many, many of many, and all but a few, from each encoding. The fixture replays the journal at the end.
TEST_P(SetCommands, PopSeveral) {
  for (const char* prefix : {"", "m"}) {
    for (int size : {100, 400, 3000}) {
      for (int count : {1, 7, size / 2, size - size / 10, size - 1}) {
        Run("DEL s");
        Run(Words("SADD", "s", 0, size, prefix));
        const std::set<std::string> before = MembersOf("s");
        const TestReply popped = Run({"SPOP", "s", std::to_string(count)});
        std::set<std::string> all = MembersOf("s");
        ASSERT_EQ(all.size(), static_cast<size_t>(size - count));
        for (const ReplyTree& member : popped.tree->children) ASSERT_TRUE(all.insert(member.text).second);
        ASSERT_EQ(all, before);
      }
    }
  }
}

TEST_P(SetCommands, RandomMembers) {
  EXPECT_THAT(Run("SRANDMEMBER none"), Nil());
  EXPECT_THAT(Run("SRANDMEMBER none 3"), EmptyArray());
  for (const char* prefix : {"", "m"}) {
    for (int size : {50, 2000}) {
      Run("DEL s");
      Run(Words("SADD", "s", 0, size, prefix));
      const std::set<std::string> members = MembersOf("s");
      for (int count : {1, 5, size - 1, size, size + 10}) {
        std::set<std::string> sample;
        const TestReply reply = Run({"SRANDMEMBER", "s", std::to_string(count)});
        for (const ReplyTree& member : reply.tree->children) sample.insert(member.text);
        ASSERT_EQ(sample.size(), static_cast<size_t>(std::min(count, size)));
        for (const std::string& member : sample) ASSERT_TRUE(members.contains(member));
      }
      const TestReply repeats = Run({"SRANDMEMBER", "s", std::to_string(-3 * size)});
      ASSERT_EQ(repeats.tree->children.size(), static_cast<size_t>(3 * size));
      for (const ReplyTree& member : repeats.tree->children) ASSERT_TRUE(members.contains(member.text));
      ASSERT_THAT(Run("SRANDMEMBER s"), BulkThat(testing::StartsWith(prefix)));
    }
  }
}

TEST_P(SetCommands, EachMemberIsChosenEquallyOften) {
  Run(Words("SADD", "s", 0, 10));
  Run(Words("SADD", "t", 0, 10, "m"));
  for (const char* key : {"s", "t"}) {
    std::map<std::string, int> met;
    for (int i = 0; i < 3000; ++i) ++met[Run({"SRANDMEMBER", key}).tree->text];
    EXPECT_EQ(met.size(), 10u);
    for (const auto& [member, times] : met) EXPECT_NEAR(times, 300, 90) << member;
  }
}

TEST_P(SetCommands, ScanReturnsEveryMember) {
  for (int size : {5, 3000}) {
    Run("DEL s");
    Run(Words("SADD", "s", 0, size, "m"));
    std::set<std::string> met;
    std::string cursor = "0";
    int calls = 0;
    do {
      const TestReply reply = Run({"SSCAN", "s", cursor, "COUNT", "50"});
      cursor = reply.tree->children[0].text;
      for (const ReplyTree& member : reply.tree->children[1].children) met.insert(member.text);
      ++calls;
    } while (cursor != "0");
    EXPECT_EQ(met, MembersOf("s"));
    EXPECT_EQ(calls > 1, size > 128);
  }
  EXPECT_THAT(Run("SSCAN s 0 MATCH m7 COUNT 10000"), ArrayOf(Bulk("0"), Bulks({"m7"})));
  EXPECT_THAT(Run("SSCAN none 0 NONSENSE"), ArrayOf(Bulk("0"), EmptyArray())) << "options are not looked at";
  EXPECT_THAT(Run("SSCAN none x"), Error("ERR invalid cursor"));
}

TEST_P(SetCommands, Refusals) {
  Run("SET str x");
  for (const char* line :
       {"SADD str 1", "SREM str 1", "SPOP str", "SPOP str 1", "SRANDMEMBER str", "SRANDMEMBER str 1", "SISMEMBER str 1",
        "SMISMEMBER str 1", "SCARD str", "SMEMBERS str", "SSCAN str 0", "SMOVE str s 1"})
    EXPECT_THAT(Run(line), ErrorStartsWith("WRONGTYPE ")) << line;
  EXPECT_THAT(Run("SPOP s -1"), Error("ERR value is out of range, must be positive"));
  EXPECT_THAT(Run("SPOP s x"), Error("ERR value is out of range, must be positive"));
  EXPECT_THAT(Run("SPOP s 1 2"), Error("ERR syntax error"));
  EXPECT_THAT(Run("SRANDMEMBER s x"), Error("ERR value is not an integer or out of range"));
  EXPECT_THAT(Run("SRANDMEMBER s -9223372036854775808"),
              Error("ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"));
}

TEST_P(SetCommands, AnExpiredSetIsGone) {
  Run("SADD s 1 2");
  Run("PEXPIRE s 10");
  clock().AdvanceMs(20);
  EXPECT_THAT(Run("SISMEMBER s 1"), Int(0));
  EXPECT_THAT(Run("SADD s 3"), Int(1));
  EXPECT_THAT(Run("SMEMBERS s"), SetOf({Bulk("3")}));
}

}  // namespace

}  // namespace respite
