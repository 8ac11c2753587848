// Faults that concern no single request, the list of rules, refused rules, and TEST DROP.
#include "server/lab/faults/fault_rules.h"

#include <cerrno>

#include "base/str_cat.h"
#include "server/lab/faults/disk_faults.h"
#include "tests/server/lab/faults_fixture.h"
#include "tests/support/server_life.h"

namespace respite {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// --- The disk.

TEST_F(FaultsTest, AFullDiskFailsASnapshotAndStopsWrites) {
  admin_.Run("CONFIG SET save \"3600 1\"");
  Add("d DO DISK FULL");
  EXPECT_THAT(admin_.Run("SAVE"), Error("ERR"));
  admin_.Run("BGSAVE");
  server_.Cron();
  EXPECT_THAT(admin_.Run("INFO persistence").Text(), HasSubstr("rdb_last_bgsave_status:err"));
  EXPECT_THAT(admin_.Run("SET k v"), ErrorStartsWith("MISCONF Redis is configured to save RDB snapshots"));
  EXPECT_GE(Hits("d"), 2);
  EXPECT_THAT(admin_.Run("TEST RESET FAULTS"), Ok());
  EXPECT_THAT(admin_.Run("SAVE"), Ok());
  EXPECT_THAT(admin_.Run("SET k v"), Ok());
}

TEST(FaultyJournalTest, WritesAreRefusedUntilTheDiskTakesThem) {
  for (const auto& [fault, text] : std::vector<std::pair<std::string, std::string>>{{"FULL", "No space left on device"},
                                                                                    {"ERROR", "Input/output error"}}) {
    FaultyFiles files;
    ServerLife life(files, {"appendonly yes", "appendfsync everysec", "test-commands yes"});
    EXPECT_THAT(life.Run("TEST FAULT ADD d DO DISK " + fault), Ok());
    life.Run("SET a 1");
    EXPECT_THAT(life.Run("SET b 2"), Error("MISCONF Errors writing to the AOF file: " + text));
    EXPECT_THAT(life.Run("INFO persistence").Text(), HasSubstr("aof_last_write_status:err"));
    EXPECT_GE(life.Run("TEST FAULT HITS d").Integer(), 1);
    EXPECT_THAT(life.Run("TEST FAULT DEL d"), Ok());
    life.server().Cron();
    EXPECT_THAT(life.Run("SET b 2"), Ok());
    EXPECT_THAT(life.Run("INFO persistence").Text(), HasSubstr("aof_last_write_status:ok"));
  }
}

TEST(DiskFaultsTest, OperationsMeetTheirRulesInOrder) {
  using Operation = DiskFaults::Operation;
  DiskFaults faults;
  EXPECT_EQ(faults.TakeEffect(Operation::kWrite).error, kNoError);
  EXPECT_TRUE(faults.Add(1, {.kind = DiskFault::Kind::kFull}, {.times = 1}));
  EXPECT_TRUE(faults.Add(2, {.kind = DiskFault::Kind::kError}, {.times = 2}));
  EXPECT_TRUE(faults.Add(3, {.kind = DiskFault::Kind::kSlow, .slow_ms = 7}, {}));
  EXPECT_EQ(faults.TakeEffect(Operation::kSync).error, EIO) << "a full disk syncs";
  EXPECT_EQ(faults.TakeEffect(Operation::kWrite).error, ENOSPC);
  EXPECT_EQ(faults.TakeEffect(Operation::kWrite).error, EIO);
  EXPECT_EQ(faults.TakeEffect(Operation::kWrite).slow_ms, 7);
  EXPECT_EQ(faults.CountsOf(2)->Hits(), 2u);
  faults.Remove(3);
  EXPECT_EQ(faults.TakeEffect(Operation::kSync).slow_ms, 0);
  for (uint64_t serial = 4; faults.Add(serial, {.kind = DiskFault::Kind::kFull}, {}); ++serial) {
    ASSERT_LE(serial, DiskFaults::kMaxDiskRules + 4);
  }
}

TEST(DiskFaultsTest, AFaultyDiskFailsAndWaitsAtItsFiles) {
  FaultyFiles files;
  DiskFaults faults;
  std::vector<int64_t> sleeps;
  FaultyDisk disk(files, faults, [&](int64_t ms) { sleeps.push_back(ms); });
  auto file = disk.Open("f", FileSystem::Mode::kCreate);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(faults.Add(1, {.kind = DiskFault::Kind::kSlow, .slow_ms = 20}, {.times = 2}));
  EXPECT_TRUE(faults.Add(2, {.kind = DiskFault::Kind::kError}, {}));
  EXPECT_EQ(file.value()->Write("abc").error, kNoError);
  EXPECT_EQ(file.value()->Sync(), kNoError);
  EXPECT_THAT(sleeps, ElementsAre(20, 20));
  EXPECT_EQ(file.value()->Write("def").error, EIO);
  EXPECT_EQ(file.value()->Sync(), EIO);
  EXPECT_EQ(files.Content("f"), "abc");
}

// --- New connections. tests/system/faults_test.py makes them.

TEST_F(FaultsTest, ConnectionsFromAnAddressAreRefused) {
  FaultRules& faults = server_->services().lab.faults;
  Add("r WHEN ADDR 10.* DO REFUSE AFTER 1 TIMES 2");
  EXPECT_FALSE(faults.RefusesConnection("127.0.0.1:5"));
  EXPECT_FALSE(faults.RefusesConnection("10.0.0.1:5"));
  EXPECT_TRUE(faults.RefusesConnection("10.0.0.1:5"));
  EXPECT_TRUE(faults.RefusesConnection("10.0.0.1:5"));
  EXPECT_FALSE(faults.RefusesConnection("10.0.0.1:5"));
  EXPECT_EQ(Hits("r"), 2);
  EXPECT_EQ(Talk({"PING"}), "+PONG\r\n");
}

TEST_F(FaultsTest, SocketsListenAgainWhenTheRuleIsOver) {
  struct Sockets final : ListeningSockets {
    void StopListening() override { listen = false; }
    void ListenAgain() override { listen = true; }
    bool listen = true;
  } sockets;
  server_->services().lab.faults.Attach(&sockets);
  admin_.Run("TEST CLOCK FREEZE");
  Add("a DO REFUSE LISTEN FOR 1s");
  Add("b DO REFUSE LISTEN");
  EXPECT_FALSE(sockets.listen);
  Delete("b");
  EXPECT_FALSE(sockets.listen);
  admin_.Run("TEST CLOCK ADVANCE 1s");
  EXPECT_TRUE(sockets.listen);
  server_->services().lab.faults.Attach(nullptr);
}

// --- The list, and what is refused.

TEST_F(FaultsTest, TheListShowsRulesAsTheyWereGiven) {
  admin_.Run("TEST CLOCK FREEZE");
  Add("\"a b\\x00\" WHEN COMMAND GET KEY x* DO CUT 3 TIMES 2 FOR 1h");
  Talk({"GET k", "GET x"});
  const TestReply list = admin_.Run("TEST FAULT LIST");
  ASSERT_EQ(list.Size(), 1u);
  EXPECT_EQ(list[0][1].Text(), std::string("a b\0", 4));
  EXPECT_EQ(list[0][3].Texts(), (std::vector<std::string>{"WHEN", "COMMAND", "GET", "KEY", "x*", "DO", "CUT", "3",
                                                          "TIMES", "2", "FOR", "1h"}));
  EXPECT_EQ(list[0][5].Text(), "active");
  EXPECT_EQ(list[0][7].Integer(), 1);
  EXPECT_EQ(list[0][9].Integer(), 1);
  EXPECT_EQ(list[0][11].Integer(), 3'600'000);
}

TEST_F(FaultsTest, RefusalsSayWhatWouldBeRight) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"x", "DO is missing"},
      {"x DO", "DO needs a value"},
      {"x DO EXPLODE", "There are ERROR, REPLY"},
      {"x WHEN", "DO is missing"},
      {"x WHEN DO CLOSE", "'DO' is no condition"},
      {"x WHEN COLOUR red DO CLOSE", "There are COMMAND, CATEGORY"},
      {"x WHEN COMMAND gte DO CLOSE", "'gte' is no command of this server"},
      {"x WHEN COMMAND", "COMMAND needs a value"},
      {"x WHEN COMMAND GET COMMAND SET DO CLOSE", "COMMAND is given twice"},
      {"x WHEN CATEGORY @wrong DO CLOSE", "ACL CAT"},
      {"x WHEN ID 0 DO CLOSE", "a number from 1"},
      {"x WHEN DB -1 DO CLOSE", "a number from 0"},
      {"x WHEN SCRIPT maybe DO CLOSE", "neither YES nor NO"},
      {"x DO ERROR \"\"", "one line"},
      {"x DO ERROR \"a\\r\\n+OK\"", "DO REPLY"},
      {"x DO ERROR MOVED 16384 a:1", "16383"},
      {"x DO ERROR MOVED 1 nowhere", "host:port"},
      {"x DO DELAY soon", "is no duration"},
      {"x DO DELAY 106751991167d", "36500d at most"},
      {"x DO DELAY 99999999999999999999d", "is no duration"},
      {"x DO CUT -1", "a number from 0"},
      {"x DO TRICKLE 0", "a number from 1"},
      {"x DO TRICKLE 9223372036854775807", "a number from 1"},
      {"x DO DISK broken", "FULL, ERROR, or SLOW"},
      {"x DO DISK SLOW 2m", "1m at most"},
      {"x WHEN COMMAND SET DO DISK FULL", "has no WHEN"},
      {"x WHEN COMMAND SET DO REFUSE", "no condition but ADDR"},
      {"x WHEN ADDR 127.* ID 1 DO REFUSE", "no condition but ADDR"},
      {"x DO REFUSE LISTEN", "no sockets"},
      {"x DO REFUSE LISTEN TIMES 1", "FOR says how long"},
      {"x DO CLOSE TIMES 0", "a number from 1"},
      {"x DO CLOSE AFTER x", "a number from 0"},
      {"x DO CLOSE PERCENT 101", "from 0 to 100"},
      {"x DO CLOSE PERCENT nan", "from 0 to 100"},
      {"x DO CLOSE FOR", "FOR needs a value"},
      {"x DO CLOSE FOR ever", "is no duration"},
      {"x DO CLOSE GENTLY", "TIMES, AFTER, PERCENT and FOR"},
  };
  for (const auto& [rule, reason] : wrong) EXPECT_THAT(Refused(rule), HasSubstr(reason)) << rule;
  Add("x DO CLOSE");
  EXPECT_THAT(Refused("x DO CLOSE"), HasSubstr("TEST FAULT DEL"));
  EXPECT_THAT(admin_.Run("TEST FAULT HITS y"), ErrorStartsWith("ERR no fault 'y'. TEST FAULT LIST"));
  EXPECT_THAT(admin_.Run("TEST FAULT DEL y"), ErrorStartsWith("ERR no fault 'y'"));
  EXPECT_THAT(admin_.Run("TEST FAULT SHOW"), ErrorStartsWith("ERR unknown subcommand"));
  EXPECT_EQ(admin_.Run("TEST FAULT LIST").Size(), 1u);
}

TEST_F(FaultsTest, ThereIsALimitOfRules) {
  for (size_t i = 0; i < FaultRules::kMaxRules; ++i) {
    admin_.Run(StrCat("TEST FAULT ADD ", i, " WHEN COMMAND GET KEY k", i, " DO CLOSE"));
  }
  EXPECT_THAT(Refused("more DO CLOSE"), HasSubstr("10000 faults already"));
  EXPECT_EQ(Talk({"GET nothing", "PING"}), "$-1\r\n+PONG\r\n");
  EXPECT_THAT(admin_.Run("TEST FAULT CLEAR"), Ok());
  EXPECT_EQ(Talk({"GET k1"}), "$-1\r\n");
}

// --- TEST DROP.

TEST_F(FaultsTest, DropEndsTheConnectionsThatFit) {
  TestClient one(server_), two(server_);
  one.Run("CLIENT SETNAME worker-1");
  two.Run("SELECT 2");
  EXPECT_THAT(admin_.Run("TEST DROP CLIENT nobody"), Int(0));
  EXPECT_THAT(admin_.Run("TEST DROP CLIENT worker-*"), Int(1));
  EXPECT_TRUE(one.Closed());
  EXPECT_THAT(admin_.Run("TEST DROP DB 2 USER default"), Int(1));
  EXPECT_TRUE(two.Closed());
  EXPECT_FALSE(client_.Closed());
  EXPECT_THAT(admin_.Run("TEST DROP COMMAND get"), ErrorStartsWith("ERR 'COMMAND' is no condition for clients"));
  EXPECT_THAT(admin_.Run("TEST DROP"), Int(1));
  EXPECT_TRUE(client_.Closed());
  EXPECT_FALSE(admin_.Closed());
}

TEST_F(FaultsTest, DroppedClientsMayBeBlockedOrHeldBack) {
  TestClient blocked(server_), held(server_);
  Add("d WHEN COMMAND GET DO DELAY 1h");
  blocked.Run("BLPOP q 0");
  held.Run("GET k");
  EXPECT_THAT(admin_.Run("TEST DROP"), Int(3));
  EXPECT_THAT(admin_.Run("TEST FAULT CLEAR"), Ok());
  EXPECT_EQ(server_->services().clients.registry.Count(), 1u);
}

// --- RESET.

TEST_F(FaultsTest, ResetRemovesFaults) {
  Add("d WHEN COMMAND GET DO DELAY 1h");
  EXPECT_EQ(Talk({"GET k"}), "");
  EXPECT_THAT(admin_.Run("TEST RESET DATA"), Ok());
  EXPECT_EQ(admin_.Run("TEST FAULT LIST").Size(), 1u);
  EXPECT_THAT(admin_.Run("TEST RESET FAULTS"), Ok());
  EXPECT_EQ(admin_.Run("TEST FAULT LIST").Size(), 0u);
  EXPECT_EQ(Come(), "$-1\r\n");
}

}  // namespace
}  // namespace respite
