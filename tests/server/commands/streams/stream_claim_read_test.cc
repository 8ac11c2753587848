// XREADGROUP … CLAIM, XNACK, and the options MAXCOUNT and MAXSIZE. The replies of CLAIM were taken from Redis 8.6.3.
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {
namespace {

class StreamClaimRead : public CommandTest {
 protected:
  // Creates a stream `key` of entries 1-0 … count-0, and a group "g" at its beginning.
  void Fill(int count, const std::string& key = "s") {
    for (int i = 1; i <= count; ++i) Run({"XADD", key, std::to_string(i), "n", "v"});
    Run({"XGROUP", "CREATE", key, "g", "0"});
  }
  static ReplyMatcher Entry(int n) { return ArrayOf(Bulk(StrCat(n, "-0")), Bulks({"n", "v"})); }
  static ReplyMatcher Claimed(int n, int64_t idle_ms, int64_t deliveries) {
    return ArrayOf(Bulk(StrCat(n, "-0")), Bulks({"n", "v"}), Int(idle_ms), Int(deliveries));
  }
  ReplyMatcher Read(ReplyMatchers entries, const std::string& key = "s") {
    const ReplyMatcher found = ArrayOf(std::move(entries));
    return IsResp3() ? MapOf({{Bulk(key), found}}) : ArrayOf(ArrayOf(Bulk(key), found));
  }
  static ReplyMatcher Pending(int n, const std::string& consumer, int64_t idle_ms, int64_t deliveries) {
    return ArrayOf(Bulk(StrCat(n, "-0")), Bulk(consumer), Int(idle_ms), Int(deliveries));
  }
  // Returns how many entries each stream of the reply has, in order of the keys.
  std::string Counts(const TestReply& reply) {
    std::string text;
    for (size_t i = 0; i < reply.Size(); i += IsResp3() ? 2 : 1) {
      const TestReply entries = IsResp3() ? reply[i + 1] : reply[i][1];
      StrAppend(text, text.empty() ? "" : " ", entries.Size());
    }
    return text;
  }
};
INSTANTIATE_TEST_SUITE_P(Resp, StreamClaimRead, BothVersions(), VersionName);

TEST_P(StreamClaimRead, ClaimDeliversTheLongestIdleFirst) {
  Fill(4);
  Run("XREADGROUP GROUP g a COUNT 1 STREAMS s >");
  clock().AdvanceMs(10);
  Run("XREADGROUP GROUP g a COUNT 2 STREAMS s >");
  clock().AdvanceMs(5);
  Run("XREADGROUP GROUP g a COUNT 1 STREAMS s 0");  // 1-0 again
  clock().AdvanceMs(20);
  EXPECT_THAT(Run("XREADGROUP GROUP g b CLAIM 25 COUNT 9 STREAMS s >"),
              Read({Claimed(2, 25, 1), Claimed(3, 25, 1), Claimed(4, 0, 0)}));
  EXPECT_THAT(Run("XREADGROUP GROUP g b CLAIM 21 STREAMS s >"), NilArray());
  EXPECT_THAT(Run("XREADGROUP GROUP g c CLAIM 0 COUNT 1 STREAMS s >"), Read({Claimed(1, 20, 2)}));
  EXPECT_THAT(Run("XPENDING s g - + 9"),
              ArrayOf(Pending(1, "c", 0, 3), Pending(2, "b", 0, 2), Pending(3, "b", 0, 2), Pending(4, "b", 0, 1)));
  Run("XDEL s 2");
  EXPECT_THAT(Run("XREADGROUP GROUP g d CLAIM 0 STREAMS s >"),
              Read({Claimed(3, 0, 2), Claimed(4, 0, 1), Claimed(1, 0, 3)}));  // 2-0 stays pending
  EXPECT_THAT(Run("XREADGROUP GROUP g d CLAIM 0 STREAMS s 3"), Read({Entry(4)}));
  EXPECT_THAT(Run("XPENDING s g - + 1"), ArrayOf(Pending(1, "d", 0, 4)));
}

TEST_P(StreamClaimRead, ClaimIsChecked) {
  Fill(1);
  EXPECT_THAT(Run("XREADGROUP GROUP g c CLAIM -1 STREAMS s >"), Error("ERR min-idle-time must be a positive integer"));
  for (const char* idle : {"x", "1.5", "9223372036854775808"}) {
    EXPECT_THAT(Run({"XREADGROUP", "GROUP", "g", "c", "CLAIM", idle, "STREAMS", "s", ">"}),
                Error("ERR min-idle-time is not an integer or out of range"));
  }
  EXPECT_THAT(Run("XREADGROUP GROUP g c CLAIM 9223372036854775807 STREAMS s >"), Read({Claimed(1, 0, 0)}));
  EXPECT_THAT(Run("XREADGROUP GROUP g c CLAIM 9223372036854775807 STREAMS s >"), NilArray());
  EXPECT_THAT(Run("XREAD CLAIM 0 STREAMS s 0"),
              Error("ERR The CLAIM option is only supported by XREADGROUP. You called XREAD instead."));
}

TEST_P(StreamClaimRead, BlockedClientsGetEntriesThatBecomeIdle) {
  Fill(1);
  Run("XREADGROUP GROUP g a STREAMS s >");
  TestClient waiter(server(), GetParam());
  EXPECT_THAT(waiter.Run("XREADGROUP GROUP g b BLOCK 3000 CLAIM 700 STREAMS s >"), NoReply());
  server().RunCronFor(600);
  EXPECT_THAT(waiter.Read(), NoReply());
  server().RunCronFor(300);
  EXPECT_EQ(Counts(waiter.Read()), "1");
  EXPECT_THAT(waiter.Run("XREADGROUP GROUP g b BLOCK 300 CLAIM 700 STREAMS s >"), NoReply());
  server().RunCronFor(500);
  EXPECT_THAT(waiter.Read(), NilArray());
  EXPECT_THAT(waiter.Run("XREADGROUP GROUP g b BLOCK 0 CLAIM 100000 STREAMS s >"), NoReply());
  Run("XNACK s g FAIL IDS 1 1");
  EXPECT_THAT(waiter.Read(), Read({Claimed(1, -1, 2)}));
}

TEST_P(StreamClaimRead, XNackReleasesPendingEntries) {
  Fill(4);
  Run("XREADGROUP GROUP g a COUNT 3 STREAMS s >");
  EXPECT_THAT(Run("XNACK s g FAIL IDS 2 3 4"), Int(1));
  EXPECT_THAT(Run("XNACK s g SILENT IDS 1 1"), Int(1));
  EXPECT_THAT(Run("XPENDING s g - + 9"), ArrayOf(Pending(1, "", -1, 0), Pending(2, "a", 0, 1), Pending(3, "", -1, 1)));
  EXPECT_THAT(Run("XPENDING s g - + 9 a"), ArrayOf(Pending(2, "a", 0, 1)));
  EXPECT_THAT(Run("XPENDING s g")[3], ArrayOf(Bulks({"a", "1"})));
  EXPECT_THAT(Run("XREADGROUP GROUP g a STREAMS s 0"), Read({Entry(2)}));
  EXPECT_THAT(Run("XREADGROUP GROUP g b CLAIM 100000 COUNT 2 STREAMS s >"),
              Read({Claimed(3, -1, 1), Claimed(1, -1, 0)}));  // in the order of XNACK
  EXPECT_THAT(Run("XNACK s g FATAL IDS 1 1"), Int(1));
  EXPECT_THAT(Run("XPENDING s g - 1 9"), ArrayOf(Pending(1, "", -1, INT64_MAX)));
  EXPECT_THAT(Run("XCLAIM s g c 100000 1"), ArrayOf(Entry(1)));
  EXPECT_THAT(Run("XPENDING s g - 1 9"), ArrayOf(Pending(1, "c", 0, INT64_MAX)));
  EXPECT_THAT(Run("XNACK s g FAIL IDS 2 1 4 RETRYCOUNT 7 FORCE"), Int(2));
  EXPECT_THAT(Run("XNACK s g FAIL IDS 1 9 FORCE"), Int(0));
  EXPECT_THAT(Run("XACK s g 4"), Int(1));
  EXPECT_THAT(Run("XAUTOCLAIM s g e 100000 0 COUNT 1")[1], ArrayOf(Entry(1)));
  Run("XNACK s g FAIL IDS 2 2 3");
  Run("XDEL s 2");
  EXPECT_THAT(Run("XAUTOCLAIM s g e 100000 0")[2], Bulks({"2-0"}));
}

TEST_P(StreamClaimRead, XNackIsChecked) {
  EXPECT_THAT(Run("XNACK s g FAIL IDS 1 1"), ErrorStartsWith("NOGROUP No such key"));
  Fill(1);
  EXPECT_THAT(Run("XNACK s no FAIL IDS 1 1"), ErrorStartsWith("NOGROUP No such key"));
  EXPECT_THAT(Run("XNACK s g WHAT IDS 1 1"), Error("ERR syntax error"));
  EXPECT_THAT(Run("XNACK s g FAIL IDS 2 1 FORCE"), ErrorStartsWith("ERR Invalid stream ID"));
  EXPECT_THAT(Run("XNACK s g FAIL IDS 0 1"), Error("ERR Number of IDs must be a positive integer"));
  EXPECT_THAT(Run("XNACK s g FAIL IDS 1 1 RETRYCOUNT -1"), ErrorStartsWith("ERR Invalid RETRYCOUNT"));
  EXPECT_THAT(Run("XNACK s g FAIL IDS 1 1"), Int(0));
  Run("SET text x");
  EXPECT_THAT(Run("XNACK text g FAIL IDS 1 1"), Error(kWrongType));
}

TEST_P(StreamClaimRead, InfoCountsReleasedEntries) {
  Fill(2);
  Run("XREADGROUP GROUP g a STREAMS s >");
  Run("XNACK s g FAIL IDS 1 1");
  const TestReply full = Run("XINFO STREAM s FULL");
  const TestReply group = full[full.Size() - 1][0];
  EXPECT_THAT(group[group.Size() - 2], Bulk("nacked-count"));
  EXPECT_THAT(group[group.Size() - 1], Int(1));
  EXPECT_THAT(Run("COPY s t"), Int(1));
  EXPECT_THAT(Run("XPENDING t g - + 9"), ArrayOf(Pending(1, "", -1, 1), Pending(2, "a", 0, 1)));
  const std::string dump = Run("DUMP s").Text();
  Run({"RESTORE", "u", "0", dump});
  EXPECT_THAT(Run("XPENDING u g - + 9"), ArrayOf(Pending(1, "", -1, 1), Pending(2, "a", 0, 1)));
  EXPECT_THAT(Run("XINFO CONSUMERS u g").Size(), 1u);
}

TEST_P(StreamClaimRead, MaxCountAndMaxSizeLimitAllStreams) {
  for (const char* key : {"s", "t", "u"}) Fill(10, key);
  EXPECT_EQ(Counts(Run("XREAD COUNT 5 STREAMS s t u 0 0 0")), "5 5 5");
  EXPECT_EQ(Counts(Run("XREAD COUNT 5 MAXCOUNT 8 STREAMS s t u 0 0 0")), "5 3");
  EXPECT_EQ(Counts(Run("XREAD MAXCOUNT 7 STREAMS s t u 0 0 0")), "7");
  EXPECT_EQ(Counts(Run("XREAD MAXCOUNT 12 MAXSIZE 100000 STREAMS s t u 0 0 0")), "10 2");
  EXPECT_EQ(Counts(Run("XREAD MAXSIZE 1 STREAMS s t u 0 0 0")), "1");
  // An entry such as 1-0 has 31 bytes in the reply.
  EXPECT_EQ(Counts(Run("XREAD MAXSIZE 61 STREAMS s t u 0 0 0")), "1");
  EXPECT_EQ(Counts(Run("XREAD MAXSIZE 62 STREAMS s t u 0 0 0")), "2");
  EXPECT_EQ(Counts(Run("XREADGROUP GROUP g c COUNT 5 MAXCOUNT 8 STREAMS s t u > > >")), "5 3");
  EXPECT_THAT(Run("XPENDING t g")[0], Int(3));
  EXPECT_EQ(Counts(Run("XREADGROUP GROUP g c MAXCOUNT 6 STREAMS s t u 0 0 0")), "5 1");
  EXPECT_EQ(Counts(Run("XREADGROUP GROUP g d CLAIM 0 MAXCOUNT 7 STREAMS s t >  >")), "7");
  EXPECT_THAT(Run("XREAD MAXCOUNT 0 STREAMS s 0"), ErrorStartsWith("ERR MAXCOUNT must be"));
  EXPECT_THAT(Run("XREAD MAXSIZE x STREAMS s 0"), ErrorStartsWith("ERR MAXSIZE must be"));
  EXPECT_THAT(Run("XREAD COUNT 3 MAXCOUNT 2 STREAMS s 0"), ErrorStartsWith("ERR MAXCOUNT must be"));
}

}  // namespace
}  // namespace respite
