// Consumer groups: delivering, acknowledging, claiming, and XINFO.
#include <memory>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {
namespace {

constexpr char kNoSuchGroup[] = "NOGROUP No such key 's' or consumer group 'x'";

class StreamGroupCommands : public CommandTest {
 protected:
  // Creates a stream "s" of entries 1-0 … count-0, and a group "g" at its beginning.
  void Fill(int count) {
    for (int i = 1; i <= count; ++i) Run({"XADD", "s", std::to_string(i), "n", std::to_string(i)});
    Run("XGROUP CREATE s g 0 MKSTREAM");
  }
  static ReplyMatcher Entry(int n) { return ArrayOf(Bulk(StrCat(n, "-0")), Bulks({"n", std::to_string(n)})); }
  static ReplyMatcher Gone(int n) { return ArrayOf(Bulk(StrCat(n, "-0")), NilArray()); }
  // Matches the reply of XREADGROUP for "s".
  ReplyMatcher Read(ReplyMatchers entries) {
    const ReplyMatcher found = ArrayOf(std::move(entries));
    return IsResp3() ? MapOf({{Bulk("s"), found}}) : ArrayOf(ArrayOf(Bulk("s"), found));
  }
  static ReplyMatcher Pending(int n, const std::string& consumer, int64_t idle_ms, int64_t deliveries) {
    return ArrayOf(Bulk(StrCat(n, "-0")), Bulk(consumer), Int(idle_ms), Int(deliveries));
  }
  // Returns the value of a field in one of the maps of XINFO.
  TestReply Info(Bytes line, size_t row, const std::string& name) {
    const TestReply rows = Run(line);
    for (size_t i = 0; i + 1 < rows[row].Size(); i += 2) {
      if (rows[row][i].Text() == name) return rows[row][i + 1];
    }
    ADD_FAILURE() << "no " << name;
    return {};
  }
};
INSTANTIATE_TEST_SUITE_P(Resp, StreamGroupCommands, BothVersions(), VersionName);

TEST_P(StreamGroupCommands, AreCreatedAndRemoved) {
  EXPECT_THAT(Run("XGROUP CREATE s g $"), ErrorStartsWith("ERR The XGROUP subcommand requires the key to exist."));
  EXPECT_THAT(Run("XGROUP CREATE s g $ MKSTREAM"), Ok());
  EXPECT_THAT(Run("XLEN s"), Int(0));
  EXPECT_THAT(Run("XGROUP CREATE s g $"), Error("BUSYGROUP Consumer Group name already exists"));
  EXPECT_THAT(Run("XGROUP CREATE s h x"), Error("ERR Invalid stream ID specified as stream command argument"));
  EXPECT_THAT(Run("XGROUP CREATE s h 0 ENTRIESREAD -2"), Error("ERR value for ENTRIESREAD must be positive or -1"));
  EXPECT_THAT(Run("XGROUP CREATE s h 0 WHAT"),
              Error("ERR unknown subcommand or wrong number of arguments for 'CREATE'. Try XGROUP HELP."));
  EXPECT_THAT(Run("XGROUP SETID s x 0"), Error("NOGROUP No such consumer group 'x' for key name 's'"));
  EXPECT_THAT(Run("XGROUP CREATECONSUMER s g c"), Int(1));
  EXPECT_THAT(Run("XGROUP CREATECONSUMER s g c"), Int(0));
  EXPECT_THAT(Run("XGROUP DELCONSUMER s g c"), Int(0));
  EXPECT_THAT(Run("XGROUP DESTROY s g"), Int(1));
  EXPECT_THAT(Run("XGROUP DESTROY s g"), Int(0));
}

TEST_P(StreamGroupCommands, DeliverEachEntryOnce) {
  Fill(5);
  EXPECT_THAT(Run("XREADGROUP GROUP g a COUNT 2 STREAMS s >"), Read({Entry(1), Entry(2)}));
  EXPECT_THAT(Run("XREADGROUP GROUP g b STREAMS s >"), Read({Entry(3), Entry(4), Entry(5)}));
  EXPECT_THAT(Run("XREADGROUP GROUP g a STREAMS s >"), NilArray());
  EXPECT_THAT(Run("XREADGROUP GROUP g a STREAMS s 0"), Read({Entry(1), Entry(2)}));
  EXPECT_THAT(Run("XREADGROUP GROUP g a COUNT 5 STREAMS s 1"), Read({Entry(2)}));
  EXPECT_THAT(Run("XACK s g 1 3 9"), Int(2));
  EXPECT_THAT(Run("XACK s g 1"), Int(0));
  EXPECT_THAT(Run("XACK none g 1"), Int(0));
  EXPECT_THAT(Run("XACK s g 4 x"), Error("ERR Invalid stream ID specified as stream command argument"));
  EXPECT_THAT(Run("XPENDING s g"),
              ArrayOf(Int(3), Bulk("2-0"), Bulk("5-0"), ArrayOf(Bulks({"a", "1"}), Bulks({"b", "2"}))));
  Run("XDEL s 2");
  EXPECT_THAT(Run("XREADGROUP GROUP g a STREAMS s 0"), Read({Gone(2)}));
}

TEST_P(StreamGroupCommands, RefuseInvalidArguments) {
  Fill(1);
  EXPECT_THAT(Run("XREADGROUP GROUP g a STREAMS s $"), ErrorStartsWith("ERR The $ ID is meaningless"));
  EXPECT_THAT(Run("XREADGROUP GROUP x a STREAMS s >"),
              Error(std::string(kNoSuchGroup) + " in XREADGROUP with GROUP option"));
  EXPECT_THAT(Run("XREADGROUP COUNT 1 COUNT 2 STREAMS s >"), Error("ERR Missing GROUP option for XREADGROUP"));
  EXPECT_THAT(Run("XREADGROUP GROUP g a COUNT 1 NOACK"), Error("ERR syntax error"));
  EXPECT_THAT(Run("XPENDING s x"), Error(kNoSuchGroup));
  EXPECT_THAT(Run("XPENDING s g - +"), Error("ERR syntax error"));
  EXPECT_THAT(Run("XCLAIM s x c 0 1"), Error(kNoSuchGroup));
  EXPECT_THAT(Run("XCLAIM s g c x 1"), Error("ERR Invalid min-idle-time argument for XCLAIM"));
  EXPECT_THAT(Run("XCLAIM s g c 0 1 WHAT"), Error("ERR Unrecognized XCLAIM option 'WHAT'"));
  EXPECT_THAT(Run("XAUTOCLAIM s g c 0 0 COUNT 0"), Error("ERR COUNT must be > 0"));
  EXPECT_THAT(Run("XINFO STREAM none"), Error("ERR no such key"));
  EXPECT_THAT(Run("XINFO STREAM s HALF"),
              Error("ERR unknown subcommand or wrong number of arguments for 'STREAM'. Try XINFO HELP."));
  EXPECT_THAT(Run("XINFO CONSUMERS s x"), Error("NOGROUP No such consumer group 'x' for key name 's'"));
}

TEST_P(StreamGroupCommands, KeepTimesAndCountsOfDeliveries) {
  Fill(3);
  Run("XREADGROUP GROUP g a STREAMS s >");
  clock().AdvanceMs(100);
  Run("XREADGROUP GROUP g a COUNT 1 STREAMS s 0");
  clock().AdvanceMs(50);
  EXPECT_THAT(Run("XPENDING s g - + 10"),
              ArrayOf(Pending(1, "a", 50, 2), Pending(2, "a", 150, 1), Pending(3, "a", 150, 1)));
  EXPECT_THAT(Run("XPENDING s g IDLE 100 - + 1"), ArrayOf(Pending(2, "a", 150, 1)));
  EXPECT_THAT(Run("XPENDING s g - + 10 b"), EmptyArray());
  EXPECT_THAT(Run("XPENDING s g (1 (3-0 10 a"), ArrayOf(Pending(2, "a", 150, 1)));
}

TEST_P(StreamGroupCommands, ClaimEntries) {
  Fill(4);
  Run("XREADGROUP GROUP g a STREAMS s >");
  clock().AdvanceMs(1000);
  EXPECT_THAT(Run("XCLAIM s g b 5000 1"), EmptyArray());
  EXPECT_THAT(Run("XCLAIM s g b 500 1 9"), ArrayOf(Entry(1)));
  EXPECT_THAT(Run("XCLAIM s g b 0 2 JUSTID IDLE 300"), Bulks({"2-0"}));
  EXPECT_THAT(Run("XCLAIM s g b 0 3 RETRYCOUNT 7 TIME 1"), ArrayOf(Entry(3)));
  EXPECT_THAT(Run("XPENDING s g - 2 10"), ArrayOf(Pending(1, "b", 0, 2), Pending(2, "b", 300, 1)));
  EXPECT_THAT(Run("XPENDING s g 3 + 10")[0][3], Int(7));
  Run("XACK s g 1 2");
  EXPECT_THAT(Run("XCLAIM s g c 0 1"), EmptyArray());
  EXPECT_THAT(Run("XCLAIM s g c 0 1 FORCE LASTID 9"), ArrayOf(Entry(1)));
  EXPECT_THAT(Info("XINFO GROUPS s", 0, "last-delivered-id"), Bulk("9-0"));
  Run("XDEL s 3");
  EXPECT_THAT(Run("XCLAIM s g c 0 3"), EmptyArray());
  EXPECT_THAT(Run("XPENDING s g")[0], Int(2));
}

TEST_P(StreamGroupCommands, AutoClaimEntries) {
  Fill(6);
  Run("XREADGROUP GROUP g a STREAMS s >");
  Run("XDEL s 2");
  clock().AdvanceMs(1000);
  Run("XCLAIM s g b 0 3 JUSTID");
  EXPECT_THAT(Run("XAUTOCLAIM s g c 500 0 COUNT 3"), ArrayOf(Bulk("5-0"), ArrayOf(Entry(1), Entry(4)), Bulks({"2-0"})));
  EXPECT_THAT(Run("XAUTOCLAIM s g c 500 5 JUSTID"), ArrayOf(Bulk("0-0"), Bulks({"5-0", "6-0"}), EmptyArray()));
  EXPECT_THAT(Run("XAUTOCLAIM s g c 0 - COUNT 1"), ArrayOf(Bulk("3-0"), ArrayOf(Entry(1)), EmptyArray()));
  EXPECT_THAT(Run("XPENDING s g - + 10 c").Size(), 4u);
}

// The values of Redis 7.2.9 and 7.4.4, which earlier versions got wrong.
TEST_P(StreamGroupCommands, ReportTheirLagAfterTrimming) {
  const auto expect = [this](int64_t read, int64_t lag) {
    EXPECT_THAT(Info("XINFO GROUPS s", 0, "entries-read"), Int(read));
    EXPECT_THAT(Info("XINFO GROUPS s", 0, "lag"), Int(lag));
  };
  Fill(5);
  Run("XREADGROUP GROUP g a COUNT 1 STREAMS s >");
  Run("XTRIM s MAXLEN 1");
  expect(1, 1);
  Run("XREADGROUP GROUP g a COUNT 1 STREAMS s >");
  expect(5, 0);
  Run("XADD s 6 n 6");
  expect(5, 1);
  Run("XREADGROUP GROUP g a STREAMS s >");
  expect(6, 0);
}

TEST_P(StreamGroupCommands, ReportTheirLagAfterDeletions) {
  Fill(5);
  Run("XREADGROUP GROUP g a COUNT 1 STREAMS s >");
  Run("XDEL s 3");
  EXPECT_THAT(Info("XINFO GROUPS s", 0, "lag"), Nil());
  Run("XTRIM s MAXLEN 1");
  EXPECT_THAT(Info("XINFO GROUPS s", 0, "lag"), Int(1));
  Run("XDEL s 5");
  EXPECT_THAT(Info("XINFO GROUPS s", 0, "lag"), Int(0));
  Run("XADD s 9 n 9");
  EXPECT_THAT(Info("XINFO GROUPS s", 0, "lag"), Int(1));
}

TEST_P(StreamGroupCommands, ReportTheirLagAfterAllThatWasReadIsDeleted) {
  Run("XGROUP CREATE s g $ MKSTREAM");
  for (const char* id : {"1", "2"}) Run({"XADD", "s", id, "n", "x"});
  Run("XREADGROUP GROUP g a STREAMS s >");
  for (const char* id : {"3", "4"}) Run({"XADD", "s", id, "n", "x"});
  for (const char* id : {"1", "2"}) {
    Run({"XDEL", "s", id});
    EXPECT_THAT(Info("XINFO GROUPS s", 0, "lag"), Int(2));
  }
  Run("XDEL s 3");
  EXPECT_THAT(Info("XINFO GROUPS s", 0, "lag"), Int(1));
  Run("XREADGROUP GROUP g a STREAMS s >");
  EXPECT_THAT(Info("XINFO GROUPS s", 0, "entries-read"), Int(4));
  EXPECT_THAT(Info("XINFO GROUPS s", 0, "lag"), Int(0));
}

// Redis refuses a file in which a group has read more entries than the stream ever had.
TEST_P(StreamGroupCommands, HaveNeverReadMoreThanWasAdded) {
  Fill(10);
  Run("XREADGROUP GROUP g a STREAMS s >");
  Run("XTRIM s MAXLEN 2");
  EXPECT_THAT(Run("XSETID s 10 ENTRIESADDED 2"), Ok());
  EXPECT_THAT(Info("XINFO GROUPS s", 0, "entries-read"), Int(2));
  EXPECT_THAT(Info("XINFO GROUPS s", 0, "lag"), Int(0));
  EXPECT_THAT(Run("XGROUP CREATE s h 1 ENTRIESREAD 100"), Ok());
  EXPECT_THAT(Info("XINFO GROUPS s", 1, "entries-read"), Int(2));
  EXPECT_THAT(Run("XGROUP SETID s g 5 ENTRIESREAD 50"), Ok());
  EXPECT_THAT(Info("XINFO GROUPS s", 0, "entries-read"), Int(2));
  EXPECT_THAT(Info("XINFO GROUPS s", 0, "lag"), Int(2));
}

TEST_P(StreamGroupCommands, ReportTheirLag) {
  Fill(5);
  EXPECT_THAT(Info("XINFO GROUPS s", 0, "lag"), Int(5));
  EXPECT_THAT(Info("XINFO GROUPS s", 0, "entries-read"), Nil());
  Run("XREADGROUP GROUP g a COUNT 2 STREAMS s >");
  EXPECT_THAT(Info("XINFO GROUPS s", 0, "lag"), Int(3));
  EXPECT_THAT(Info("XINFO GROUPS s", 0, "entries-read"), Int(2));
  Run("XDEL s 4");
  EXPECT_THAT(Info("XINFO GROUPS s", 0, "lag"), Nil());
  Run("XREADGROUP GROUP g a NOACK STREAMS s >");
  EXPECT_THAT(Info("XINFO GROUPS s", 0, "lag"), Int(0));
  EXPECT_THAT(Info("XINFO GROUPS s", 0, "pending"), Int(2));
  Run("XGROUP SETID s g 0 ENTRIESREAD 0");
  EXPECT_THAT(Info("XINFO GROUPS s", 0, "entries-read"), Int(0));
}

TEST_P(StreamGroupCommands, ReportWhenConsumersWereSeen) {
  Fill(1);
  Run("XREADGROUP GROUP g a STREAMS s >");
  Run("XREADGROUP GROUP g b STREAMS s >");
  clock().AdvanceMs(70);
  Run("XREADGROUP GROUP g a STREAMS s >");
  clock().AdvanceMs(30);
  EXPECT_THAT(Info("XINFO CONSUMERS s g", 0, "idle"), Int(30));
  EXPECT_THAT(Info("XINFO CONSUMERS s g", 0, "inactive"), Int(100));
  EXPECT_THAT(Info("XINFO CONSUMERS s g", 1, "idle"), Int(100));
  EXPECT_THAT(Info("XINFO CONSUMERS s g", 1, "inactive"), Int(-1));
}

TEST_P(StreamGroupCommands, BlockForEntriesAndEndWithTheGroup) {
  Fill(0);
  TestClient one(server(), GetParam());
  TestClient two(server(), GetParam());
  EXPECT_THAT(one.Run("XREADGROUP GROUP g a BLOCK 0 STREAMS s >"), NoReply());
  EXPECT_THAT(two.Run("XREADGROUP GROUP g b BLOCK 0 STREAMS s >"), NoReply());
  Run("XADD s 1 n 1");
  EXPECT_THAT(one.Read(), Read({Entry(1)}));
  EXPECT_THAT(two.Read(), NoReply());
  Run("XADD s 2 n 2");
  EXPECT_THAT(two.Read(), Read({Entry(2)}));
  EXPECT_THAT(Run("XPENDING s g - + 9").Size(), 2u);

  const std::string lost = "NOGROUP No such key 's' or consumer group 'g' in XREADGROUP with GROUP option";
  EXPECT_THAT(one.Run("XREADGROUP GROUP g a BLOCK 0 STREAMS s >"), NoReply());
  Run("XGROUP DESTROY s g");
  EXPECT_THAT(one.Read(), Error(lost));
  Run("XGROUP CREATE s g $");
  EXPECT_THAT(one.Run("XREADGROUP GROUP g a BLOCK 0 STREAMS s >"), NoReply());
  Run("DEL s");
  EXPECT_THAT(one.Read(), Error(lost));
  Run("XGROUP CREATE s g $ MKSTREAM");
  EXPECT_THAT(one.Run("XREADGROUP GROUP g a BLOCK 0 STREAMS s >"), NoReply());
  Run("SET s text");
  EXPECT_THAT(one.Read(), Error("WRONGTYPE Operation against a key holding the wrong kind of value"));
}

TEST_P(StreamGroupCommands, EndBlockingWhenTheKeyExpires) {
  TestClient waiter(server(), GetParam());
  Run("XGROUP CREATE s g $ MKSTREAM");
  Run("PEXPIRE s 100");
  EXPECT_THAT(waiter.Run("XREADGROUP GROUP g c BLOCK 0 STREAMS s >"), NoReply());
  server().RunCronFor(500);
  EXPECT_THAT(waiter.Read(), ErrorStartsWith("NOGROUP"));
}

TEST_P(StreamGroupCommands, JournalPendingEntries) {
  Fill(2);
  Run("XREADGROUP GROUP g a STREAMS s >");
  Run("XREADGROUP GROUP g a NOACK STREAMS s >");
  Run("XCLAIM s g b 0 1 JUSTID");
  Run("XACK s g 1");
  const std::string now = std::to_string(now_ms());
  const std::string delivered = " TIME " + now + " RETRYCOUNT 1 FORCE JUSTID LASTID ";
  std::vector<std::string> journal = Journaled();
  journal.erase(journal.begin(), journal.begin() + 3);
  EXPECT_EQ(journal, (std::vector<std::string>{
                         "0: XGROUP CREATECONSUMER s g a",
                         "0: XCLAIM s g a 0 1-0" + delivered + "1-0",
                         "0: XCLAIM s g a 0 2-0" + delivered + "2-0",
                         "0: XGROUP SETID s g 2-0 ENTRIESREAD 2",
                         "0: XGROUP CREATECONSUMER s g b",
                         "0: XCLAIM s g b 0 1-0" + delivered + "2-0",
                         "0: XACK s g 1",
                     }));
}

TEST_P(StreamGroupCommands, ShowEverythingInFull) {
  Fill(3);
  Run("XREADGROUP GROUP g a COUNT 1 STREAMS s >");
  const TestReply full = Run("XINFO STREAM s FULL COUNT 2");
  const ReplyMatcher consumer = MapOf({{Bulk("name"), Bulk("a")},
                                       {Bulk("seen-time"), Int(now_ms())},
                                       {Bulk("active-time"), Int(now_ms())},
                                       {Bulk("pel-count"), Int(1)},
                                       {Bulk("pending"), ArrayOf(ArrayOf(Bulk("1-0"), Int(now_ms()), Int(1)))}});
  const ReplyMatcher group = MapOf({{Bulk("name"), Bulk("g")},
                                    {Bulk("last-delivered-id"), Bulk("1-0")},
                                    {Bulk("entries-read"), Int(1)},
                                    {Bulk("lag"), Int(2)},
                                    {Bulk("pel-count"), Int(1)},
                                    {Bulk("pending"), ArrayOf(Pending(1, "a", now_ms(), 1))},
                                    {Bulk("consumers"), ArrayOf(consumer)}});
  EXPECT_THAT(full, MapOf({{Bulk("length"), Int(3)},
                           {Bulk("radix-tree-keys"), Int(1)},
                           {Bulk("radix-tree-nodes"), Int(2)},
                           {Bulk("last-generated-id"), Bulk("3-0")},
                           {Bulk("max-deleted-entry-id"), Bulk("0-0")},
                           {Bulk("entries-added"), Int(3)},
                           {Bulk("recorded-first-entry-id"), Bulk("1-0")},
                           {Bulk("entries"), ArrayOf(Entry(1), Entry(2))},
                           {Bulk("groups"), ArrayOf(group)}}));
}

}  // namespace
}  // namespace respite
