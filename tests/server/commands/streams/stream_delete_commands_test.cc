// XDELEX, XACKDEL, and the options KEEPREF, DELREF and ACKED of XTRIM and XADD. The replies were taken from
// Redis 8.6.3.
#include <algorithm>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {
namespace {

class StreamDeleteCommands : public CommandTest {
 protected:
  explicit StreamDeleteCommands(std::vector<std::string> directives = {"stream-node-max-entries 3"})
      : CommandTest(std::move(directives)) {}

  // Creates a stream "s" of entries 1-0 … count-0, of which a group "g" has read all and acknowledged all but
  // `pending`.
  void Fill(int count, const std::vector<int>& pending) {
    Run("DEL s");
    for (int i = 1; i <= count; ++i) Run({"XADD", "s", std::to_string(i), "n", "v"});
    Run("XGROUP CREATE s g 0");
    Run("XREADGROUP GROUP g c STREAMS s >");
    for (int i = 1; i <= count; ++i) {
      if (std::find(pending.begin(), pending.end(), i) == pending.end()) Run({"XACK", "s", "g", std::to_string(i)});
    }
  }
  std::string Left() {
    std::string ids;
    const TestReply entries = Run("XRANGE s - +");
    for (size_t i = 0; i < entries.Size(); ++i) StrAppend(ids, i > 0 ? " " : "", entries[i][0].Text());
    return ids;
  }
  std::string PendingIds(Bytes group) {
    std::string ids;
    const TestReply entries = Run({"XPENDING", "s", group, "-", "+", "99"});
    for (size_t i = 0; i < entries.Size(); ++i) StrAppend(ids, i > 0 ? " " : "", entries[i][0].Text());
    return ids;
  }
};
INSTANTIATE_TEST_SUITE_P(Resp, StreamDeleteCommands, BothVersions(), VersionName);

ReplyMatcher Outcomes(std::vector<int64_t> values) {
  ReplyMatchers all;
  for (const int64_t value : values) all.push_back(Int(value));
  return ArrayOf(std::move(all));
}

constexpr char kBadIdCount[] = "ERR Number of IDs must be a positive integer";
constexpr char kIdCountMismatch[] = "ERR The `numids` parameter must match the number of arguments";
constexpr char kInvalidStreamId[] = "ERR Invalid stream ID specified as stream command argument";

TEST_P(StreamDeleteCommands, XDelExChecksItsArguments) {
  EXPECT_THAT(Run("XDELEX no IDS 2 1-1 2-2"), Outcomes({-1, -1}));
  EXPECT_THAT(Run("XDELEX no IDS 2 1-1 x"), Outcomes({-1, -1}));
  EXPECT_THAT(Run("XDELEX no IDS 2 1-1"), Error(kIdCountMismatch));
  EXPECT_THAT(Run("XDELEX no IDS 4294967297 1-1"), Error(kIdCountMismatch));
  EXPECT_THAT(Run("XDELEX no IDS 1 1-1 2-2"), Error("ERR syntax error"));
  EXPECT_THAT(Run("XDELEX no IDS 0"), Error("ERR wrong number of arguments for 'xdelex' command"));
  for (const char* count : {"0", "-1", "x", "99999999999999999999"}) {
    EXPECT_THAT(Run({"XDELEX", "no", "IDS", count, "1-1"}), Error(kBadIdCount)) << count;
  }
  EXPECT_THAT(Run("XDELEX no KEEPREF DELREF IDS 1 1-1"), Error("ERR syntax error"));
  EXPECT_THAT(Run("XDELEX no KEEPREF KEEPREF IDS 1 1-1"), Error("ERR syntax error"));
  EXPECT_THAT(Run("XDELEX no IDS 1 1-1 ACKED"), Outcomes({-1}));
  EXPECT_THAT(Run("XDELEX no ACKED 1 1-1"), Error("ERR syntax error"));
  EXPECT_THAT(Run("XDELEX no ACKED IDS 1"), Error(kIdCountMismatch));
  EXPECT_THAT(Run("XDELEX no IDS 1 1-1 IDS 1 1-1"), Outcomes({-1}));
  Run("SET text x");
  EXPECT_THAT(Run("XDELEX text IDS 1 x"), Error(kWrongType));
  Fill(2, {});
  EXPECT_THAT(Run("XDELEX s IDS 2 1 x"), Error(kInvalidStreamId));
  EXPECT_EQ(Left(), "1-0 2-0");
}

TEST_P(StreamDeleteCommands, XDelExKeepsOrDropsReferences) {
  Fill(6, {2, 3, 4});
  Run("XGROUP CREATE s h 0");
  EXPECT_THAT(Run("XDELEX s IDS 3 1-0 1-0 9-9"), Outcomes({1, -1, -1}));
  EXPECT_THAT(Run("XDELEX s KEEPREF IDS 1 2-0"), Outcomes({1}));
  EXPECT_EQ(PendingIds("g"), "2-0 3-0 4-0");
  EXPECT_THAT(Run("XDELEX s DELREF IDS 1 3-0"), Outcomes({1}));
  EXPECT_EQ(PendingIds("g"), "2-0 4-0");
  EXPECT_THAT(Run("XDELEX s DELREF IDS 1 2-0"), Outcomes({-1}));  // only the reference existed
  EXPECT_EQ(PendingIds("g"), "4-0");
  EXPECT_THAT(Run("XDELEX s ACKED IDS 3 4-0 5-0 77-7"), Outcomes({2, 2, 2}));  // h has read nothing
  Run("XGROUP DESTROY s h");
  EXPECT_THAT(Run("XDELEX s ACKED IDS 3 4-0 5-0 77-7"), Outcomes({2, 1, 2}));
  Run("XGROUP DESTROY s g");
  EXPECT_THAT(Run("XDELEX s ACKED IDS 2 4-0 77-7"), Outcomes({1, -1}));
  EXPECT_EQ(Left(), "6-0");
  EXPECT_THAT(Run("XDELEX s DELREF IDS 1 6-0"), Outcomes({1}));
  EXPECT_THAT(Run("TYPE s"), Simple("stream"));
}

TEST_P(StreamDeleteCommands, XAckDelAcknowledgesFirst) {
  EXPECT_THAT(Run("XACKDEL no g IDS 1 x"), Outcomes({-1}));
  EXPECT_THAT(Run("XACKDEL no g IDS 2 x"), Error(kIdCountMismatch));
  EXPECT_THAT(Run("XACKDEL no g IDS 0 1-1"), Error(kBadIdCount));
  EXPECT_THAT(Run("XACKDEL no g WHAT IDS 1 1-1"), Error("ERR syntax error"));
  EXPECT_THAT(Run("XACKDEL no g"), Error("ERR wrong number of arguments for 'xackdel' command"));
  Run("SET text x");
  EXPECT_THAT(Run("XACKDEL text g IDS 1 1-1"), Error(kWrongType));
  Fill(6, {1, 2, 3, 4, 5});
  Run("XGROUP CREATE s h 0");
  Run("XREADGROUP GROUP h c COUNT 3 STREAMS s >");
  EXPECT_THAT(Run("XACKDEL s no IDS 1 x"), Outcomes({-1}));
  EXPECT_THAT(Run("XACKDEL s g IDS 2 1-0 x"), Error(kInvalidStreamId));
  EXPECT_THAT(Run("XACKDEL s g IDS 2 1-0 9-9"), Outcomes({1, -1}));
  EXPECT_EQ(PendingIds("g"), "2-0 3-0 4-0 5-0");
  EXPECT_EQ(PendingIds("h"), "1-0 2-0 3-0");
  EXPECT_THAT(Run("XACKDEL s g DELREF IDS 1 2-0"), Outcomes({1}));
  EXPECT_EQ(PendingIds("h"), "1-0 3-0");
  EXPECT_THAT(Run("XACKDEL s g ACKED IDS 2 3-0 4-0"), Outcomes({2, 2}));
  EXPECT_THAT(Run("XACKDEL s h ACKED IDS 1 3-0"), Outcomes({1}));
  EXPECT_THAT(Run("XACKDEL s h ACKED IDS 1 4-0"), Outcomes({-1}));
  EXPECT_THAT(Run("XACKDEL s h IDS 1 1-0"), Outcomes({1}));  // the entry was deleted before
  EXPECT_EQ(Left(), "4-0 5-0 6-0");
}

TEST_P(StreamDeleteCommands, TrimmingLeavesReferencedEntries) {
  const struct {
    std::vector<int> pending;
    const char* trim;
    int64_t removed;
    const char* left;
  } kCases[] = {
      {{1}, "MAXLEN 5 ACKED", 5, "1-0 7-0 8-0 9-0 10-0"},
      {{1, 3, 5, 7, 9}, "MAXLEN 8 ACKED", 2, "1-0 3-0 5-0 6-0 7-0 8-0 9-0 10-0"},
      {{1, 3, 5, 7, 9}, "ACKED MAXLEN 0", 5, "1-0 3-0 5-0 7-0 9-0"},
      {{1, 3, 5, 7, 9}, "MINID 6 ACKED", 2, "1-0 3-0 5-0 6-0 7-0 8-0 9-0 10-0"},
      {{1, 5}, "MAXLEN ~ 2 ACKED", 8, "1-0 5-0"},
      {{1, 5}, "MAXLEN ~ 5 LIMIT 3 ACKED", 2, "1-0 4-0 5-0 6-0 7-0 8-0 9-0 10-0"},
      {{1, 5}, "MAXLEN ~ 2 LIMIT 5 ACKED", 4, "1-0 5-0 7-0 8-0 9-0 10-0"},
      {{1, 5}, "MAXLEN ~ 2 LIMIT 2 ACKED", 0, "1-0 2-0 3-0 4-0 5-0 6-0 7-0 8-0 9-0 10-0"},
      {{1, 5}, "MINID ~ 8 ACKED", 5, "1-0 5-0 8-0 9-0 10-0"},
      {{1, 2, 3, 4, 5, 6, 7, 8}, "MAXLEN ~ 5 ACKED", 2, "1-0 2-0 3-0 4-0 5-0 6-0 7-0 8-0"},
      {{1, 4}, "MAXLEN ~ 5 DELREF", 5, "6-0 7-0 8-0 9-0 10-0"},
      {{1, 4}, "MAXLEN ~ 5 KEEPREF", 3, "4-0 5-0 6-0 7-0 8-0 9-0 10-0"},
      {{1, 5}, "MAXLEN ~ 2 LIMIT 5 DELREF", 3, "4-0 5-0 6-0 7-0 8-0 9-0 10-0"},
      {{1, 5}, "MINID ~ 8 DELREF", 7, "8-0 9-0 10-0"},
  };
  for (const auto& one : kCases) {
    Fill(10, one.pending);
    EXPECT_THAT(Run(StrCat("XTRIM s ", one.trim)), Int(one.removed)) << one.trim;
    EXPECT_EQ(Left(), one.left) << one.trim;
  }
  EXPECT_EQ(PendingIds("g"), "");
}

TEST_P(StreamDeleteCommands, TrimmingTakesOneReferenceOption) {
  Fill(3, {1});
  EXPECT_THAT(Run("XTRIM s MAXLEN 3 KEEPREF DELREF"), Error("ERR syntax error"));
  EXPECT_THAT(Run("XTRIM s KEEPREF ACKED"), Error("ERR syntax error"));
  EXPECT_THAT(Run("XTRIM s MAXLEN ACKED 3"), Error("ERR value is not an integer or out of range"));
  EXPECT_THAT(Run("XADD s KEEPREF DELREF 8-1 a b"), Error(kInvalidStreamId));
  EXPECT_THAT(Run("XADD s ACKED MAXLEN 0 8-1 a b"), Bulk("8-1"));
  EXPECT_EQ(Left(), "1-0 8-1");
  EXPECT_THAT(Run("XADD s MAXLEN 1 DELREF 9-1 a b"), Bulk("9-1"));
  EXPECT_EQ(Left(), "9-1");
  EXPECT_EQ(PendingIds("g"), "");
}

TEST_P(StreamDeleteCommands, JournalTheReferencesOfTrims) {
  Fill(7, {1});
  const size_t before = Journaled().size();
  Run("XTRIM s MINID ~ 5 ACKED");
  Run("XADD s DELREF MAXLEN 1 9-0 a b");
  Run("XDELEX s DELREF IDS 1 1-0");
  std::vector<std::string> journal = Journaled();
  journal.erase(journal.begin(), journal.begin() + static_cast<ptrdiff_t>(before));
  EXPECT_EQ(journal, (std::vector<std::string>{"0: XDEL s 2-0 3-0 4-0", "0: XADD s 9-0 a b", "0: XACK s g 1-0",
                                               "0: XTRIM s MINID = 9-0"}));
}

TEST_P(StreamDeleteCommands, OlderVersionsLackThem) {
  TestServer old(TestServer::Options{.directives = {"emulate redis:7.4"}});
  TestClient client(old, GetParam());
  client.Run("XADD s 1-1 a b");
  EXPECT_THAT(client.Run("XDELEX s IDS 1 1-1"), ErrorStartsWith("ERR unknown command"));
  EXPECT_THAT(client.Run("XTRIM s MAXLEN 1 ACKED"), Error("ERR syntax error"));
  EXPECT_THAT(client.Run("XADD s IDMP p i * a b"), Error(kInvalidStreamId));
  client.Run("XGROUP CREATE s g 0");
  EXPECT_THAT(client.Run("XREADGROUP GROUP g c CLAIM 0 STREAMS s >"), Error("ERR syntax error"));
  EXPECT_THAT(client.Run("XREAD MAXCOUNT 1 STREAMS s 0"), Error("ERR syntax error"));
}

}  // namespace
}  // namespace respite
