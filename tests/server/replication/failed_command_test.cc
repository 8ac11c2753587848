// A command of the primary that fails on its replica: the link ends before it, and the replica's data counts as
// diverged.
#include <utility>

#include "base/str_cat.h"
#include "tests/server/replication/played_primary.h"

namespace respite {
namespace {

using testing::HasSubstr;
using testing::Not;

using FailedCommandTest = PlayedPrimaryTest;

TEST_F(FailedCommandTest, ACommandThatFailsEndsTheLinkBeforeIt) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> commands = {
      {{"NEWCOMMAND", "2", "k1", "v1", "k2", "v2", "EX", "1000"}, "NEWCOMMAND"},
      {{"GEOSEARCHSTORE", "d", "s", "BYCURVE", "3", "0", "0", "1", "1", "2", "0"}, "geosearchstore"},
      {{"SET", "k1"}, "set"},
      {{"LPUSH", "text", "x"}, "lpush"},
      {{"CLUSTER", "NOSUCH"}, "CLUSTER"},
      {{"FUNCTION", "LOAD", "nonsense"}, "function|load"},
      {{"no\r\nsuch\x01", "secret"}, "no??such?"}};
  for (const auto& [words, name] : commands) {
    SCOPED_TRACE(name);
    Pair pair({});
    pair.Follow();
    pair.Link(Rdb({"SET text 1"}));
    const std::string before = EncodeRequest({"SET", "before", "1"});
    std::vector<Bytes> request(words.begin(), words.end());
    std::string text;
    AppendRequest(text, request);
    // The transaction comes in one piece, with writes before and after it.
    pair.Say(before + text + EncodeRequest({"SET", "after", "1"}));
    EXPECT_FALSE(pair.replica.IsLinked());
    EXPECT_EQ(pair.replica.history().offset, 100 + static_cast<int64_t>(before.size()));
    EXPECT_THAT(pair.replica.Run("GET before"), Bulk("1"));
    EXPECT_THAT(pair.replica.Run("EXISTS after"), Int(0));
    EXPECT_EQ(pair.replica.Info("master_failed_command"), name);
    EXPECT_THAT(pair.replica.Info("master_sync_last_error"), HasSubstr("'" + name + "' of the master failed here: "));
    EXPECT_THAT(pair.replica.Info("master_sync_last_error"), Not(HasSubstr("secret")));
    ExpectUnfit(pair.replica, "diverged");
    EXPECT_THAT(pair.replica.Run("ROLE"), ArrayOf(Bulk("slave"), AnyReply(), AnyReply(), Bulk("none"), Int(-1)));
    // The replica acknowledges nothing more, and does not reconnect.
    pair.world.network().Step(5000);
    EXPECT_THAT(pair.stranger.received, Not(HasSubstr(StrCat("ACK\r\n$", request.size()))));
    EXPECT_EQ(pair.stranger.connections, 1);
    // When an operator requests it, the replica reconnects and gets a whole snapshot.
    EXPECT_THAT(pair.replica.Run("REPLICAOF 127.0.0.1 9000"), Ok());
    pair.stranger.received.clear();
    pair.world.network().Run();
    pair.Say("+PONG\r\n+OK\r\n+OK\r\n+OK\r\n");
    EXPECT_THAT(pair.stranger.received, HasSubstr(EncodeRequest({"PSYNC", "?", "-1"})));
    if (name == "lpush") {  // a primary that continues nevertheless is not trusted
      pair.Say("+CONTINUE\r\n");
      EXPECT_FALSE(pair.replica.IsLinked());
      ExpectUnfit(pair.replica, "diverged");
      pair.stranger.received.clear();
      pair.Greet();
    }
    pair.SendSnapshot(Rdb({"SET text 2"}));
    EXPECT_TRUE(pair.replica.IsLinked());
    ExpectFit(pair.replica);
    EXPECT_EQ(pair.replica.Info("master_failed_command"), "");
  }
}

TEST_F(FailedCommandTest, AFailureInATransactionLeavesAllOfItUnacknowledged) {
  for (const std::vector<Bytes>& failing : {std::vector<Bytes>{"NOSUCH"}, std::vector<Bytes>{"LPUSH", "text", "x"}}) {
    Pair pair({"save 1 1"});
    pair.Follow();
    pair.Link(Rdb({"SET text 1"}));
    std::string text = EncodeRequest({"MULTI"}) + EncodeRequest({"INCR", "n"});
    AppendRequest(text, failing);
    pair.Say(text + EncodeRequest({"INCR", "n"}) + EncodeRequest({"EXEC"}) + EncodeRequest({"SET", "after", "1"}));
    ExpectUnfit(pair.replica, "diverged");
    EXPECT_EQ(pair.replica.history().offset, 100);
    EXPECT_THAT(pair.replica.Run("EXISTS after"), Int(0));
    // Only part of the transaction may have been applied, so a file names no history from which a restart could
    // continue.
    pair.replica.Run("SAVE");
    EXPECT_THAT(pair.replica.files().Content("dump.rdb"), Not(HasSubstr("repl-id")));
  }
}

TEST_F(FailedCommandTest, WhatBelongsToTheLinkMayFail) {
  Pair pair({});
  pair.Follow();
  pair.Link(Rdb({}));
  pair.Say(EncodeRequest({"REPLCONF", "of-a-later-version", "1"}) + EncodeRequest({"PING", "a", "b", "c"}));
  EXPECT_TRUE(pair.replica.IsLinked());
  ExpectFit(pair.replica);
}

TEST_F(FailedCommandTest, ADirectiveKeepsTheLinkThoughACommandFails) {
  Pair pair({"replica-ignore-command-errors yes"});
  pair.Follow();
  pair.Link(Rdb({"SET text 1"}));
  const std::string failing = EncodeRequest({"LPUSH", "text", "x"});
  const std::string after = EncodeRequest({"SET", "after", "1"});
  pair.Say(failing + after);
  EXPECT_TRUE(pair.replica.IsLinked());
  EXPECT_EQ(pair.replica.history().offset, 100 + static_cast<int64_t>(failing.size() + after.size()));
  EXPECT_THAT(pair.replica.Run("GET after"), Bulk("1"));
  EXPECT_THAT(pair.replica.Log(), HasSubstr("== CRITICAL =="));
  ExpectFit(pair.replica);
}

TEST_F(FailedCommandTest, ReplicasOfAReplicaSeeThatItsLinkHasEnded) {
  Pair pair({});
  pair.Follow();
  pair.Link(Rdb({"SET text 1"}));
  ReplicationMember& last = pair.world.Add();
  last.Follow(pair.replica);
  pair.world.network().Step(3000);
  ASSERT_TRUE(last.IsLinked());
  pair.Say(EncodeRequest({"NOSUCH"}));
  pair.world.network().Step(3000);
  EXPECT_FALSE(last.IsLinked());
  EXPECT_THAT(last.Info("master_sync_last_error"), HasSubstr("-NOMASTERLINK"));
  EXPECT_EQ(last.history().offset, pair.replica.history().offset);
  EXPECT_THAT(last.Run("GET text"), Bulk("1"));
}

// The replica has applied the commands before the failed one and counts them in its offset, so its replicas need them.
TEST_F(FailedCommandTest, ReplicasOfAReplicaGetTheCommandsBeforeTheOneThatFails) {
  Pair pair({});
  pair.Follow();
  pair.Link(Rdb({"SET text 1"}));
  ReplicationMember& last = pair.world.Add();
  last.Follow(pair.replica);
  pair.world.network().Step(3000);
  ASSERT_TRUE(last.IsLinked());
  pair.Say(EncodeRequest({"SET", "before", "1"}) + EncodeRequest({"NOSUCH"}) + EncodeRequest({"SET", "after", "1"}));
  EXPECT_EQ(pair.replica.Info("master_failed_command"), "NOSUCH");
  EXPECT_EQ(pair.replica.Info("connected_slaves"), "0");
  EXPECT_FALSE(last.IsLinked());
  EXPECT_EQ(last.history().offset, pair.replica.history().offset);
  EXPECT_THAT(last.Run("MGET before after"), ArrayOf(Bulk("1"), Nil()));
}

TEST_F(FailedCommandTest, AFailedReplicaThatIsPromotedHasAHistoryOfItsOwn) {
  Pair pair({});
  pair.Follow();
  pair.Link(Rdb({"SET text 1"}));
  pair.Say(EncodeRequest({"NOSUCH"}));
  EXPECT_THAT(pair.replica.Run("REPLICAOF NO ONE"), Ok());
  EXPECT_THAT(pair.replica.Log(), HasSubstr("at least one write of its former master failed here"));
  EXPECT_NE(pair.replica.history().id, kStrangeId);
  EXPECT_NE(pair.replica.history().former_id, kStrangeId);
}

// WAIT does not count the replica, FAILOVER does not choose it, and min-replicas-to-write sees that it is missing.
TEST_F(FailedCommandTest, APrimaryDoesNotCountAReplicaThatCouldNotRunAWrite) {
  ReplicationWorld world(7);
  ReplicationMember& primary = world.Add();
  ReplicationMember& replica = world.Add({"replica-read-only no"});
  replica.Follow(primary);
  world.network().Step(3000);
  ASSERT_TRUE(replica.IsLinked());
  replica.Run("LPUSH l of-the-replica");
  replica.Run("CONFIG SET replica-read-only yes");
  TestClient client(primary.server());
  client.Run("APPEND l text");
  client.Send("WAIT 1 500");
  world.network().Step(1000);
  EXPECT_THAT(client.Read(), Int(0));
  EXPECT_EQ(replica.Info("master_failed_command"), "append");
  EXPECT_EQ(primary.Info("connected_slaves"), "0");
  EXPECT_THAT(primary.Run("FAILOVER"), Error("ERR FAILOVER requires connected replicas."));
}

// The replica's own clients may have made the difference, as in the Tcl suite of Redis. An error that does not depend
// on the data is not such a difference.
TEST_F(FailedCommandTest, AWritableReplicaKeepsTheLinkUnlessTheErrorIsOfTheRequest) {
  for (const std::vector<std::string>& request : {std::vector<std::string>{"NOSUCH"},
                                                  {"SET", "k", "v", "NOSUCH"},
                                                  {"GET"},
                                                  {"SELECT", "99"},
                                                  {"HSET", "h", "f", "v", "g"},
                                                  {"MSET", "a", "1", "b"},
                                                  {"EXPIRE", "text", "100", "NEWOPT"},
                                                  {"SWAPDB", "0", "77"},
                                                  {"COPY", "text", "t2", "DB", "99"},
                                                  {"MOVE", "text", "99"},
                                                  {"RESTORE", "r", "0", "not a payload of any version"},
                                                  {"FUNCTION", "LOAD", "#!js name=x\n1"},
                                                  {"XADD", "s", "NEWREF", "1-1", "f", "v"},
                                                  {"BITFIELD", "b", "OVERFLOW", "NEW", "SET", "u8", "0", "1"},
                                                  {"FUNCTION", "FLUSH", "NEWMODE"},
                                                  {"EXEC"}}) {
    Pair pair({"replica-read-only no"});
    pair.Follow();
    pair.Link(Rdb({"SET text 1"}));
    pair.replica.Run("LPUSH list own");
    pair.Say(EncodeRequest({"SELECT", "0"}) + EncodeRequest({"APPEND", "list", "x"}) +
             EncodeRequest({"SET", "text", "2"}));
    EXPECT_TRUE(pair.replica.IsLinked());
    EXPECT_EQ(pair.replica.Run("GET text").Text(), "2");
    EXPECT_TRUE(pair.replica.history().IsWhole());
    pair.Say(EncodeRequest(request));
    EXPECT_FALSE(pair.replica.IsLinked()) << request.front();
    EXPECT_FALSE(pair.replica.history().IsWhole()) << request.front();
  }
}

// Versions differ about a negative offset, so its effect would depend on the primary's version.
TEST_F(FailedCommandTest, AZRangeStoreThatVersionsExecuteDifferentlyEndsTheLink) {
  struct Case {
    std::vector<std::string> request;
    bool is_refused;
  };
  for (const auto& [request, is_refused] :
       {Case{{"ZRANGESTORE", "d", "z", "-inf", "+inf", "BYSCORE", "LIMIT", "-1", "5"}, true},
        Case{{"ZRANGESTORE", "d", "z", "+", "-", "BYLEX", "REV", "LIMIT", "-2", "1"}, true},
        Case{{"ZRANGESTORE", "d", "z", "-inf", "+inf", "BYSCORE", "LIMIT", "-3", "5"}, true},
        Case{{"ZRANGESTORE", "d", "z", "-inf", "+inf", "BYSCORE", "LIMIT", "-4", "5"}, false},
        Case{{"ZRANGESTORE", "d", "z", "-inf", "+inf", "BYSCORE", "LIMIT", "-1", "0"}, false},
        Case{{"ZRANGESTORE", "d", "z", "7", "9", "BYSCORE", "LIMIT", "-1", "5"}, false},
        Case{{"ZRANGESTORE", "d", "none", "7", "9", "BYSCORE", "LIMIT", "-1", "5"}, false},
        Case{{"ZRANGESTORE", "d", "z", "-inf", "+inf", "BYSCORE", "LIMIT", "1", "-5"}, false}}) {
    SCOPED_TRACE(testing::PrintToString(request));
    for (const char* directive : {"replica-read-only yes", "replica-read-only no", "emulate valkey:8.1"}) {
      Pair pair({directive});
      pair.Follow();
      pair.Link(Rdb({"ZADD z 1 a 2 b 3 c"}));
      pair.Say(EncodeRequest({"SELECT", "0"}) + EncodeRequest(request));
      EXPECT_EQ(pair.replica.IsLinked(), !is_refused);
      EXPECT_EQ(pair.replica.history().IsWhole(), !is_refused);
    }
  }
}

// XSETID, XADD and SORT meet what clients of the replica have written.
TEST_F(FailedCommandTest, AWritableReplicaKeepsTheLinkAfterErrorsOfItsStreamsAndLists) {
  struct Case {
    std::vector<std::string> own;
    std::vector<std::string> request;
    std::string error;
  };
  for (const Case& one : {Case{{"XADD", "s", "1-1", "f", "v"},
                               {"XSETID", "s", "5-0", "ENTRIESADDED", "0", "MAXDELETEDID", "0-0"},
                               "ERR The entries_added specified in XSETID is smaller than the target stream length"},
                          Case{{"XADD", "s", "18446744073709551615-18446744073709551615", "f", "v"},
                               {"XADD", "s", "5-0", "f", "v"},
                               "ERR The stream has exhausted the last possible ID, unable to add more items"},
                          Case{{"RPUSH", "s", "text"},
                               {"SORT", "s", "STORE", "sorted"},
                               "ERR One or more scores can't be converted into double"}}) {
    for (const bool is_writable : {true, false}) {
      SCOPED_TRACE(one.error);
      Pair pair({"replica-read-only no"});
      pair.Follow();
      pair.Link(Rdb({"SET text 1"}));
      pair.replica.client().Run(one.own);
      if (!is_writable) pair.replica.Run("CONFIG SET replica-read-only yes");
      pair.Say(EncodeRequest(one.request) + EncodeRequest({"SET", "after", "1"}));
      EXPECT_THAT(pair.replica.Log(), HasSubstr("error to its master: '" + one.error + "'"));
      EXPECT_EQ(pair.replica.IsLinked(), is_writable);
      EXPECT_EQ(pair.replica.history().IsWhole(), is_writable);
      EXPECT_THAT(pair.replica.Run("EXISTS after"), Int(is_writable ? 1 : 0));
    }
  }
}

// Such a replica evicts keys that its primary still has.
TEST_F(FailedCommandTest, AReplicaThatEvictsKeepsTheLinkUnlessTheErrorIsOfTheRequest) {
  for (const bool evicts : {true, false}) {
    Pair pair({"maxmemory-policy allkeys-random"});
    pair.Follow();
    pair.Link(Rdb({"SET text 1", "SET other 1"}));
    pair.replica.Run("CONFIG SET replica-ignore-maxmemory no");
    pair.replica.Run("CONFIG SET maxmemory 1");
    pair.world.network().Step(1000);
    ASSERT_THAT(pair.replica.Run("DBSIZE"), Int(0));
    pair.replica.Run("CONFIG SET maxmemory 0");
    if (!evicts) pair.replica.Run("CONFIG SET replica-ignore-maxmemory yes");
    pair.Say(EncodeRequest({"RENAME", "text", "renamed"}) + EncodeRequest({"SET", "after", "1"}));
    EXPECT_THAT(pair.replica.Log(), HasSubstr("error to its master: 'ERR no such key'"));
    EXPECT_EQ(pair.replica.IsLinked(), evicts);
    EXPECT_EQ(pair.replica.history().IsWhole(), evicts);
    EXPECT_THAT(pair.replica.Run("EXISTS after"), Int(evicts ? 1 : 0));
    if (!evicts) continue;
    pair.Say(EncodeRequest({"NOSUCH"}));
    EXPECT_FALSE(pair.replica.IsLinked());
  }
}

}  // namespace
}  // namespace respite
