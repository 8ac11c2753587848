// Commands that block on a list or a sorted set, with several clients of one server.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {
namespace {

class BlockingCommands : public CommandTest {
 protected:
  // Creates another client of the same server.
  std::unique_ptr<TestClient> Client() { return std::make_unique<TestClient>(server(), GetParam()); }
  // Creates a client that has sent this command and is blocked.
  std::unique_ptr<TestClient> BlockedClient(Bytes line) {
    auto client = Client();
    EXPECT_THAT(client->Run(line), NoReply()) << line;
    return client;
  }
  std::string BlockedClients() { return Info("blocked_clients"); }
  std::string Info(const std::string& field) {
    const std::string report = Run("INFO").Text();
    const size_t at = report.find("\n" + field + ":") + field.size() + 2;
    return report.substr(at, report.find('\r', at) - at);
  }
  void ExpectList(const std::string& key, std::vector<std::string> elements) {
    EXPECT_THAT(Run({"LRANGE", key, "0", "-1"}), Bulks(std::move(elements)));
  }
};
INSTANTIATE_TEST_SUITE_P(Resp, BlockingCommands, BothVersions(), VersionName);

// ---------------------------------------------------------------------------------------------------------------------
// Without waiting

TEST_P(BlockingCommands, PopExistingElementsAtOnce) {
  Run("RPUSH l a b c d e f");
  EXPECT_THAT(Run("BLPOP none l 0"), Bulks({"l", "a"}));
  EXPECT_THAT(Run("BRPOP l none 0"), Bulks({"l", "f"}));
  EXPECT_THAT(Run("BLMPOP 0 2 none l LEFT COUNT 2"), ArrayOf(Bulk("l"), Bulks({"b", "c"})));
  EXPECT_THAT(Run("BLMOVE l m left right 0"), Bulk("d"));
  EXPECT_THAT(Run("BRPOPLPUSH l m 0"), Bulk("e"));
  ExpectList("m", {"e", "d"});
  Run("ZADD z 1 a 2.5 b 3 c");
  EXPECT_THAT(Run("BZPOPMIN none z 0"), ArrayOf(Bulk("z"), Bulk("a"), Double(1)));
  EXPECT_THAT(Run("BZPOPMAX z 0"), ArrayOf(Bulk("z"), Bulk("c"), Double(3)));
  EXPECT_THAT(Run("BZMPOP 0 1 z MIN COUNT 9"), ArrayOf(Bulk("z"), ArrayOf(ArrayOf(Bulk("b"), Double(2.5)))));
  EXPECT_THAT(Run("EXISTS l z"), Int(0));
}

TEST_P(BlockingCommands, JournalTheNonBlockingCommand) {
  Run("RPUSH l a b c d e");
  Run("ZADD z 1 a 2 b 3 c 4 d");
  const size_t before = Journaled().size();
  for (const char* line : {"BLPOP none l 0", "BRPOP l 0", "BLMPOP 0 1 l LEFT COUNT 1", "BLMOVE l m LEFT right 0",
                           "BRPOPLPUSH l m 0", "BZPOPMIN none z 0", "BZPOPMAX z 0", "BZMPOP 0 1 z MIN COUNT 9"}) {
    Run(line);
  }
  const std::vector<std::string> lines = Journaled();
  EXPECT_EQ(std::vector<std::string>(lines.begin() + static_cast<std::ptrdiff_t>(before), lines.end()),
            (std::vector<std::string>{"0: LPOP l", "0: RPOP l", "0: LPOP l 1", "0: LMOVE l m LEFT right",
                                      "0: RPOPLPUSH l m", "0: ZPOPMIN z", "0: ZPOPMAX z", "0: ZPOPMIN z 2"}));
}

TEST_P(BlockingCommands, BLMoveMWaitsForEnoughElements) {
  const auto other = Client();
  Run("RPUSH l a");
  other->Send("BLMOVEM l m LEFT RIGHT 0 EXACTLY 3 BULK");
  Run("RPUSH l b");
  EXPECT_THAT(Run("LLEN l"), Int(2));
  Run("RPUSH l c d");
  EXPECT_THAT(other->Read(), Bulks({"a", "b", "c"}));
  EXPECT_THAT(Run("LRANGE m 0 -1"), Bulks({"a", "b", "c"}));
  EXPECT_EQ(Journaled().back(), "0: RPUSH m a b c");
  EXPECT_THAT(Run("BLMOVEM l m LEFT RIGHT 0 COUNT 5 OBO"), Bulks({"d"}));
  EXPECT_EQ(Journaled().back(), "0: LMOVE l m LEFT RIGHT");
  other->Send("BLMOVEM l m LEFT LEFT 0");
  Run("RPUSH l e");
  EXPECT_THAT(other->Read(), Bulks({"e"}));
  EXPECT_THAT(Run("BLMOVEM l m LEFT RIGHT 0 COUNT 5"), Error("ERR syntax error"));
  EXPECT_THAT(Run("BLMOVEM l m LEFT RIGHT x COUNT 5 OBO"), Error("ERR timeout is not a float or out of range"));
}

TEST_P(BlockingCommands, RefuseTimeoutsThatAreNone) {
  for (const char* command :
       {"BLPOP s", "BRPOP s", "BRPOPLPUSH s d", "BLMOVE s d LEFT RIGHT", "BZPOPMIN s", "BZPOPMAX s"}) {
    const std::string line = std::string(command) + " ";
    Run("SET s x");
    for (const char* timeout : {"x", "nan", "1x"})
      EXPECT_THAT(Run(line + timeout), Error("ERR timeout is not a float or out of range")) << line << timeout;
    for (const char* timeout : {"-1", "-0.5", "-inf", "-1e400"})
      EXPECT_THAT(Run(line + timeout), Error("ERR timeout is negative")) << line << timeout;
    for (const char* timeout : {"inf", "1e400", "1e18", "9223372036854775"})
      EXPECT_THAT(Run(line + timeout), Error("ERR timeout is out of range")) << line << timeout;
    for (const char* timeout : {"0", "-0.0001", "0x1p-3", "9e15"})
      EXPECT_THAT(Run(line + timeout), Error(kWrongType)) << line << timeout;
  }
}

TEST_P(BlockingCommands, ReadOtherWordsBeforeATimeoutThatStandsInFront) {
  Run("SET s x");
  for (std::string line : {"BLMPOP x %s s LEFT", "BZMPOP x %s s MIN"}) {
    const auto with = [&](const char* keys) { return std::string(line).replace(line.find("%s"), 2, keys); };
    EXPECT_THAT(Run(with("0")), Error("ERR numkeys should be greater than 0"));
    EXPECT_THAT(Run(with("a")), Error("ERR numkeys should be greater than 0"));
    EXPECT_THAT(Run(with("2")), Error("ERR syntax error"));
    EXPECT_THAT(Run(with("1") + " COUNT 0"), Error("ERR count should be greater than 0"));
    EXPECT_THAT(Run(with("1") + " COUNT 1 COUNT 1"), Error("ERR syntax error"));
    EXPECT_THAT(Run(with("1")), Error("ERR timeout is not a float or out of range"));
    line.replace(line.find(" x "), 3, " 0 ");
    EXPECT_THAT(Run(with("1")), Error(kWrongType));
  }
  EXPECT_THAT(Run("BLMOVE s d x right -1"), Error("ERR syntax error"));
}

TEST_P(BlockingCommands, RefuseKeysOfAnotherType) {
  Run("SET s x");
  Run("RPUSH l a");
  EXPECT_THAT(Run("BLPOP none s 0"), Error(kWrongType));
  EXPECT_THAT(Run("BLPOP l s 0"), Bulks({"l", "a"}));  // the first key decides
  Run("RPUSH l a");
  EXPECT_THAT(Run("BLMOVE l s LEFT RIGHT 0"), Error(kWrongType));
  EXPECT_THAT(Run("BRPOPLPUSH l s 0"), Error(kWrongType));
  EXPECT_THAT(Run("BZPOPMIN l 0"), Error(kWrongType));
  ExpectList("l", {"a"});
}

// ---------------------------------------------------------------------------------------------------------------------
// Waiting and being served

TEST_P(BlockingCommands, AreServedByTheFirstPush) {
  const auto waiter = BlockedClient("BLPOP none l 0");
  EXPECT_EQ(BlockedClients(), "1");
  EXPECT_THAT(Run("RPUSH l a b"), Int(2));
  EXPECT_THAT(waiter->Read(), Bulks({"l", "a"}));
  EXPECT_EQ(BlockedClients(), "0");
  ExpectList("l", {"b"});
  EXPECT_THAT(Journaled(), testing::ElementsAre("0: RPUSH l a b", "0: LPOP l"));
}

TEST_P(BlockingCommands, AreServedByTheirOwnCommand) {
  const auto blpop = BlockedClient("BLPOP a 0"), brpop = BlockedClient("BRPOP b 0"),
             blmpop = BlockedClient("BLMPOP 0 1 c RIGHT COUNT 2"), blmove = BlockedClient("BLMOVE d to RIGHT LEFT 0"),
             brpoplpush = BlockedClient("BRPOPLPUSH e to 0"), bzpopmin = BlockedClient("BZPOPMIN f 0"),
             bzpopmax = BlockedClient("BZPOPMAX g 0"), bzmpop = BlockedClient("BZMPOP 0 1 h MAX COUNT 2");
  for (const char* key : {"a", "b", "c", "d", "e"}) EXPECT_THAT(Run({"RPUSH", key, "1", "2", "3"}), Int(3));
  for (const char* key : {"f", "g", "h"}) EXPECT_THAT(Run({"ZADD", key, "1", "x", "2", "y", "3", "z"}), Int(3));
  EXPECT_THAT(blpop->Read(), Bulks({"a", "1"}));
  EXPECT_THAT(brpop->Read(), Bulks({"b", "3"}));
  EXPECT_THAT(blmpop->Read(), ArrayOf(Bulk("c"), Bulks({"3", "2"})));
  EXPECT_THAT(blmove->Read(), Bulk("3"));
  EXPECT_THAT(brpoplpush->Read(), Bulk("3"));
  ExpectList("to", {"3", "3"});
  EXPECT_THAT(bzpopmin->Read(), ArrayOf(Bulk("f"), Bulk("x"), Double(1)));
  EXPECT_THAT(bzpopmax->Read(), ArrayOf(Bulk("g"), Bulk("z"), Double(3)));
  EXPECT_THAT(bzmpop->Read(),
              ArrayOf(Bulk("h"), ArrayOf(ArrayOf(Bulk("z"), Double(3)), ArrayOf(Bulk("y"), Double(2)))));
}

TEST_P(BlockingCommands, AreServedInTheOrderInWhichTheyCame) {
  const auto first = BlockedClient("BLPOP l 0"), second = BlockedClient("BRPOP l 0"),
             third = BlockedClient("BLPOP other l 0");
  Run("RPUSH l a b c d");
  EXPECT_THAT(first->Read(), Bulks({"l", "a"}));
  EXPECT_THAT(second->Read(), Bulks({"l", "d"}));
  EXPECT_THAT(third->Read(), Bulks({"l", "b"}));
  ExpectList("l", {"c"});
}

TEST_P(BlockingCommands, ServeOneKeyAfterTheOtherInTheOrderOfTheirChanges) {
  const auto waiter = BlockedClient("BLPOP a b 0");
  const auto other = BlockedClient("BLPOP b a 0");
  Run("MULTI");
  Run("RPUSH b b1");
  Run("RPUSH a a1");
  Run("EXEC");
  // b changed first, so its first blocked client runs first; the order of that client's keys decides what it pops.
  EXPECT_THAT(waiter->Read(), Bulks({"a", "a1"}));
  EXPECT_THAT(other->Read(), Bulks({"b", "b1"}));
}

TEST_P(BlockingCommands, StandInTheLineOfAKeyThatIsNamedTwiceOnce) {
  const auto waiter = BlockedClient("BLPOP l l 0");
  Run("RPUSH l a b");
  EXPECT_THAT(waiter->Read(), Bulks({"l", "a"}));
  EXPECT_THAT(waiter->Read(), NoReply());
  ExpectList("l", {"b"});
}

TEST_P(BlockingCommands, ServeWaitersForTheTargetOfAMove) {
  const auto last = BlockedClient("BLPOP three 0"), middle = BlockedClient("BLMOVE two three LEFT LEFT 0"),
             head = BlockedClient("BRPOPLPUSH one two 0");
  Run("RPUSH one x");
  EXPECT_THAT(head->Read(), Bulk("x"));
  EXPECT_THAT(middle->Read(), Bulk("x"));
  EXPECT_THAT(last->Read(), Bulks({"three", "x"}));
  EXPECT_THAT(Run("DBSIZE"), Int(0));
  EXPECT_THAT(Journaled(), testing::ElementsAre("0: RPUSH one x", "0: RPOPLPUSH one two",
                                                "0: LMOVE two three LEFT LEFT", "0: LPOP three"));
}

TEST_P(BlockingCommands, GoInACircleNoFurtherThanThereAreWaiters) {
  const auto there = BlockedClient("BRPOPLPUSH one two 0"), back = BlockedClient("BRPOPLPUSH two one 0");
  Run("RPUSH one x");
  EXPECT_THAT(there->Read(), Bulk("x"));
  EXPECT_THAT(back->Read(), Bulk("x"));
  ExpectList("one", {"x"});
  const auto same = BlockedClient("BRPOPLPUSH ring ring 0");
  Run("RPUSH ring a b");
  EXPECT_THAT(same->Read(), Bulk("b"));
  ExpectList("ring", {"b", "a"});
}

TEST_P(BlockingCommands, RefuseATargetOfAnotherTypeWhenTheyAreServed) {
  const auto waiter = BlockedClient("BLMOVE one two LEFT RIGHT 0");
  Run("SET two x");
  Run("RPUSH one a");
  EXPECT_THAT(waiter->Read(), Error(kWrongType));
  ExpectList("one", {"a"});
}

TEST_P(BlockingCommands, WaitOnForAKeyOfAnotherType) {
  const auto list = BlockedClient("BLPOP k 0"), zset = BlockedClient("BZPOPMIN k 0");
  Run("SET k x");
  Run("SADD other 1");
  Run("RENAME other k");
  EXPECT_EQ(BlockedClients(), "2");
  Run("DEL k");
  Run("ZADD k 1 a");
  EXPECT_THAT(zset->Read(), ArrayOf(Bulk("k"), Bulk("a"), Double(1)));
  Run("RPUSH k a");
  EXPECT_THAT(list->Read(), Bulks({"k", "a"}));
}

TEST_P(BlockingCommands, AreServedFromListsOfOtherCommands) {
  const auto serve = [&](const std::vector<std::string>& lines, const char* element) {
    const auto waiter = BlockedClient("BLPOP k 0");
    for (const std::string& line : lines) Run(line);
    EXPECT_THAT(waiter->Read(), Bulks({"k", element})) << lines.back();
    Run("FLUSHALL");
  };
  serve({"RPUSH l a", "RENAME l k"}, "a");
  serve({"RPUSH l a", "RENAMENX l k"}, "a");
  serve({"RPUSH l a", "COPY l k"}, "a");
  serve({"RPUSH l 2 1", "SORT l STORE k"}, "1");
  serve({"SELECT 1", "RPUSH k a", "SWAPDB 0 1", "SELECT 0"}, "a");
  serve({"SELECT 1", "RPUSH k a", "MOVE k 0", "SELECT 0"}, "a");
  serve({"RPUSH l a", "SET k x", "RENAME l k"}, "a");
  Run("RPUSH l a");
  const std::string payload = Run("DUMP l").Text();
  const auto waiter = BlockedClient("BLPOP k 0");
  EXPECT_THAT(Run({"RESTORE", "k", "0", payload}), Ok());
  EXPECT_THAT(waiter->Read(), Bulks({"k", "a"}));
}

TEST_P(BlockingCommands, AreServedFromSortedSetsOfOtherCommands) {
  Run("ZADD z 1 a");
  Run("GEOADD g 0 0 m");
  for (const char* line : {"ZUNIONSTORE k 1 z", "ZINTERSTORE k 1 z", "ZDIFFSTORE k 1 z", "ZRANGESTORE k z 0 -1",
                           "ZINCRBY k 1 a", "COPY z k", "GEOADD k 0 0 a"}) {
    const auto waiter = BlockedClient("BZPOPMIN k 0");
    Run(line);
    EXPECT_THAT(waiter->Read()[1], Bulk("a")) << line;
  }
  const auto waiter = BlockedClient("BZPOPMAX k 0");
  Run("GEOSEARCHSTORE k g FROMLONLAT 0 0 BYRADIUS 1 km");
  EXPECT_THAT(waiter->Read()[1], Bulk("m"));
}

TEST_P(BlockingCommands, WaitInTheirDatabase) {
  const auto waiter = Client();
  waiter->Run("SELECT 3");
  waiter->Send("BLPOP l 0");
  Run("RPUSH l zero");
  EXPECT_EQ(BlockedClients(), "1");
  Run("SELECT 3");
  Run("RPUSH l three");
  EXPECT_THAT(waiter->Read(), Bulks({"l", "three"}));
  Run("SELECT 0");
  ExpectList("l", {"zero"});
}

TEST_P(BlockingCommands, WaitOnWhenTheDatabaseIsEmptied) {
  const auto waiter = BlockedClient("BLPOP l 0");
  Run("RPUSH other a");
  Run("FLUSHALL");
  EXPECT_EQ(BlockedClients(), "1");
  Run("RPUSH l a");
  EXPECT_THAT(waiter->Read(), Bulks({"l", "a"}));
}

TEST_P(BlockingCommands, TakeNothingThatHasExpired) {
  Run("RPUSH l old");
  Run("PEXPIRE l 100");
  server().AdvanceMs(101);
  const auto waiter = BlockedClient("BLPOP l 0");
  EXPECT_THAT(Run("EXISTS l"), Int(0));
  Run("RPUSH l new");
  EXPECT_THAT(waiter->Read(), Bulks({"l", "new"}));
  SkipReplayCheck("the list that expired is purged at another time");
}

TEST_P(BlockingCommands, StayBlockedWhenTheNewKeyHasExpired) {
  Run("SELECT 1");
  Run("RPUSH k old");
  Run("PEXPIRE k 100");
  Run("SELECT 0");
  const auto waiter = BlockedClient("BRPOP k 0");
  server().AdvanceMs(101);
  Run("SWAPDB 0 1");
  EXPECT_EQ(BlockedClients(), "1");
  EXPECT_EQ(Journaled().back(), "0: SWAPDB 0 1");
  EXPECT_THAT(Run("EXISTS k"), Int(0));
  EXPECT_EQ(Journaled().back(), "0: DEL k");
}

TEST_P(BlockingCommands, LetEachTypePassTheOthersInTheLine) {
  const auto zset = BlockedClient("BZPOPMIN k 0"), first = BlockedClient("BLPOP k 0"),
             stranger = BlockedClient("BZPOPMAX k 0"), second = BlockedClient("BLPOP k 0"),
             third = BlockedClient("BLPOP k 0");
  Run("RPUSH k a b");
  EXPECT_THAT(first->Read(), Bulks({"k", "a"}));
  EXPECT_THAT(second->Read(), Bulks({"k", "b"}));
  Run("ZADD k 1 low 2 high");
  EXPECT_THAT(zset->Read(), ArrayOf(Bulk("k"), Bulk("low"), Double(1)));
  EXPECT_THAT(stranger->Read(), ArrayOf(Bulk("k"), Bulk("high"), Double(2)));
  const auto low = BlockedClient("BZMPOP 0 1 k MIN"), other = BlockedClient("BZMPOP 0 1 k MIN");
  Run("RPUSH k c");
  EXPECT_THAT(third->Read(), Bulks({"k", "c"}));
  Run("ZADD k 1 a 2 b");
  EXPECT_THAT(low->Read()[1][0][0], Bulk("a"));
  EXPECT_THAT(other->Read()[1][0][0], Bulk("b"));
}

// ---------------------------------------------------------------------------------------------------------------------
// Ends of a wait without an element

TEST_P(BlockingCommands, EndWhenTheirTimeIsUpAndNotBefore) {
  for (const char* line : {"BLPOP k 0.25", "BRPOP k 0.25", "BLMPOP 0.25 1 k LEFT", "BLMOVE k d LEFT LEFT 0.25",
                           "BRPOPLPUSH k d 0.2499", "BZPOPMIN k 0.25", "BZPOPMAX k .25", "BZMPOP 2.5e-1 1 k MIN"}) {
    const auto waiter = BlockedClient(line);
    server().AdvanceMs(249);
    EXPECT_THAT(waiter->Read(), NoReply()) << line;
    server().AdvanceMs(1);
    EXPECT_THAT(waiter->Read(), NilArray()) << line;
    EXPECT_THAT(waiter->Run("PING"), Simple("PONG")) << line;
  }
  EXPECT_EQ(BlockedClients(), "0");
}

TEST_P(BlockingCommands, KeepTheirDeadlineWhenTheyRunInVain) {
  const auto first = BlockedClient("BLPOP l 1"), second = BlockedClient("BLPOP l 1");
  server().AdvanceMs(600);
  Run("RPUSH l a");  // wakes both
  EXPECT_THAT(first->Read(), Bulks({"l", "a"}));
  server().AdvanceMs(399);
  EXPECT_THAT(second->Read(), NoReply());
  server().AdvanceMs(1);
  EXPECT_THAT(second->Read(), NilArray());
}

TEST_P(BlockingCommands, WaitForEverWithATimeoutOfNought) {
  const auto waiter = BlockedClient("BLPOP l 0"), sliver = BlockedClient("BLPOP l -0.0001");
  server().AdvanceMs(10LL * 365 * 86'400'000);
  EXPECT_EQ(BlockedClients(), "2");
  Run("RPUSH l a b");
  EXPECT_THAT(waiter->Read(), Bulks({"l", "a"}));
  EXPECT_THAT(sliver->Read(), Bulks({"l", "b"}));
}

TEST_P(BlockingCommands, EndByClientUnblock) {
  const auto timed_out = BlockedClient("BLPOP k 0"), refused = BlockedClient("BZPOPMIN k 0");
  const auto unblock = [&](TestClient& client, const char* how) {
    return Run(StrCat("CLIENT UNBLOCK ", client.session().id, " ", how));
  };
  EXPECT_THAT(unblock(*timed_out, "TIMEOUT"), Int(1));
  EXPECT_THAT(timed_out->Read(), NilArray());
  EXPECT_THAT(unblock(*refused, "ERROR"), Int(1));
  EXPECT_THAT(refused->Read(), Error("UNBLOCKED client unblocked via CLIENT UNBLOCK"));
  EXPECT_THAT(unblock(*refused, ""), Int(0));
  Run("RPUSH k a");
  ExpectList("k", {"a"});
}

TEST_P(BlockingCommands, LeaveTheLineWithTheirClient) {
  auto gone = BlockedClient("BLPOP l 5");
  const auto waiter = BlockedClient("BLPOP l 0");
  EXPECT_THAT(Run(StrCat("CLIENT KILL ID ", gone->session().id)), Int(1));
  gone.reset();
  EXPECT_EQ(BlockedClients(), "1");
  Run("RPUSH l a");
  EXPECT_THAT(waiter->Read(), Bulks({"l", "a"}));
  server().AdvanceMs(5000);
}

// ---------------------------------------------------------------------------------------------------------------------
// Beside other commands

TEST_P(BlockingCommands, RunLaterRequestsOfTheirClient) {
  const auto waiter = BlockedClient("BLPOP l 0");
  waiter->Send("RPUSH l2 x");
  waiter->Send("BLPOP l 0.1");
  waiter->Send("PING");
  EXPECT_THAT(waiter->Read(), NoReply());
  Run("RPUSH l a");
  EXPECT_THAT(waiter->Read(), Bulks({"l", "a"}));
  EXPECT_THAT(waiter->Read(), Int(1));
  EXPECT_THAT(waiter->Read(), NoReply());
  server().AdvanceMs(100);
  EXPECT_THAT(waiter->Read(), NilArray());
  EXPECT_THAT(waiter->Read(), Simple("PONG"));
}

TEST_P(BlockingCommands, DoNotWaitInATransaction) {
  Run("MULTI");
  for (const char* line : {"BLPOP k 0", "BRPOP k 0", "BLMPOP 0 1 k LEFT", "BLMOVE k d LEFT LEFT 0", "BRPOPLPUSH k d 0",
                           "BZPOPMIN k 0", "BZPOPMAX k 0", "BZMPOP 0 1 k MIN", "RPUSH k a", "BLPOP k 0"}) {
    EXPECT_THAT(Run(line), Simple("QUEUED"));
  }
  EXPECT_THAT(Run("EXEC"), ArrayOf(NilArray(), NilArray(), NilArray(), Nil(), Nil(), NilArray(), NilArray(), NilArray(),
                                   Int(1), Bulks({"k", "a"})));
}

TEST_P(BlockingCommands, SeeOnlyTheResultOfATransaction) {
  const auto waiter = BlockedClient("BLPOP l 0");
  for (const char* line : {"MULTI", "RPUSH l a", "DEL l", "EXEC"}) Run(line);
  EXPECT_EQ(BlockedClients(), "1");
  for (const char* line : {"MULTI", "RPUSH l a", "LPUSH l b", "EXEC"}) Run(line);
  EXPECT_THAT(waiter->Read(), Bulks({"l", "b"}));
  ExpectList("l", {"a"});
}

TEST_P(BlockingCommands, AreHeldByAPause) {
  const auto before = BlockedClient("BLPOP l 0");
  Run("CLIENT PAUSE 1000 WRITE");
  const auto during = Client();
  during->Send("BRPOP l 0.5");
  const auto pusher = Client();
  EXPECT_THAT(pusher->Run("RPUSH l a b"), NoReply());
  EXPECT_THAT(before->Read(), NoReply());
  Run("CLIENT UNPAUSE");
  EXPECT_THAT(pusher->Read(), Int(2));
  EXPECT_THAT(before->Read(), Bulks({"l", "a"}));
  EXPECT_THAT(during->Read(), Bulks({"l", "b"}));
}

TEST_P(BlockingCommands, CountTheirChangesAndCalls) {
  const auto waiter = BlockedClient("BLMPOP 0 1 l LEFT COUNT 2");
  const uint64_t before = server()->services().data.dataset.stats.dirty;
  Run("RPUSH l a b c");
  EXPECT_EQ(server()->services().data.dataset.stats.dirty - before, 5u);
  const std::string stats = Run("INFO commandstats").Text();
  EXPECT_NE(stats.find("cmdstat_blmpop:calls=1,"), std::string::npos) << stats;
}

TEST_P(BlockingCommands, WaitOnManyKeysByMany) {
  constexpr int kClients = 10'000;
  std::vector<std::unique_ptr<TestClient>> waiters;
  waiters.reserve(kClients);
  for (int i = 0; i < kClients; ++i) waiters.push_back(Client());
  for (int i = 0; i < kClients; ++i) {
    waiters[static_cast<size_t>(i)]->Send(StrCat("BLPOP ", i, " common 1000"));
  }
  EXPECT_EQ(BlockedClients(), std::to_string(kClients));
  for (int i = 0; i < kClients; i += 2) EXPECT_THAT(Run({"RPUSH", std::to_string(i), "x"}), Int(1));
  Run("RPUSH common y");
  EXPECT_THAT(waiters[1]->Read(), Bulks({"common", "y"}));
  EXPECT_EQ(BlockedClients(), std::to_string(kClients / 2 - 1));
  for (int i = 0; i < kClients; i += 2) {
    EXPECT_THAT(waiters[static_cast<size_t>(i)]->Read(), Bulks({std::to_string(i), "x"}));
  }
  server().AdvanceMs(1'000'000);
  EXPECT_THAT(waiters.back()->Read(), NilArray());
  EXPECT_EQ(BlockedClients(), "0");
}

}  // namespace
}  // namespace respite
