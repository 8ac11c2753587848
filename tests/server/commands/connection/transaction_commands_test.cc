// MULTI, EXEC, DISCARD, WATCH, UNWATCH: queueing, refusals, and stale transactions.
#include "base/str_cat.h"
#include "server/execution/gates.h"
#include "tests/support/command_test.h"

namespace respite {
namespace {

constexpr char kNestedMulti[] = "ERR MULTI calls can not be nested";
constexpr char kExecWithoutMulti[] = "ERR EXEC without MULTI";
constexpr char kDiscardWithoutMulti[] = "ERR DISCARD without MULTI";
constexpr char kWatchInMulti[] = "ERR WATCH inside MULTI is not allowed";
constexpr char kExecBroken[] = "EXECABORT Transaction discarded because of previous errors.";

using testing::ElementsAre;

class TransactionCommands : public CommandTest {
 protected:
  // Whether EXEC runs a PING for a client that watches keys.
  bool Goes() {
    EXPECT_THAT(Run("MULTI"), Ok());
    EXPECT_THAT(Run("PING"), Simple("QUEUED"));
    return Run("EXEC").Size() == 1;
  }
  TestReply Other(Bytes line) { return other_.Run(line); }

 private:
  TestClient other_{server()};
};
INSTANTIATE_TEST_SUITE_P(Resp, TransactionCommands, BothVersions(), VersionName);

TEST_P(TransactionCommands, QueuedCommandsRunAtExec) {
  EXPECT_THAT(Run("MULTI"), Ok());
  EXPECT_THAT(Run("SET k 1"), Simple("QUEUED"));
  EXPECT_THAT(Run("INCR k"), Simple("QUEUED"));
  EXPECT_THAT(Other("EXISTS k"), Int(0));
  EXPECT_THAT(Run("EXEC"), ArrayOf(Ok(), Int(2)));
  EXPECT_THAT(Run("GET k"), Bulk("2"));
}

TEST_P(TransactionCommands, ManyAndLongCommandsRunInOrder) {
  constexpr int kCommands = 20'000;
  Run("MULTI");
  Run({"APPEND", "long", std::string(100'000, 'x')});
  for (int i = 0; i < kCommands; ++i) ASSERT_THAT(Run({"RPUSH", "list", std::to_string(i)}), Simple("QUEUED"));
  Run({"APPEND", "long", std::string(200'000, 'y')});
  TestReply replies = Run("EXEC");
  ASSERT_EQ(replies.Size(), size_t{kCommands} + 2);
  EXPECT_EQ(replies[kCommands].Integer(), kCommands);
  EXPECT_EQ(replies[kCommands + 1].Integer(), 300'000);
  EXPECT_THAT(Run("LINDEX list 12345"), Bulk("12345"));
  Run("MULTI");  // nothing is left of the last transaction
  Run("ECHO again");
  EXPECT_THAT(Run("EXEC"), ArrayOf(Bulk("again")));
}

TEST_P(TransactionCommands, ExecIsOneUnitOfTheJournal) {
  Run("MULTI");
  Run("SET a 1");
  Run("GET a");
  Run("SELECT 3");
  Run("SET b 2");
  Run("EXEC");
  EXPECT_THAT(Journaled(), ElementsAre("0: SET a 1", "3: SET b 2"));
  EXPECT_EQ(server().journal().Units(), 1u);
}

TEST_P(TransactionCommands, AnEmptyTransactionRepliesAnEmptyArray) {
  Run("MULTI");
  EXPECT_EQ(Run("EXEC").Size(), 0u);
  EXPECT_TRUE(Journaled().empty());
}

TEST_P(TransactionCommands, ARuntimeErrorDoesNotStopTheRest) {
  Run("MULTI");
  Run("SET k text");
  Run("INCR k");
  Run("LPUSH k x");
  Run("APPEND k s");
  EXPECT_THAT(Run("EXEC"), ArrayOf(Ok(), Error(refusals::kNotInteger), Error(refusals::kWrongType), Int(5)));
}

TEST_P(TransactionCommands, ARefusedCommandBreaksTheTransaction) {
  for (const char* refused : {"NOSUCH k", "GET", "SET k"}) {
    Run("MULTI");
    Run("SET k 1");
    EXPECT_THAT(Run(refused), ErrorStartsWith("ERR "));
    EXPECT_THAT(Run("SET k 2"), Simple("QUEUED"));
    EXPECT_THAT(Run("EXEC"), Error(kExecBroken)) << refused;
  }
  EXPECT_THAT(Run("EXISTS k"), Int(0));
  EXPECT_THAT(Run("EXEC"), Error(kExecWithoutMulti));
}

TEST_P(TransactionCommands, ARefusedExecSaysWhyAndEndsTheTransaction) {
  Run("MULTI");
  Run("SET k 1");
  EXPECT_THAT(Run("EXEC now"), Error("EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' "
                                     "command"));
  EXPECT_THAT(Run("SET k 2"), Ok());
}

TEST_P(TransactionCommands, MonitorsSeeARefusedExec) {
  TestClient monitor(server());
  monitor.Run("MONITOR");
  Run("MULTI");
  Run("EXEC now");
  EXPECT_THAT(monitor.Read().Text(), testing::HasSubstr("\"MULTI\""));
  EXPECT_THAT(monitor.Read().Text(), testing::HasSubstr("\"EXEC\" \"now\""));
}

TEST_P(TransactionCommands, ClientListShowsStatesInRedisOrder) {
  TestClient busy(server(), RespVersion::kResp3);
  for (const char* line :
       {"CLIENT TRACKING ON BCAST", "CLIENT NO-TOUCH ON", "CLIENT NO-EVICT ON", "WATCH k", "SUBSCRIBE c"})
    busy.Run(line);
  Run("SET k 1");
  busy.Run("MULTI");
  EXPECT_THAT(Run(StrCat("CLIENT LIST ID ", busy.session().id)).Text(), testing::HasSubstr(" flags=PxtBdeT "));
}

TEST_P(TransactionCommands, NestingIsRefusedAndBreaksNothing) {
  Run("MULTI");
  EXPECT_THAT(Run("MULTI"), Error(kNestedMulti));
  EXPECT_THAT(Run("WATCH k"), Error(kWatchInMulti));
  Run("SET k 1");
  EXPECT_THAT(Run("EXEC"), ArrayOf(Ok()));
  EXPECT_THAT(Run("DISCARD"), Error(kDiscardWithoutMulti));
}

TEST_P(TransactionCommands, DiscardForgetsCommandsAndWatches) {
  Run("WATCH k");
  Run("MULTI");
  Run("SET k 1");
  EXPECT_THAT(Run("DISCARD"), Ok());
  Other("SET k other");
  EXPECT_TRUE(Goes());
  EXPECT_THAT(Run("GET k"), Bulk("other"));
}

TEST_P(TransactionCommands, ResetAndTheEndOfTheClientLeaveTheTransaction) {
  Run("WATCH k");
  Run("MULTI");
  Run("SET k 1");
  Run("RESET");
  EXPECT_THAT(Run("EXEC"), Error(kExecWithoutMulti));
  {
    TestClient leaver(server());
    leaver.Run("WATCH k");
    leaver.Run("MULTI");
    leaver.Run("SET k 2");
  }
  Other("SET k 3");
  EXPECT_THAT(Other("GET k"), Bulk("3"));
}

TEST_P(TransactionCommands, AClientThatKillsItselfStillRunsTheTransaction) {
  Run("MULTI");
  Run("SET a 1");
  Run(StrCat("CLIENT KILL ID ", client().session().id, " SKIPME NO"));
  Run("SET b 2");
  Run("EXEC");
  EXPECT_TRUE(client().Closed());
  EXPECT_THAT(Other("MGET a b"), ArrayOf(Bulk("1"), Bulk("2")));
}

TEST_P(TransactionCommands, WatchSeesEveryKindOfChange) {
  const std::vector<std::string> changes = {
      "SET k 2",    "DEL k",      "APPEND k x", "EXPIRE k 100",     "FLUSHDB",         "FLUSHALL",
      "RENAME k j", "RENAME o k", "SWAPDB 0 1", "COPY o k REPLACE", "MOVE k 2",        "SETRANGE k 0 x",
      "GETDEL k",   "UNLINK k",   "INCR k",     "SUNIONSTORE k s",  "SORT o2 STORE k", "RESTORE k 0 nonsense",
  };
  for (const std::string& change : changes) {
    for (const char* prepare : {"FLUSHALL", "SET k 1", "SET o 2", "SADD s 1", "RPUSH o2 1"}) Run(prepare);
    Run("WATCH k unrelated");
    const bool refused = Other(change).tree->kind == ReplyKind::kError;
    EXPECT_EQ(Goes(), refused) << change;
  }
}

TEST_P(TransactionCommands, WatchSeesNoChangeWhereThereIsNone) {
  for (const char* idle : {"GET k", "DEL absent", "SETNX k 9", "FLUSHDB", "LPUSHX k2 1", "SET other 1", "TOUCH k"}) {
    Run("FLUSHALL");
    if (std::string(idle) != "FLUSHDB") Run("SET k 1");
    Run("WATCH k");
    Other(idle);
    EXPECT_TRUE(Goes()) << idle;
  }
}

// Redis: the consumer groups of a stream are not part of its value.
TEST_P(TransactionCommands, WatchDoesNotSeeGroups) {
  for (const char* change : {"XGROUP CREATE s h 0", "XGROUP SETID s g 0", "XREADGROUP GROUP g c STREAMS s >",
                             "XACK s g 1-1", "XGROUP DELCONSUMER s g c", "XGROUP DESTROY s g"}) {
    Run("DEL s");
    Run("XADD s 1-1 f v");
    Run("XGROUP CREATE s g 0");
    Run("XREADGROUP GROUP g c COUNT 1 STREAMS s >");
    Run("WATCH s");
    Other(change);
    EXPECT_TRUE(Goes()) << change;
  }
}

TEST_P(TransactionCommands, WatchIsPerDatabase) {
  Run("SET k 1");
  Run("WATCH k");
  Other("SELECT 1");
  Other("SET k 2");
  EXPECT_TRUE(Goes());
}

TEST_P(TransactionCommands, OwnChangesCountToo) {
  Run("WATCH k");
  Run("SET k 1");
  EXPECT_FALSE(Goes());
  EXPECT_TRUE(Goes());  // EXEC has ended the watch
}

TEST_P(TransactionCommands, UnwatchForgets) {
  Run("WATCH k");
  Other("SET k 1");
  EXPECT_THAT(Run("UNWATCH"), Ok());
  EXPECT_TRUE(Goes());
}

TEST_P(TransactionCommands, WatchSeesExpiry) {
  Run("SET k 1 PX 100");
  Run("WATCH k");
  server().AdvanceMs(101);
  EXPECT_FALSE(Goes());
}

TEST_P(TransactionCommands, KeysExpiredAtWatchMayBeRemovedButNotCreated) {
  Run("DEBUG SET-ACTIVE-EXPIRE 0");
  Run("SET k 1 PX 100");
  server().AdvanceMs(101);
  Run("WATCH k");
  Other("GET k");  // removes the expired key
  EXPECT_TRUE(Goes());

  Run("SET k 1 PX 100");
  server().AdvanceMs(101);
  Run("WATCH k");
  Other("SET k 2");
  EXPECT_FALSE(Goes());
}

TEST_P(TransactionCommands, SwappedDatabasesCompareByWhatTheyHold) {
  Run("WATCH k");  // absent in both databases
  Other("SWAPDB 0 1");
  EXPECT_TRUE(Goes());
  Other("SET k 1");
  Run("WATCH k");
  Other("SWAPDB 0 1");
  EXPECT_FALSE(Goes());
}

TEST_P(TransactionCommands, FlushingChangesTheKeysThatExisted) {
  Run("WATCH absent");
  Other("SET other 1");
  Other("FLUSHALL");
  EXPECT_TRUE(Goes());

  Other("SET k 1");
  Run("WATCH absent k");
  Other("FLUSHDB");
  EXPECT_FALSE(Goes());

  Other("SET k 1");
  Run("WATCH k");
  Other("SELECT 1");
  Other("SET k 1");
  Other("FLUSHDB");
  EXPECT_TRUE(Goes());
  Other("SELECT 0");

  Run("WATCH k");
  Run("UNWATCH");
  Other("FLUSHALL");
  EXPECT_TRUE(Goes());
  Run("WATCH absent");
  Other("SET absent 1");
  Other("FLUSHALL");
  EXPECT_FALSE(Goes());
}

TEST_P(TransactionCommands, ManyWatchesAreForgottenAtOnce) {
  constexpr int kKeys = 5'000;
  WatchedKeys& watched = server().server().services().clients.watched_keys;
  const auto watch_all = [&](TestClient& client) {
    for (int i = 0; i < kKeys; ++i) client.Run(StrCat("WATCH k", i));
  };
  watch_all(client());
  Run("UNWATCH");
  EXPECT_TRUE(watched.IsEmpty());
  Other("SET k7 1");
  EXPECT_TRUE(Goes());

  auto leaver = std::make_unique<TestClient>(server());
  watch_all(*leaver);
  leaver.reset();
  Other("SET k7 2");  // the watching client has closed
  Other("FLUSHALL");
  watch_all(client());
  Run("MULTI");
  Other("SET k4999 1");
  EXPECT_THAT(Run("EXEC"), NilArray());
}

TEST_P(TransactionCommands, NothingWaitsInside) {
  Run("MULTI");
  Run("WAIT 1 0");
  Run("BLPOP nothing 0");
  Run("XREAD BLOCK 0 STREAMS nothing $");
  EXPECT_THAT(Run("EXEC"), ArrayOf(Int(0), NilArray(), NilArray()));
}

TEST_P(TransactionCommands, ManyWatchersOfOneKeyAndManyKeysOfOneWatcher) {
  std::vector<std::unique_ptr<TestClient>> watchers;
  for (int i = 0; i < 100; ++i) {
    watchers.push_back(std::make_unique<TestClient>(server()));
    for (int key = 0; key < 50; ++key) watchers.back()->Run(StrCat("WATCH k", key));
  }
  Run("SET k7 1");
  for (auto& watcher : watchers) {
    watcher->Run("MULTI");
    EXPECT_THAT(watcher->Run("EXEC"), NilArray());
  }
}

TEST_P(TransactionCommands, QueueingNeedsMemory) {
  Run("SET k 1");
  Run("CONFIG SET maxmemory 1");
  Run("MULTI");
  EXPECT_THAT(Run("GET k"), Error(refusals::kOutOfMemory));
  EXPECT_THAT(Run("EXEC"), Error(kExecBroken));
  Run("CONFIG SET maxmemory 0");
}

TEST_P(TransactionCommands, WritesThatBecameImpossibleAreRefusedAtExec) {
  Run("MULTI");
  Run("SET k 1");
  Other("CONFIG SET min-replicas-to-write 1");
  EXPECT_THAT(Run("EXEC"),
              Error("EXECABORT Transaction discarded because of: NOREPLICAS Not enough good replicas to write."));
  Other("CONFIG SET min-replicas-to-write 0");
  EXPECT_THAT(Run("EXISTS k"), Int(0));
}

TEST_P(TransactionCommands, CommandsOfATransactionStandInTheStatistics) {
  Run("CONFIG RESETSTAT");
  Run("MULTI");
  Run("SET k 1");
  Run("GET k");
  Run("EXEC");
  const std::string stats = Run("INFO commandstats").Text();
  for (const char* name :
       {"cmdstat_multi:calls=1", "cmdstat_set:calls=1", "cmdstat_get:calls=1", "cmdstat_exec:calls=1"})
    EXPECT_THAT(stats, testing::HasSubstr(name));
}

}  // namespace
}  // namespace respite
