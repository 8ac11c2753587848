#include <map>
#include <set>
#include <string>

#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {

namespace {

class KeyCommands : public CommandTest {};
INSTANTIATE_TEST_SUITE_P(Resp, KeyCommands, BothVersions(), VersionName);

TEST_P(KeyCommands, DelAndUnlinkCountWhatTheyDeleted) {
  Run("MSET a 1 b 2 c 3");
  EXPECT_THAT(Run("EXISTS a a nokey"), Int(2));
  EXPECT_THAT(Run("TOUCH a b nokey"), Int(2));
  EXPECT_THAT(Run("DEL a nokey a"), Int(1));
  EXPECT_THAT(Run("UNLINK b c"), Int(2));
  EXPECT_THAT(Run("DBSIZE"), Int(0));
}

TEST_P(KeyCommands, RenameTakesValueAndDeadlineAlong) {
  Run("SET a 1 EX 100");
  Run("SET b 2");
  EXPECT_THAT(Run("RENAME nokey b"), Error("ERR no such key"));
  EXPECT_THAT(Run("RENAMENX a b"), Int(0));
  EXPECT_THAT(Run("RENAMENX a a"), Int(0));
  EXPECT_THAT(Run("RENAME a a"), Ok());
  EXPECT_THAT(Run("RENAME a b"), Ok());
  EXPECT_THAT(Run("EXISTS a"), Int(0));
  EXPECT_THAT(Run("GET b"), Bulk("1"));
  EXPECT_THAT(Run("TTL b"), Int(100));
  EXPECT_THAT(Run("RENAMENX b c"), Int(1));
}

TEST_P(KeyCommands, CopyAndMoveReachOtherDatabases) {
  Run("SET a 1 EX 100");
  EXPECT_THAT(Run("COPY a a"), Error("ERR source and destination objects are the same"));
  EXPECT_THAT(Run("COPY a b"), Int(1));
  EXPECT_THAT(Run("COPY a b"), Int(0));
  EXPECT_THAT(Run("COPY a b REPLACE"), Int(1));
  EXPECT_THAT(Run("TTL b"), Int(100));
  EXPECT_THAT(Run("COPY a a DB 1"), Int(1));
  EXPECT_THAT(Run("MOVE a 1"), Int(0));
  EXPECT_THAT(Run("MOVE b 1"), Int(1));
  EXPECT_THAT(Run("MOVE a 0"), Error("ERR source and destination objects are the same"));
  EXPECT_THAT(Run("MOVE a 16"), Error("ERR DB index is out of range"));
  EXPECT_THAT(Run("COPY a c DB 2147483648"),
              Error("ERR value is out of range, value must between -2147483648 and 2147483647"));
  EXPECT_THAT(Run("SWAPDB 0 1"), Ok());
  EXPECT_THAT(Run("TTL b"), Int(100));
  EXPECT_THAT(Run("DBSIZE"), Int(2));
}

TEST_P(KeyCommands, SwapDbChecksBothNumbersBeforeTheirRange) {
  EXPECT_THAT(Run("SWAPDB x 0"), Error("ERR invalid first DB index"));
  EXPECT_THAT(Run("SWAPDB 99 x"), Error("ERR invalid second DB index"));
  EXPECT_THAT(Run("SWAPDB 0 99"), Error("ERR DB index is out of range"));
}

TEST_P(KeyCommands, FlushEmptiesOneOrAll) {
  Run("MSET a 1 b 2");
  Run("COPY a a DB 3");
  EXPECT_THAT(Run("FLUSHDB nonsense"), Error("ERR syntax error"));
  EXPECT_THAT(Run("FLUSHDB ASYNC"), Ok());
  EXPECT_THAT(Run("DBSIZE"), Int(0));
  EXPECT_EQ(server()->services().data.dataset.keyspace[3].Size(), 1u);
  EXPECT_THAT(Run("FLUSHALL SYNC"), Ok());
  EXPECT_EQ(server()->services().data.dataset.keyspace[3].Size(), 0u);
  EXPECT_THAT(Journaled().back(), "0: FLUSHALL SYNC");
}

TEST_P(KeyCommands, KeysMatchesPatterns) {
  Run({"MSET", "one", "1", "two", "2", "", "3"});
  EXPECT_THAT(Run("KEYS *"), UnorderedBulks({"one", "two", ""}));
  EXPECT_THAT(Run("KEYS t*"), Bulks({"two"}));
  EXPECT_THAT(Run("KEYS nothing"), EmptyArray());
}

TEST_P(KeyCommands, ScanReturnsEveryKeyThatStays) {
  std::set<std::string> expected;
  for (int i = 0; i < 2000; ++i) {
    expected.insert(StrCat("key:", i));
    Run(StrCat("SET key:", i, " v"));
  }
  std::set<std::string> found;
  std::string cursor = "0";
  int extra = 0;
  do {
    const TestReply reply = Run("SCAN " + cursor + " COUNT 20");
    cursor = reply[0].Text();
    for (const std::string& key : reply[1].Texts()) found.insert(key);
    for (int i = 0; i < 20; ++i) Run(StrCat("SET extra:", extra++, " v"));
  } while (cursor != "0");
  for (const std::string& key : expected) EXPECT_EQ(found.count(key), 1u) << key;
}

TEST_P(KeyCommands, ScanChecksItsArguments) {
  Run("SET k v");
  for (const char* cursor : {"x", "-", "1x", "18446744073709551616"}) {
    EXPECT_THAT(Run("SCAN " + std::string(cursor)), Error("ERR invalid cursor")) << cursor;
  }
  EXPECT_THAT(Run("SCAN 0 COUNT 0"), Error("ERR syntax error"));
  EXPECT_THAT(Run("SCAN 0 COUNT x"), Error("ERR value is not an integer or out of range"));
  EXPECT_THAT(Run("SCAN 0 TYPE"), Error("ERR syntax error"));
  EXPECT_THAT(Run("SCAN 0 COUNT 100 TYPE nonsense"), ArrayOf(Bulk("0"), EmptyArray()));
  EXPECT_THAT(Run("SCAN 0 COUNT 100 TYPE STRING MATCH k*"), ArrayOf(Bulk("0"), Bulks({"k"})));
  EXPECT_THAT(Run({"SCAN", "", "COUNT", "100"}), ArrayOf(Bulk("0"), Bulks({"k"})));
}

TEST_P(KeyCommands, WalksSkipAndPurgeExpiredKeys) {
  Run("SET dead v PX 10");
  Run("SET alive v");
  clock().AdvanceMs(20);
  EXPECT_THAT(Run("KEYS *"), Bulks({"alive"}));
  for (int i = 0; i < 20; ++i) EXPECT_THAT(Run("RANDOMKEY"), Bulk("alive"));
  EXPECT_THAT(Run("SCAN 0 COUNT 100"), ArrayOf(Bulk("0"), Bulks({"alive"})));
  EXPECT_THAT(Run("DBSIZE"), Int(1));
  Run("FLUSHALL");
  EXPECT_THAT(Run("RANDOMKEY"), Nil());
}

TEST_P(KeyCommands, ExpiredKeysOfAWalkStandForThemselvesInTheJournal) {
  for (const std::string walk : {"SCAN 0 COUNT 100", "RANDOMKEY"}) {
    Run("MSET a 1 b 2 c 3");
    for (const std::string key : {"a", "b", "c"}) Run("PEXPIRE " + key + " 10");
    clock().AdvanceMs(20);
    const size_t units = server().journal().Units();
    Run(walk);
    EXPECT_EQ(server().journal().Units() - units, 3u) << walk;
  }
}

TEST_P(KeyCommands, ExpiredKeysOfTheCycleStandForThemselvesInTheJournal) {
  Run("MSET a 1 b 2 c 3");
  for (const std::string key : {"a", "b", "c"}) Run("PEXPIRE " + key + " 10");
  const size_t units = server().journal().Units();
  server().RunCronFor(1000);
  EXPECT_THAT(Run("DBSIZE"), Int(0));
  EXPECT_EQ(server().journal().Units() - units, 3u);
}

TEST_P(KeyCommands, ExpiredKeysThatOneRequestNamesGoTogether) {
  for (const std::string request : {"MGET a b", "EVAL \"redis.call('SCAN', 0)\" 0"}) {
    Run("MSET a 1 b 2");
    for (const std::string key : {"a", "b"}) Run("PEXPIRE " + key + " 10");
    clock().AdvanceMs(20);
    const size_t units = server().journal().Units();
    Run(request);
    EXPECT_EQ(server().journal().Units() - units, 1u) << request;
  }
}

TEST_P(KeyCommands, RandomKeyFindsTheLastOneAlive) {
  for (int i = 0; i < 1000; ++i) Run(StrCat("SET dead:", i, " v PX 10"));
  Run("SET alive v");
  clock().AdvanceMs(20);
  EXPECT_THAT(Run("RANDOMKEY"), Bulk("alive"));
}

TEST_P(KeyCommands, RandomKeyIsFair) {
  for (int i = 0; i < 4; ++i) Run(StrCat("SET ", i, " v"));
  std::map<std::string, int> picks;
  for (int i = 0; i < 4000; ++i) ++picks[Run("RANDOMKEY").Text()];
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(picks[std::to_string(i)], 1000, 200);
}

TEST_P(KeyCommands, ExpireConditions) {
  Run("SET k v");
  EXPECT_THAT(Run("EXPIRE k 10 XX"), Int(0));
  EXPECT_THAT(Run("EXPIRE k 10 GT"), Int(0));
  EXPECT_THAT(Run("EXPIRE k 100 LT"), Int(1));
  EXPECT_THAT(Run("EXPIRE k 200 LT"), Int(0));
  EXPECT_THAT(Run("EXPIRE k 200 XX GT"), Int(1));
  EXPECT_THAT(Run("EXPIRE k 300 NX"), Int(0));
  EXPECT_THAT(Run("TTL k"), Int(200));
  EXPECT_THAT(Run("PERSIST k"), Int(1));
  EXPECT_THAT(Run("PERSIST k"), Int(0));
  EXPECT_THAT(Run("EXPIRE k x foo"), Error("ERR Unsupported option foo"));
  EXPECT_THAT(Run("EXPIRE k x NX GT"), Error("ERR NX and XX, GT or LT options at the same time are not compatible"));
  EXPECT_THAT(Run("EXPIRE k x GT LT"), Error("ERR GT and LT options at the same time are not compatible"));
  EXPECT_THAT(Run("EXPIRE nokey 10"), Int(0));
}

TEST_P(KeyCommands, ExpireRefusesOverflow) {
  Run("SET k v");
  for (const char* command :
       {"EXPIRE k 9223372036854775807", "EXPIRE k -9223372036854775808", "EXPIRE k 9223372036854775"}) {
    EXPECT_THAT(Run(command), Error("ERR invalid expire time in 'expire' command")) << command;
  }
  EXPECT_THAT(Run("PEXPIRE k 9223372036854775807"), Error("ERR invalid expire time in 'pexpire' command"));
  EXPECT_THAT(Run("EXPIREAT k 9223372036854776"), Error("ERR invalid expire time in 'expireat' command"));
  EXPECT_THAT(Run("PEXPIREAT k 9223372036854775807"), Int(1));
  EXPECT_THAT(Run("PEXPIRETIME k"), Int(9223372036854775807));
  EXPECT_THAT(Run("EXPIRETIME k"), Int(-9223372036854775));
}

TEST_P(KeyCommands, ADeadlineInThePastDeletes) {
  for (const char* command : {"EXPIRE k 0", "PEXPIRE k -9223372036854775808", "EXPIREAT k 1", "PEXPIREAT k -1"}) {
    Run("SET k v");
    EXPECT_THAT(Run(command), Int(1)) << command;
    EXPECT_THAT(Run("EXISTS k"), Int(0)) << command;
    EXPECT_EQ(Journaled().back(), "0: DEL k") << command;
  }
}

TEST_P(KeyCommands, TtlRoundsToTheNearestSecond) {
  Run("SET k v PX 1499");
  EXPECT_THAT(Run("TTL k"), Int(1));
  EXPECT_THAT(Run("PEXPIRE k 1500"), Int(1));
  EXPECT_THAT(Run("TTL k"), Int(2));
  EXPECT_THAT(Run("PTTL k"), Int(1500));
  EXPECT_THAT(Run("EXPIRETIME k"), Int((kStartMs + 2000) / 1000));
  EXPECT_EQ(Journaled().back(), StrCat("0: PEXPIREAT k ", kStartMs + 1500));
  for (const char* command : {"TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME"}) {
    EXPECT_THAT(Run(std::string(command) + " nokey"), Int(-2)) << command;
  }
}

TEST_P(KeyCommands, ObjectShowsIdleTimeAndReferences) {
  Run("MSET small 7 large 10000 text abc");
  EXPECT_THAT(Run("OBJECT REFCOUNT small"), Int(2147483647));
  EXPECT_THAT(Run("OBJECT REFCOUNT large"), Int(1));
  EXPECT_THAT(Run("OBJECT ENCODING nokey"), Nil());
  clock().AdvanceMs(30'000);
  EXPECT_THAT(Run("OBJECT IDLETIME text"), Int(30));
  Run("TTL text");
  EXPECT_THAT(Run("OBJECT IDLETIME text"), Int(30));
  Run("TOUCH text");
  EXPECT_THAT(Run("OBJECT IDLETIME text"), Int(0));
  EXPECT_THAT(Run("OBJECT FREQ text"), ErrorStartsWith("ERR An LFU maxmemory policy is not selected"));
}

TEST_P(KeyCommands, WaitAnswersWhenItsTimeIsOver) {
  EXPECT_THAT(Run("WAIT 0 0"), Int(0));
  EXPECT_THAT(Run("WAIT 1 -1"), Error("ERR timeout is negative"));
  EXPECT_THAT(Run("WAITAOF 0 0 0"), ArrayOf(Int(0), Int(0)));
  EXPECT_THAT(Run("WAITAOF 2 0 0"), Error("ERR value is out of range, value must between 0 and 1"));
  EXPECT_THAT(Run("WAITAOF 1 0 0"),
              Error("ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled."));
  EXPECT_THAT(Run("WAIT 1 1000"), NoReply());
  client().Send("SET behind 1");
  server().RunCronFor(900);
  EXPECT_THAT(client().Read(), NoReply());
  server().RunCronFor(300);
  EXPECT_THAT(client().Read(), Int(0));
  EXPECT_THAT(client().Read(), Ok());
}

TEST_P(KeyCommands, ClientUnblockEndsAWait) {
  TestClient other(server(), GetParam());
  const std::string id = std::to_string(client().session().id);
  EXPECT_THAT(other.Run({"CLIENT", "UNBLOCK", id}), Int(0));
  EXPECT_THAT(Run("WAIT 1 0"), NoReply());
  EXPECT_THAT(other.Run({"CLIENT", "UNBLOCK", id}), Int(1));
  EXPECT_THAT(client().Read(), Int(0));
  EXPECT_THAT(Run("WAITAOF 0 1 0"), NoReply());
  client().Send("PING");
  EXPECT_THAT(other.Run({"CLIENT", "UNBLOCK", id, "ERROR"}), Int(1));
  EXPECT_THAT(client().Read(), Error("UNBLOCKED client unblocked via CLIENT UNBLOCK"));
  EXPECT_THAT(client().Read(), Simple("PONG"));
  EXPECT_THAT(other.Run({"CLIENT", "UNBLOCK", id}), Int(0));
  EXPECT_THAT(Run("WAIT 1 0"), NoReply());
}

}  // namespace

}  // namespace respite
