// TEST FAULT and TEST DROP over the protocol: which bytes reach the socket.
#include "base/str_cat.h"
#include "tests/server/lab/faults_fixture.h"

namespace respite {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// --- Each action.

TEST_F(FaultsTest, AnErrorComesInsteadOfTheCommand) {
  Add("e WHEN COMMAND INCR DO ERROR \"ERR broken on purpose\"");
  EXPECT_EQ(Talk({"INCR n", "GET n", "incr n", "INCRBY n 2"}),
            "-ERR broken on purpose\r\n$-1\r\n-ERR broken on purpose\r\n:2\r\n");
  EXPECT_EQ(Hits("e"), 2);
  Delete("e");
  EXPECT_EQ(Talk({"INCR n"}), ":3\r\n");
}

TEST_F(FaultsTest, ErrorsHaveRedisTexts) {
  const std::vector<std::pair<std::string, std::string>> known = {
      {"LOADING", "LOADING Redis is loading the dataset in memory"},
      {"oom", "OOM command not allowed when used memory > 'maxmemory'."},
      {"READONLY", "READONLY You can't write against a read only replica."},
      {"MASTERDOWN", "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."},
      {"BUSY", "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."},
      {"NOREPLICAS", "NOREPLICAS Not enough good replicas to write."},
      {"MISCONF",
       "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands that "
       "may modify the data set are disabled, because this instance is configured to report errors during writes if "
       "RDB snapshotting fails (stop-writes-on-bgsave-error option). Please check the Redis logs for details about the "
       "RDB error."},
      {"NOSCRIPT", "NOSCRIPT No matching script. Please use EVAL."},
      {"CLUSTERDOWN", "CLUSTERDOWN The cluster is down"},
      {"TRYAGAIN", "TRYAGAIN Multiple keys request during rehashing of slot"},
      {"MOVED 3999 127.0.0.1:6381", "MOVED 3999 127.0.0.1:6381"},
      {"ask 0 [::1]:1", "ASK 0 [::1]:1"},
  };
  for (const auto& [word, text] : known) {
    Add("e WHEN COMMAND GET DO ERROR " + word);
    EXPECT_EQ(Talk({"GET k"}), "-" + text + "\r\n");
    Delete("e");
  }
}

TEST_F(FaultsTest, AReplyIsSentAsItIs) {
  Add("r WHEN COMMAND GET DO REPLY \"$5\\r\\nbro\"");
  EXPECT_EQ(Talk({"SET k v", "GET k", "PING"}), "+OK\r\n$5\r\nbro+PONG\r\n");
  Delete("r");
  Add("r WHEN COMMAND GET DO REPLY \"\"");
  EXPECT_EQ(Talk({"GET k", "PING"}), "+PONG\r\n");
}

TEST_F(FaultsTest, ADelayedCommandRunsLaterAndOthersRunMeanwhile) {
  Add("d WHEN COMMAND INCR CLIENT slow DO DELAY 100ms");
  EXPECT_EQ(Talk({"CLIENT SETNAME slow", "INCR n", "GET n"}), "+OK\r\n");
  EXPECT_EQ(Talk({"SET later 1"}), "") << "nothing of this client runs before it";
  EXPECT_THAT(admin_.Run("INCR n"), Int(1));
  EXPECT_EQ(ComeAfter(99), "");
  EXPECT_THAT(admin_.Run("INCR n"), Int(2));
  EXPECT_EQ(ComeAfter(1), ":3\r\n$1\r\n3\r\n+OK\r\n");
  EXPECT_EQ(Hits("d"), 1);
}

TEST_F(FaultsTest, ADelayedReplyKeepsTheOrderOfRepliesAndMessages) {
  Add("d WHEN COMMAND INCR DO DELAY-REPLY 100ms");
  EXPECT_EQ(Talk({"HELLO 3 SETNAME me"}).substr(0, 2), "%7");
  EXPECT_THAT(Talk({"SUBSCRIBE news"}), StartsWith(">3"));
  EXPECT_EQ(Talk({"PING", "INCR n", "GET n"}), "+PONG\r\n");
  EXPECT_THAT(admin_.Run("GET n"), Bulk("1")) << "it has run";
  admin_.Run("PUBLISH news flash");
  EXPECT_EQ(Talk({"ECHO x"}), "");
  EXPECT_EQ(ComeAfter(99), "");
  EXPECT_EQ(ComeAfter(1), ":1\r\n$1\r\n1\r\n>3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nflash\r\n$1\r\nx\r\n");
}

TEST_F(FaultsTest, CloseEndsTheConnectionBeforeTheCommandRuns) {
  Add("c WHEN COMMAND INCR DO CLOSE");
  EXPECT_EQ(Talk({"SET n 5", "INCR n", "INCR n"}), "+OK\r\n");
  EXPECT_TRUE(client_.Closed());
  EXPECT_THAT(admin_.Run("GET n"), Bulk("5"));
  EXPECT_EQ(Hits("c"), 1);
}

TEST_F(FaultsTest, CloseAfterLosesTheReplyOfACommandThatRan) {
  Add("c WHEN COMMAND INCR DO CLOSE-AFTER");
  EXPECT_EQ(Talk({"SET n 5", "INCR n", "INCR n"}), "+OK\r\n");
  EXPECT_TRUE(client_.Closed());
  EXPECT_THAT(admin_.Run("GET n"), Bulk("6"));
}

TEST_F(FaultsTest, CutSendsSoMuchOfTheReply) {
  for (const auto& [bytes, sent] : std::vector<std::pair<std::string, std::string>>{
           {"0", ""}, {"3", "$3\r"}, {"9", "$3\r\nabc\r\n"}, {"1000000", "$3\r\nabc\r\n"}}) {
    Add("c WHEN COMMAND GET DO CUT " + bytes);
    TestClient client(server_);
    EXPECT_EQ(Talk(client, {"SET k abc", "GET k", "PING"}), "+OK\r\n" + sent);
    EXPECT_TRUE(client.Closed());
    Delete("c");
  }
}

TEST_F(FaultsTest, NothingFollowsACutReply) {
  Add("c WHEN COMMAND SET DO CUT 2");
  Talk({"HELLO 3"});
  Talk({"CLIENT TRACKING on", "GET k"});
  EXPECT_EQ(Talk({"SET k v"}), "+O") << "the invalidation stands behind the reply";
  EXPECT_TRUE(client_.Closed());
}

TEST_F(FaultsTest, ATrickleSendsTheReplySlowly) {
  Add("t WHEN COMMAND GET DO TRICKLE 10");
  EXPECT_EQ(Talk({"SET k abcd", "GET k", "PING"}), "+OK\r\n");
  EXPECT_EQ(ComeAfter(99), "");
  EXPECT_EQ(ComeAfter(1), "$");
  EXPECT_EQ(ComeAfter(350), "4\r\n");
  EXPECT_EQ(ComeAfter(549), "abcd\r");
  EXPECT_EQ(ComeAfter(1), "\n+PONG\r\n");
}

// A jump of the clock does not stop at each piece of a reply, which would take hours.
TEST_F(FaultsTest, ATrickleDoesNotHoldUpAJump) {
  Add("t WHEN COMMAND GET DO TRICKLE 1");
  admin_.Run("TEST CLOCK FREEZE");
  admin_.Run("SETRANGE k 9999999 x");
  Talk({"GET k"});
  const uint64_t turns = server_->services().env.stats.turns;
  EXPECT_THAT(admin_.Run("TEST CLOCK ADVANCE 100d"), Ok());
  EXPECT_LT(server_->services().env.stats.turns - turns, 1000U);
  EXPECT_EQ(Come().size(), 8'640'000U);
  EXPECT_THAT(admin_.Run("TEST CLOCK ADVANCE 10s"), Ok());
  EXPECT_EQ(Come().size(), 10U);
}

TEST_F(FaultsTest, SilenceIsNeverBroken) {
  Add("s WHEN COMMAND INCR DO SILENCE TIMES 1");
  EXPECT_EQ(Talk({"PING", "INCR n", "PING", "INCR n"}), "+PONG\r\n");
  EXPECT_EQ(ComeAfter(int64_t{365} * 86'400'000), "");
  EXPECT_EQ(Talk({"PING"}), "");
  EXPECT_FALSE(client_.Closed());
  EXPECT_THAT(admin_.Run("GET n"), Bulk("2"));
  Delete("s");
  EXPECT_EQ(Come(), ":1\r\n+PONG\r\n:2\r\n+PONG\r\n") << "the network works again";
}

TEST_F(FaultsTest, RemovedRulesLetGoWhatTheyHold) {
  TestClient other(server_);
  Add("a WHEN COMMAND INCR DO DELAY 36500d");
  Add("b WHEN COMMAND GET DO DELAY-REPLY 36500d");
  EXPECT_EQ(Talk({"GET k", "INCR n"}), "");
  EXPECT_EQ(Talk(other, {"GET k"}), "");
  EXPECT_THAT(admin_.Run("EXISTS n"), Int(0));
  Delete("a");
  EXPECT_THAT(admin_.Run("EXISTS n"), Int(1));
  EXPECT_EQ(Come(), "") << "behind the reply to GET";
  EXPECT_THAT(admin_.Run("TEST RESET FAULTS"), Ok());
  EXPECT_EQ(Come(), "$-1\r\n:1\r\n");
  EXPECT_EQ(other.Raw(""), "$-1\r\n");
}

// --- Time.

TEST_F(FaultsTest, DelaysFollowTheClockOfTheServer) {
  admin_.Run("TEST CLOCK FREEZE 1700000000000");
  Add("d WHEN COMMAND GET DO DELAY 1h");
  Add("r WHEN COMMAND SET DO DELAY-REPLY 2h");
  TestClient other(server_);
  EXPECT_EQ(Talk({"GET k"}), "");
  EXPECT_EQ(Talk(other, {"SET k v"}), "");
  server_.AdvanceMs(86'400'000);
  EXPECT_EQ(Come(), "");
  EXPECT_EQ(admin_.Run("TEST CLOCK")[11][5].Text(), "a delayed request of client 2 goes on");
  EXPECT_THAT(admin_.Run("TEST CLOCK ADVANCE 1h"), Ok());
  EXPECT_EQ(Come(), "$1\r\nv\r\n");
  EXPECT_EQ(admin_.Run("TEST CLOCK NEXT")[5].Text(), "a reply of client 3 goes on");
  EXPECT_EQ(other.Raw(""), "+OK\r\n");
}

TEST_F(FaultsTest, AutoJumpsOverDelays) {
  Add("d WHEN COMMAND GET DO DELAY-REPLY 1h");
  admin_.Run("TEST CLOCK FREEZE 1700000000000");
  admin_.Run("TEST CLOCK AUTO ON");
  EXPECT_EQ(Talk({"GET k"}), "");
  EXPECT_THAT(admin_.Run("BLPOP nothing 7200"), testing::_);
  server_.EndTurn();
  EXPECT_EQ(Come(), "$-1\r\n");
}

TEST_F(FaultsTest, ForEndsARule) {
  admin_.Run("TEST CLOCK FREEZE");
  Add("f WHEN COMMAND GET DO ERROR OOM FOR 1m");
  admin_.Run("TEST CLOCK ADVANCE 59999ms");
  EXPECT_THAT(Talk({"GET k"}), StartsWith("-OOM"));
  EXPECT_EQ(admin_.Run("TEST CLOCK NEXT")[5].Text(), "fault \"f\" ends");
  EXPECT_EQ(Talk({"GET k"}), "$-1\r\n");
  EXPECT_EQ(Hits("f"), 1);
  EXPECT_EQ(admin_.Run("TEST FAULT LIST")[0][5].Text(), "over");
}

// --- TIMES, AFTER, PERCENT.

TEST_F(FaultsTest, AfterAndTimesCountTheMatches) {
  Add("f WHEN COMMAND GET DO ERROR x AFTER 2 TIMES 3");
  EXPECT_EQ(Talk({"GET k", "GET k", "PING", "GET k", "GET k", "GET k", "GET k"}),
            "$-1\r\n$-1\r\n+PONG\r\n-x\r\n-x\r\n-x\r\n$-1\r\n");
  EXPECT_EQ(Hits("f"), 3);
  EXPECT_EQ(admin_.Run("TEST FAULT LIST")[0][5].Text(), "spent");
}

TEST_F(FaultsTest, TheFirstRuleWhoseTurnItIsActs) {
  Add("one WHEN COMMAND GET DO ERROR one TIMES 1");
  Add("two WHEN COMMAND G* DO ERROR two AFTER 1");
  Add("three DO ERROR three");
  EXPECT_EQ(Talk({"GET k", "GET k", "GET k", "PING"}), "-one\r\n-three\r\n-two\r\n-three\r\n");
}

std::string PatternOfPercent(uint64_t seed, const std::string& percent) {
  TestServer server({.directives = {"test-commands yes"}, .seed = seed});
  TestClient admin(server);
  TestClient client(server);
  admin.Run("TEST FAULT ADD p WHEN COMMAND GET DO ERROR x PERCENT " + percent);
  std::string pattern;
  for (int i = 0; i < 400; ++i) pattern += client.Raw("*2\r\n$3\r\nGET\r\n$1\r\nk\r\n")[0];
  EXPECT_EQ(admin.Run("TEST FAULT HITS p").Integer(), std::ranges::count(pattern, '-'));
  return pattern;
}

TEST(FaultChanceTest, TheSameSeedHasTheSameHits) {
  const std::string pattern = PatternOfPercent(7, "30");
  EXPECT_EQ(pattern, PatternOfPercent(7, "30"));
  EXPECT_NE(pattern, PatternOfPercent(8, "30"));
  EXPECT_NEAR(static_cast<double>(std::ranges::count(pattern, '-')), 120, 40);
  EXPECT_EQ(std::ranges::count(PatternOfPercent(7, "100"), '-'), 400);
  EXPECT_EQ(std::ranges::count(PatternOfPercent(7, "0"), '-'), 0);
}

TEST_F(FaultsTest, TestSeedDecidesTheHits) {
  const auto pattern = [&] {
    std::string hits;
    for (int i = 0; i < 64; ++i) hits += Talk({"GET k"})[0];
    return hits;
  };
  const auto seeded = [&](const std::string& seed) {
    admin_.Run("TEST RESET FAULTS");
    Add("p WHEN COMMAND GET DO ERROR x PERCENT 50");
    admin_.Run("TEST SEED " + seed);
    return pattern();
  };
  const std::string first = seeded("1");
  EXPECT_NE(first, seeded("2"));
  EXPECT_EQ(first, seeded("1"));
}

// --- WHEN.

TEST_F(FaultsTest, FiltersMeanRequestsAndClients) {
  TestClient other(server_);
  Talk({"CLIENT SETNAME worker-1", "CLIENT SETINFO LIB-NAME jedis", "SELECT 3"});
  admin_.Run("ACL SETUSER ann on nopass ~* &* +@all");
  Talk({"AUTH ann x"});
  struct Case {
    std::string when;
    std::string hit;
    std::string missed;
  };
  const std::vector<Case> cases = {
      {"COMMAND config|get", "CONFIG GET port", "CONFIG RESETSTAT"},
      {"COMMAND CONFIG", "CONFIG RESETSTAT", "GET k"},
      {"COMMAND h*", "HGET k f", "GET k"},
      {"CATEGORY @write", "SET k v", "GET k"},
      {"CATEGORY hash", "HGET k f", "SET k v"},
      {"KEY user:*", "MGET a user:1", "MGET a b"},
      {"KEY user:1", "SET user:1 v", "SET user:12 v"},
      {"KEY user:*", "EVAL return{} 1 user:1", "EVAL return{} 0 user:1"},
      {"COMMAND GET KEY u* DB 3", "GET u", "SET u v"},
  };
  for (const Case& one : cases) {
    Add("f WHEN " + one.when + " DO ERROR x");
    EXPECT_EQ(Talk({one.hit}), "-x\r\n") << one.when;
    EXPECT_NE(Talk({one.missed}), "-x\r\n") << one.when;
    Delete("f");
  }
  const std::string id = std::to_string(client_.session().id);
  for (const std::string& when : {std::string("CLIENT worker-?"), std::string("USER an[n]"), "ID " + id,
                                  "ADDR 127.0.0.1:5000" + id, std::string("DB 3"), std::string("LIB jedis")}) {
    Add("f WHEN " + when + " DO ERROR x");
    EXPECT_EQ(Talk({"GET k"}), "-x\r\n") << when;
    EXPECT_EQ(Talk(other, {"GET k"}), "$-1\r\n") << when;
    Delete("f");
  }
}

TEST_F(FaultsTest, AWrongNumberOfArgumentsIsNoMatch) {
  Add("f WHEN COMMAND GET DO CLOSE");
  EXPECT_EQ(Talk({"GET"}), "-ERR wrong number of arguments for 'get' command\r\n");
  EXPECT_EQ(Hits("f"), 0);
}

TEST_F(FaultsTest, TestCommandsNeverMeetAFault) {
  Add("all DO CLOSE");
  EXPECT_THAT(admin_.Run("TEST CLOCK").Size(), testing::Gt(0u));
  EXPECT_THAT(admin_.Run("TEST FAULT CLEAR"), Ok());
  EXPECT_EQ(Talk({"PING"}), "+PONG\r\n");
}

TEST_F(FaultsTest, LinksOfReplicasAreNoClients) {
  EXPECT_EQ(Talk({"REPLCONF listening-port 1"}), "+OK\r\n");
  Add("all DO CLOSE");
  EXPECT_EQ(Talk({"PING"}), "+PONG\r\n") << "it has said that it is a replica";
  EXPECT_EQ(Hits("all"), 0);
}

// --- Transactions and scripts.

TEST_F(FaultsTest, ACommandIsMetWhenItIsQueuedUnlessTheRuleSaysOtherwise) {
  Add("f WHEN COMMAND INCR DO ERROR OOM");
  EXPECT_EQ(Talk({"MULTI", "INCR n", "EXEC"}),
            "+OK\r\n-OOM command not allowed when used memory > 'maxmemory'.\r\n"
            "-EXECABORT Transaction discarded because of previous errors.\r\n");
  Delete("f");
  Add("f WHEN COMMAND INCR TRANSACTION no DO ERROR x");
  EXPECT_EQ(Talk({"MULTI", "INCR n", "EXEC", "INCR n"}), "+OK\r\n+QUEUED\r\n*1\r\n:1\r\n-x\r\n");
  Delete("f");
  Add("f WHEN COMMAND INCR TRANSACTION yes DO ERROR x");
  EXPECT_EQ(Talk({"MULTI", "INCR n", "GET n", "EXEC", "INCR n"}),
            "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n-x\r\n$1\r\n1\r\n:2\r\n");
  Delete("f");
  Add("f WHEN COMMAND INCR TRANSACTION yes DO REPLY \":x\"");
  EXPECT_EQ(Talk({"MULTI", "INCR n", "EXEC"}), "+OK\r\n+QUEUED\r\n*1\r\n:x");
}

TEST_F(FaultsTest, AFaultOfExecEndsTheTransaction) {
  Add("f WHEN COMMAND EXEC DO ERROR \"EXECABORT on purpose\" TIMES 1");
  EXPECT_EQ(Talk({"MULTI", "INCR n", "EXEC", "INCR n"}), "+OK\r\n+QUEUED\r\n-EXECABORT on purpose\r\n:1\r\n");
  Delete("f");
  Add("f WHEN COMMAND EXEC DO REPLY \"*-1\\r\\n\" TIMES 1");
  EXPECT_EQ(Talk({"MULTI", "INCR n", "EXEC", "INCR n"}), "+OK\r\n+QUEUED\r\n*-1\r\n:2\r\n");
  Delete("f");
  Add("f WHEN COMMAND EXEC DO DELAY 5");
  EXPECT_EQ(Talk({"MULTI", "INCR n", "EXEC"}), "+OK\r\n+QUEUED\r\n");
  EXPECT_EQ(ComeAfter(5), "*1\r\n:3\r\n");
}

TEST_F(FaultsTest, WhatActsOnTheConnectionActsOnTheReplyOfTheWholeRequest) {
  const std::vector<std::string> transaction = {"MULTI", "INCR n", "EXEC", "PING"};
  const std::vector<std::string> script = {"EVAL return{redis.call('INCR',KEYS[1])} 1 n", "PING"};
  for (const bool is_script : {false, true}) {
    const std::string begun = is_script ? "" : "+OK\r\n+QUEUED\r\n";
    const std::string when =
        is_script ? "f WHEN COMMAND INCR SCRIPT yes DO " : "f WHEN COMMAND INCR TRANSACTION yes DO ";
    const auto& requests = is_script ? script : transaction;
    admin_.Run("SET n 0");
    for (const std::string action : {"CLOSE", "CLOSE-AFTER", "CUT 0"}) {
      Add(when + action);
      TestClient client(server_);
      EXPECT_EQ(Talk(client, requests), begun) << action;
      EXPECT_TRUE(client.Closed());
      Delete("f");
    }
    EXPECT_THAT(admin_.Run("GET n"), Bulk("3")) << "it has run each time";
    for (const std::string action : {"DELAY 50", "DELAY-REPLY 50"}) {
      Add(when + action);
      EXPECT_EQ(Talk(requests), begun) << action;
      EXPECT_THAT(ComeAfter(50), testing::AllOf(StartsWith("*1\r\n:"), HasSubstr("+PONG"))) << action;
      Delete("f");
    }
  }
  Add("f WHEN COMMAND INCR SCRIPT yes DO REPLY !");
  EXPECT_EQ(Talk(script), "!+PONG\r\n");
}

TEST_F(FaultsTest, AScriptSeesTheErrorOfItsCommand) {
  Add("f WHEN COMMAND INCR SCRIPT yes DO ERROR OOM");
  EXPECT_EQ(Talk({"INCR n"}), ":1\r\n");
  EXPECT_THAT(Talk({"EVAL return{redis.pcall('INCR','n').err} 0"}),
              HasSubstr("\r\nOOM command not allowed when used memory > 'maxmemory'.\r\n"));
  Delete("f");
  Add("f WHEN COMMAND INCR SCRIPT no DO ERROR x");
  EXPECT_EQ(Talk({"EVAL return{redis.call('INCR','n')} 0", "INCR n"}), "*1\r\n:2\r\n-x\r\n");
}

// --- Clients that do something special.

TEST_F(FaultsTest, ABlockedClientMeetsItWhenItsReplyComes) {
  Add("f WHEN COMMAND BLPOP DO DELAY-REPLY 100ms");
  EXPECT_EQ(Talk({"BLPOP q 0"}), "");
  Pass(1000);
  admin_.Run("RPUSH q x");
  EXPECT_EQ(ComeAfter(99), "");
  EXPECT_EQ(ComeAfter(1), "*2\r\n$1\r\nq\r\n$1\r\nx\r\n");
  EXPECT_EQ(Talk({"BLPOP q 0.05"}), "");
  EXPECT_EQ(ComeAfter(50), "");
  EXPECT_EQ(ComeAfter(99), "");
  EXPECT_EQ(ComeAfter(1), "*-1\r\n");
  Delete("f");
  Add("f WHEN COMMAND BLPOP DO CLOSE-AFTER");
  Talk({"BLPOP q 0"});
  EXPECT_FALSE(client_.Closed());
  admin_.Run("RPUSH q lost");
  EXPECT_EQ(Come(), "");
  EXPECT_TRUE(client_.Closed());
  EXPECT_THAT(admin_.Run("LLEN q"), Int(0)) << "the element is lost with the reply";
}

TEST_F(FaultsTest, ADelayedBlockingCommandBlocksAfterItsDelay) {
  Add("f WHEN COMMAND BLPOP DO DELAY 100ms TIMES 1");
  Talk({"BLPOP q 1"});
  EXPECT_EQ(ComeAfter(100), "");
  EXPECT_EQ(ComeAfter(999), "");
  EXPECT_EQ(ComeAfter(1), "*-1\r\n");
}

TEST_F(FaultsTest, SilentRepliesStaySilent) {
  Add("f WHEN COMMAND GET DO DELAY-REPLY 1h");
  EXPECT_EQ(Talk({"CLIENT REPLY OFF", "GET k", "CLIENT REPLY ON", "PING"}), "+OK\r\n+PONG\r\n");
  EXPECT_EQ(Talk({"CLIENT REPLY SKIP", "GET k", "PING"}), "+PONG\r\n");
  Delete("f");
  Add("f WHEN COMMAND GET DO REPLY x");
  EXPECT_EQ(Talk({"CLIENT REPLY SKIP", "GET k", "PING"}), "+PONG\r\n");
  TestClient scripts(server_);
  scripts.Run({"CLIENT", "REPLY", "SKIP"});
  scripts.Run({"EVAL", "return redis.call('GET', 'k')", "0"});
  EXPECT_EQ(scripts.Run("PING").Text(), "PONG");
  Delete("f");
  Add("f WHEN COMMAND GET DO CUT 5");
  EXPECT_EQ(Talk({"CLIENT REPLY SKIP", "GET k", "PING"}), "");
  EXPECT_TRUE(client_.Closed());
}

TEST_F(FaultsTest, AMonitorIsShownADelayedCommandWhenItRuns) {
  TestClient monitor(server_);
  monitor.Run("MONITOR");
  Add("f WHEN COMMAND GET DO DELAY 10");
  Talk({"GET k"});
  EXPECT_EQ(monitor.Raw(""), "");
  Pass(10);
  EXPECT_THAT(monitor.Raw(""), HasSubstr("\"GET\" \"k\""));
}

TEST_F(FaultsTest, ADelayDoesNotKeepALateScriptAlive) {
  Add("f WHEN COMMAND SCRIPT DO DELAY 1h");
  TestClient killer(server_);
  int rounds = 0;
  server_.DuringLongTasks([&] {
    if (rounds++ == 0) killer.Send("SCRIPT KILL");
  });
  server_.clock().AdvanceWithEachReading(1000);
  EXPECT_THAT(client_.Run({"EVAL", "while true do end", "0"}), ErrorStartsWith("ERR Script killed by user"));
  server_.clock().AdvanceWithEachReading(0);
  EXPECT_EQ(killer.Raw(""), "") << "its reply is held back instead";
  server_.AdvanceMs(3'600'000);
  server_.Cron();
  EXPECT_EQ(killer.Raw(""), "+OK\r\n");
}

TEST_F(FaultsTest, AClientMayLeaveWhileItIsHeldBack) {
  Add("d WHEN COMMAND GET DO DELAY 1h");
  Add("r WHEN COMMAND SET DO DELAY-REPLY 1h");
  {
    TestClient one(server_), two(server_);
    one.Raw("*2\r\n$3\r\nGET\r\n$1\r\nk\r\n");
    Talk(two, {"SET k v", "GET k"});
  }
  EXPECT_EQ(server_->services().clients.registry.Count(), 2u);
  Pass(7'200'000);
  EXPECT_THAT(admin_.Run("TEST CLOCK")[11], Nil());
}

TEST_F(FaultsTest, AProtocolErrorBehindAHeldReplyStaysThere) {
  Add("f WHEN COMMAND GET DO DELAY-REPLY 10");
  EXPECT_EQ(client_.Raw("*2\r\n$3\r\nGET\r\n$1\r\nk\r\n*x\r\n"), "");
  EXPECT_FALSE(client_.Closed());
  EXPECT_THAT(ComeAfter(10), StartsWith("$-1\r\n-ERR Protocol error"));
  EXPECT_TRUE(client_.Closed());
}

TEST_F(FaultsTest, ManyHeldRepliesLeaveInTheirOrder) {
  Add("f WHEN COMMAND ECHO DO DELAY-REPLY 10");
  std::string requests, expected;
  for (int i = 0; i < 5000; ++i) {
    const std::string word = std::to_string(i);
    requests += EncodeRequest({"ECHO", word});
    StrAppend(expected, "$", word.size(), "\r\n", word, "\r\n");
  }
  EXPECT_EQ(client_.Raw(requests), "");
  EXPECT_EQ(ComeAfter(10), expected);
}

}  // namespace
}  // namespace respite
