// Primaries that send false or meaningless data: the link ends with a line in the log, and the server continues.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/str_cat.h"
#include "server/replication/replication.h"
#include "tests/support/replication_world.h"

namespace respite {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int kPort = 9000;
const std::string kId(40, 'a');
const std::string kMark = "0123456789abcdef0123456789abcdef01234567";

class HostilePrimaryTest : public testing::Test {
 protected:
  HostilePrimaryTest() : stranger_(network().Listen(kPort)), replica_(world_.Add({"repl-timeout 10"})) {}

  FakeNetwork& network() { return world_.network(); }
  void Say(Bytes bytes) {
    network().SendAs(kPort, bytes);
    network().Run();
  }
  // Connects and answers the handshake up to PSYNC.
  void Greet() {
    if (replica_.Info("role") == "master") {
      stranger_.received.clear();
      replica_.Run(StrCat("REPLICAOF 127.0.0.1 ", kPort));
    }
    const int before = stranger_.connections;
    for (int i = 0; i < 30 && stranger_.received.find("PING") == std::string::npos; ++i) network().Step(100);
    EXPECT_GE(stranger_.connections, before);
    Say("+PONG\r\n+OK\r\n+OK\r\n+OK\r\n");
    EXPECT_THAT(stranger_.received, HasSubstr("PSYNC"));
  }
  // The snapshot of another server.
  std::string Rdb(const std::vector<std::string>& lines = {"SET a 1"}) {
    TestServer other({.directives = {"save \"\""}});
    TestClient client(other);
    for (const std::string& line : lines) client.Run(line);
    client.Run("SAVE");
    return other.files().Content("dump.rdb");
  }
  void Link() {
    Greet();
    const std::string rdb = Rdb();
    Say(StrCat("+FULLRESYNC ", kId, " 100\r\n$", rdb.size(), "\r\n", rdb));
    ASSERT_TRUE(replica_.IsLinked());
  }
  // Checks that the link ended, the server runs, and no temporary files are left.
  void ExpectEnded(const std::string& reason) {
    EXPECT_FALSE(replica_.IsLinked());
    EXPECT_THAT(replica_.Log(), HasSubstr(reason));
    EXPECT_THAT(replica_.Run("PING"), Simple("PONG"));
    for (const std::string& path : replica_.files().Paths()) EXPECT_THAT(path, Not(HasSubstr("temp-")));
    const int before = network().ConnectionAttempts();
    network().Step(3500);
    EXPECT_GT(network().ConnectionAttempts(), before) << "it tries again";
  }

  ReplicationWorld world_{3};
  FakeNetwork::Stranger& stranger_;
  ReplicationMember& replica_;
};

TEST_F(HostilePrimaryTest, AnHonestOneForComparison) {
  Link();
  EXPECT_THAT(replica_.Run("GET a"), Bulk("1"));
  EXPECT_EQ(replica_.history().offset, 100);
  EXPECT_THAT(stranger_.received, HasSubstr(EncodeRequest({"REPLCONF", "ACK", "100"})));
  const std::string set = EncodeRequest({"SET", "b", "2"});
  Say(set);
  EXPECT_THAT(replica_.Run("GET b"), Bulk("2"));
  EXPECT_EQ(replica_.history().offset, 100 + static_cast<int64_t>(set.size()));
}

TEST_F(HostilePrimaryTest, JunkInTheHandshake) {
  for (const std::string& junk : {std::string("junk\r\n"), std::string("-ERR go away\r\n"), std::string(5000, 'x'),
                                  std::string(100, '\0') + "\n", std::string("$5\r\nhello\r\n")}) {
    if (replica_.Info("role") == "master") replica_.Run(StrCat("REPLICAOF 127.0.0.1 ", kPort));
    network().Step(1100);
    Say(junk);
    EXPECT_FALSE(replica_.IsLinked());
  }
  ExpectEnded("The handshake with the master failed");
  EXPECT_THAT(replica_.Log(), HasSubstr("The master's answer is too long to be one"));
}

TEST_F(HostilePrimaryTest, EmptyLinesForEverEndWithTheTimeoutOnlyWhenTheyStop) {
  Greet();
  for (int i = 0; i < 30; ++i) {
    Say("\n");
    network().Step(1000);
  }
  EXPECT_EQ(network().ConnectionAttempts(), 1);
  network().Step(15'000);
  EXPECT_GT(network().ConnectionAttempts(), 1);
}

TEST_F(HostilePrimaryTest, AHistoryWithoutAName) {
  Greet();
  Say("+FULLRESYNC x y\r\n");
  ExpectEnded("Master replied with wrong +FULLRESYNC syntax.");
}

TEST_F(HostilePrimaryTest, ADamagedSnapshotAtEveryByteOrTooShort) {
  replica_.Run("SET old 1");
  const std::string rdb = Rdb({"SET a 1", "RPUSH l 1 2 3", "HSET h f v", "SELECT 3", "SET b 1"});
  int failed = 0;
  for (size_t at = 0; at < rdb.size(); at += 3) {
    std::string damaged = rdb;
    damaged[at] ^= 0x55;
    Greet();
    Say(StrCat("+FULLRESYNC ", kId, " 100\r\n$", damaged.size(), "\r\n", damaged));
    if (replica_.IsLinked()) {
      replica_.Run("REPLICAOF NO ONE");
      continue;
    }
    ++failed;
    const bool is_head = at < 9;  // which is checked before the rest is processed
    EXPECT_THAT(replica_.Run("DBSIZE"), Int(is_head ? 1 : 0)) << at;
    EXPECT_EQ(replica_.Info("replica_data"), is_head ? "other" : "none") << at;
    EXPECT_NE(replica_.history().id, kId) << "nothing goes on from what was not loaded";
    replica_.Run("REPLICAOF NO ONE");
  }
  EXPECT_GT(failed, static_cast<int>(rdb.size() / 3 / 2));
  Greet();
  Say("+FULLRESYNC " + kId + " 100\r\n$9\r\nREDIS0011");
  ExpectEnded("Failed trying to load the MASTER synchronization DB from disk");
}

// Data that could not be loaded belongs to no history.
TEST_F(HostilePrimaryTest, AfterASnapshotThatCouldNotBeLoadedNobodyGoesOn) {
  Link();
  replica_.Run("CLIENT KILL TYPE MASTER");
  network().Step(1100);
  Say("+PONG\r\n+OK\r\n+OK\r\n+OK\r\n");
  Say("+FULLRESYNC " + kId + " 200\r\n$13\r\nREDIS0011junk");
  EXPECT_FALSE(replica_.IsLinked());
  EXPECT_THAT(replica_.Run("DBSIZE"), Int(0));
  replica_.Run("REPLICAOF NO ONE");
  EXPECT_NE(replica_.history().former_id, kId);
  stranger_.received.clear();
  Greet();
  EXPECT_THAT(stranger_.received, Not(HasSubstr(kId)));
}

TEST_F(HostilePrimaryTest, TheAppendOnlyFileKeepsTheOldDataWhenTheNewCouldNotBeLoaded) {
  ReplicationWorld world(8);
  world.network().Listen(kPort);
  ReplicationMember& replica = world.Add({"appendonly yes"});
  replica.Run("SET old 1");
  replica.Run("REPLICAOF 127.0.0.1 9000");
  world.network().Step(1000);
  std::string rdb = Rdb({"SET a 1", "SET b 2", "SET c 3"});
  rdb.back() = static_cast<char>(rdb.back() ^ 1);  // damages the checksum, after all keys were loaded
  world.network().SendAs(
      kPort, StrCat("+PONG\r\n+OK\r\n+OK\r\n+OK\r\n+FULLRESYNC ", kId, " 100\r\n$", rdb.size(), "\r\n", rdb));
  world.network().Step(3000);
  EXPECT_THAT(replica.Log(), HasSubstr("Failed trying to load"));
  replica.Stop();
  replica.Start();
  EXPECT_THAT(replica.Run("KEYS *"), ArrayOf(Bulk("old")));
  EXPECT_EQ(replica.Info("replica_data"), "") << "old data, but whole";
}

// The library's code would run forever.
TEST_F(HostilePrimaryTest, AnEndlessLibraryInTheSnapshot) {
  Greet();
  replica_.server().clock().AdvanceWithEachReading(1000);
  const std::string code = "#!lua name=x\nwhile true do end";
  const std::string rdb =
      "REDIS0011\xf5" + std::string(1, static_cast<char>(code.size())) + code + "\xff" + std::string(8, '\0');
  Say(StrCat("+FULLRESYNC ", kId, " 100\r\n$", rdb.size(), "\r\n", rdb));
  replica_.server().clock().AdvanceWithEachReading(0);
  ExpectEnded("Failed loading library, Error registering functions: ERR FUNCTION LOAD timeout");
}

// Each library ends in time, but there are endlessly many.
TEST_F(HostilePrimaryTest, SlowLibrariesWithoutEndInTheSnapshot) {
  Greet();
  replica_.server().clock().AdvanceWithEachReading(40'000);
  std::string rdb = "REDIS0011";
  for (int i = 0; i < 2000; ++i) {
    const std::string number = std::to_string(i);
    const std::string code = "#!lua name=l" + number + "\nredis.register_function('f" + number + "', function() end)";
    rdb += "\xf5\x40" + std::string(1, static_cast<char>(code.size())) + code;  // a length of two bytes
  }
  rdb += "\xff" + std::string(8, '\0');
  Say(StrCat("+FULLRESYNC ", kId, " 100\r\n$", rdb.size(), "\r\n", rdb));
  replica_.server().clock().AdvanceWithEachReading(0);
  ExpectEnded("Failed loading library: the libraries before it took too long together");
}

TEST_F(HostilePrimaryTest, TheDatabaseOfTheSnapshotMayNotExist) {
  std::string rdb;
  {
    ReplicationWorld world(9);
    ReplicationMember& other = world.Add({"databases 1000", "rdbchecksum no"});
    ReplicationMember& its_replica = world.Add({"databases 1000"});
    its_replica.Follow(other);
    world.network().Step(3000);
    other.Run("SELECT 999");
    other.Run("SET a 1");
    other.Run("DEL a");
    other.Run("SAVE");
    rdb = other.files().Content("dump.rdb");
  }
  Greet();
  Say(StrCat("+FULLRESYNC ", kId, " 100\r\n$", rdb.size(), "\r\n", rdb, EncodeRequest({"SET", "a", "1"})));
  EXPECT_FALSE(replica_.IsLinked());
  EXPECT_EQ(replica_.Info("master_failed_command"), "select");
  EXPECT_THAT(replica_.Run("EXISTS a"), Int(0)) << "no other database was chosen";
  EXPECT_THAT(replica_.Run("PING"), Simple("PONG"));
}

TEST_F(HostilePrimaryTest, AStreamWithoutEndEndsWithTheDisk) {
  Greet();
  replica_.files().SetFreeBytes(200'000);
  Say("+FULLRESYNC " + kId + " 100\r\n$EOF:" + kMark + "\r\n");
  Say("REDIS0011");
  for (int i = 0; i < 30; ++i) Say(std::string(10'000, 'x'));
  replica_.files().Recover();
  ExpectEnded("Write error or short write writing to the DB dump file");
}

TEST_F(HostilePrimaryTest, ASnapshotThatStops) {
  Greet();
  Say("+FULLRESYNC " + kId + " 100\r\n$1000000\r\nREDIS");
  EXPECT_EQ(replica_.Info("master_sync_in_progress"), "1");
  network().Step(15'000);
  EXPECT_EQ(network().ConnectionAttempts(), 2);
  EXPECT_THAT(replica_.Log(), HasSubstr("Timeout receiving bulk data from MASTER..."));
  for (const std::string& path : replica_.files().Paths()) EXPECT_THAT(path, Not(HasSubstr("temp-")));
}

TEST_F(HostilePrimaryTest, NoSnapshotAtAll) {
  for (const char* head : {"junk\r\n", "-ERR no\r\n", "$-5\r\n", "$EOF:\r\n", "$99999999999999999999999\r\n"}) {
    Greet();
    Say("+FULLRESYNC " + kId + " 100\r\n");
    Say(head);
    EXPECT_FALSE(replica_.IsLinked());
    EXPECT_EQ(replica_.Info("master_sync_in_progress"), "0") << head;
  }
  ExpectEnded("The snapshot of the master could not be received");
}

TEST_F(HostilePrimaryTest, AStreamThatIsNoStream) {
  for (const std::string& junk : {std::string("*1\r\n$-5\r\n"), std::string("*99999999999\r\n"),
                                  std::string("*1\r\n!\r\n"), std::string(70'000, 'x')}) {
    Link();
    Say(junk);
    EXPECT_FALSE(replica_.IsLinked()) << junk.substr(0, 20);
    replica_.Run("REPLICAOF NO ONE");
  }
  EXPECT_THAT(replica_.Log(), HasSubstr("The master's stream contains a protocol error"));
}

// A partial resynchronization would bring the same bytes again.
TEST_F(HostilePrimaryTest, AfterAStreamThatIsNoStreamASnapshotIsWantedAndNotAtOnce) {
  Link();
  stranger_.received.clear();
  Say("*1\r\n$-5\r\n");
  EXPECT_EQ(replica_.Info("master_sync_retry_in_seconds"), "2");
  const int before = network().ConnectionAttempts();
  network().Step(1500);
  EXPECT_EQ(network().ConnectionAttempts(), before);
  Greet();
  EXPECT_THAT(stranger_.received, HasSubstr("PSYNC\r\n$1\r\n?"));
}

// Without a delay, a replica would reconnect incessantly to a primary that drops each link immediately.
TEST_F(HostilePrimaryTest, ALinkThatIsShortIsNotMadeAgainAtOnce) {
  for (const bool is_short : {true, false}) {
    Link();
    if (!is_short) network().Step(1500);
    const int before = network().ConnectionAttempts();
    network().HangUpAs(kPort);
    network().Run();
    EXPECT_EQ(network().ConnectionAttempts() - before, is_short ? 0 : 1);
    network().Step(1500);
    EXPECT_GT(network().ConnectionAttempts(), before);
    replica_.Run("REPLICAOF NO ONE");
  }
}

// The limit is for clients: the primary may have a larger one.
TEST_F(HostilePrimaryTest, AnArgumentLongerThanClientsMaySendIsNoJunk) {
  replica_.Run("CONFIG SET proto-max-bulk-len 1048576");
  Link();
  const std::string large(3'000'000, 'x');
  Say(EncodeRequest({"SET", "large", large}));
  Say(EncodeRequest({"APPEND", "large", large}));
  EXPECT_TRUE(replica_.IsLinked());
  EXPECT_THAT(replica_.Run("STRLEN large"), Int(6'000'000));
}

TEST_F(HostilePrimaryTest, CommandsThatNoPrimarySends) {
  for (const char* line : {"PSYNC ? -1",
                           "SYNC",
                           "MONITOR",
                           "SUBSCRIBE c",
                           "RESET",
                           "QUIT",
                           "CLIENT REPLY ON",
                           "CLIENT KILL TYPE master",
                           "REPLICAOF NO ONE",
                           "REPLICAOF 127.0.0.1 9000",
                           "REPLICAOF 127.0.0.1 9001",
                           "FAILOVER",
                           "BLPOP l 0",
                           "WAIT 1 0",
                           "WAITAOF 0 1 0",
                           "CLIENT PAUSE 100 ALL",
                           "CLIENT TRACKING ON",
                           "HELLO 3",
                           "AUTH x",
                           "WATCH a",
                           "EXEC",
                           "DISCARD",
                           "UNWATCH",
                           "REPLCONF ACK 5",
                           "REPLCONF GETACK *",
                           "REPLCONF listening-port 5",
                           "FLUSHALL",
                           "SHUTDOWN NOSAVE",
                           "NOSUCH",
                           "GET",
                           "MULTI",
                           "CLIENT UNBLOCK 1",
                           "SELECT 99",
                           "EVAL x 0",
                           "DEBUG RELOAD",
                           "DEBUG LOADAOF",
                           "SAVE",
                           "BGSAVE",
                           "XREAD BLOCK 0 STREAMS x $",
                           "CLIENT NO-EVICT on",
                           "CONFIG SET maxmemory-clients 1",
                           "ACL SETUSER default off",
                           "CLIENT LIST"}) {
    ReplicationWorld world(8);
    FakeNetwork& network = world.network();
    network.Listen(kPort);
    ReplicationMember& replica = world.Add();
    replica.Run("REPLICAOF 127.0.0.1 9000");
    network.Step(1000);
    const std::string rdb = Rdb();
    network.SendAs(kPort,
                   StrCat("+PONG\r\n+OK\r\n+OK\r\n+OK\r\n+FULLRESYNC ", kId, " 100\r\n$", rdb.size(), "\r\n", rdb));
    network.Run();
    ASSERT_TRUE(replica.IsLinked());
    network.SendAs(kPort, EncodeRequest(SplitQuoted(line).value()) + EncodeRequest({"SET", "b", "2"}));
    network.Step(3000);
    network.HangUpAs(kPort);
    network.Step(3000);
    TestClient client(replica.server());
    client.Run("PING");
  }
}

TEST_F(HostilePrimaryTest, AFailingCommandOfTheStreamIsLogged) {
  Link();
  Say(EncodeRequest({"LPUSH", "a", "x"}));
  EXPECT_FALSE(replica_.IsLinked());
  EXPECT_THAT(replica_.Log(), HasSubstr("== CRITICAL == This replica is sending an error to its master: 'WRONGTYPE "));
  EXPECT_THAT(replica_.Run("INFO stats"), BulkThat(HasSubstr("unexpected_error_replies:1")));
}

TEST_F(HostilePrimaryTest, AnOffsetAtTheEndOfTheNumbers) {
  Greet();
  const std::string rdb = Rdb();
  Say(StrCat("+FULLRESYNC ", kId, " 9223372036854775807\r\n$", rdb.size(), "\r\n", rdb));
  for (int i = 0; i < 10; ++i) Say(EncodeRequest({"SET", "a", "1"}));
  EXPECT_THAT(replica_.Run("INFO replication"), AnyReply());
  EXPECT_THAT(replica_.Run("PING"), Simple("PONG"));
}

TEST_F(HostilePrimaryTest, AContinuationThatNobodyAskedFor) {
  Greet();
  Say("+CONTINUE " + kId + "\r\n" + EncodeRequest({"SET", "a", "1"}));
  EXPECT_THAT(replica_.Run("PING"), Simple("PONG"));
  EXPECT_THAT(replica_.Run("GET a"), Bulk("1")) << "Redis: it is believed";
}

TEST_F(HostilePrimaryTest, AnOldPrimaryThatKnowsSyncOnly) {
  Greet();
  Say("-ERR unknown command 'PSYNC'\r\n");
  EXPECT_THAT(stranger_.received, HasSubstr("SYNC\r\n"));
  const std::string rdb = Rdb();
  Say(StrCat("\n\n$", rdb.size(), "\r\n", rdb, EncodeRequest({"SET", "b", "1"})));
  EXPECT_TRUE(replica_.IsLinked());
  EXPECT_THAT(replica_.Run("GET b"), Bulk("1"));
}

TEST_F(HostilePrimaryTest, TheStreamMayFollowTheSnapshotAtOnce) {
  Greet();
  const std::string rdb = Rdb();
  Say(StrCat("+FULLRESYNC ", kId, " 100\r\n$", rdb.size(), "\r\n", rdb, EncodeRequest({"SET", "b", "1"})));
  EXPECT_THAT(replica_.Run("GET b"), Bulk("1"));
}

}  // namespace
}  // namespace respite
