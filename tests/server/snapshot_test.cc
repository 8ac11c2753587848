// Snapshots: which files SAVE, BGSAVE and save points leave on the disk when operations fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <memory>

#include "base/str_cat.h"
#include "server/storage/snapshots.h"
#include "tests/support/reply_matchers.h"
#include "tests/support/test_client.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

using Operation = FaultyFiles::Operation;
using testing::HasSubstr;
using testing::Not;

constexpr char kMisconf[] =
    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands that "
    "may "
    "modify the data set are disabled, because this instance is configured to report errors during writes if RDB "
    "snapshotting fails (stop-writes-on-bgsave-error option). Please check the Redis logs for details about the RDB "
    "error.";

class SnapshotTest : public testing::Test {
 protected:
  TestServer Start(std::vector<std::string> directives = {}, uint64_t seed = 1) {
    return TestServer(TestServer::Options{.directives = std::move(directives), .seed = seed, .files = &files_});
  }
  // Returns the data that a new server would load.
  Snapshot OnDisk() {
    TestServer::Options options{.seed = 99, .files = &files_};
    TestServer server(options);
    EXPECT_EQ(server.Load(), LoadOutcome::kLoaded);
    return SnapshotOf(*server);
  }
  std::string Info(TestClient& client, const std::string& field) {
    const std::string text = client.Run("INFO persistence").Text();
    const size_t start = text.find("\n" + field + ":");
    if (start == std::string::npos) return "no " + field;
    const size_t value = start + field.size() + 2;
    return text.substr(value, text.find('\r', value) - value);
  }
  std::vector<std::string> Temporaries() const {
    std::vector<std::string> names;
    for (const std::string& path : files_.Paths()) {
      if (path.find("temp-") != std::string::npos) names.push_back(path);
    }
    return names;
  }

  FaultyFiles files_;
};

TEST_F(SnapshotTest, AnotherServerLoadsWhatOneSaves) {
  TestServer server = Start({"enable-debug-command yes"});
  TestClient client(server);
  client.Run("SET a 1");
  client.Run("SELECT 3");
  client.Run("RPUSH l a b c");
  client.Run("PEXPIRE l 100000");
  client.Run({"FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return 7 end)"});
  EXPECT_THAT(client.Run("SAVE"), Ok());
  EXPECT_EQ(Info(client, "rdb_changes_since_last_save"), "0");
  EXPECT_EQ(Info(client, "rdb_saves"), "1");

  TestServer other = Start();
  EXPECT_EQ(other.Load(), LoadOutcome::kLoaded);
  EXPECT_EQ(SnapshotDifference(SnapshotOf(*server), SnapshotOf(*other)), "");
  TestClient reader(other);
  EXPECT_THAT(reader.Run("FCALL f 0"), Int(7));
  EXPECT_EQ(Info(reader, "rdb_last_load_keys_loaded"), "2");
  EXPECT_EQ(Info(reader, "rdb_changes_since_last_save"), "0");
}

TEST_F(SnapshotTest, AFailureLeavesTheOldDumpAndTheNextSaveWorks) {
  for (Operation operation : {Operation::kOpen, Operation::kWrite, Operation::kSync, Operation::kRename}) {
    TestServer server = Start();
    TestClient client(server);
    client.Run("SET version old");
    ASSERT_THAT(client.Run("SAVE"), Ok());
    const Snapshot old = SnapshotOf(*server);
    client.Run("SET version new");
    for (uint64_t nth = 1;; ++nth) {
      files_.FailAt(operation, nth, ENOSPC);
      const uint64_t before = files_.Count(operation);
      const TestReply reply = client.Run("SAVE");
      files_.Recover();
      if (files_.Count(operation) < before + nth) {  // there were fewer than `nth` operations
        EXPECT_THAT(reply, Ok());
        break;
      }
      EXPECT_THAT(reply, Error("ERR")) << static_cast<int>(operation) << " " << nth;
      EXPECT_EQ(SnapshotDifference(old, OnDisk()), "") << static_cast<int>(operation) << " " << nth;
      EXPECT_THAT(Temporaries(), testing::IsEmpty());
      EXPECT_EQ(Info(client, "rdb_changes_since_last_save"), "1");
    }
    EXPECT_EQ(SnapshotDifference(SnapshotOf(*server), OnDisk()), "");
  }
}

TEST_F(SnapshotTest, ADiskThatIsFullAtAnyByteLeavesTheOldDump) {
  TestServer server = Start();
  TestClient client(server);
  client.Run("SET version old");
  ASSERT_THAT(client.Run("SAVE"), Ok());
  const Snapshot old = SnapshotOf(*server);
  client.Run("SET version new");
  for (uint64_t room = 0;; ++room) {
    files_.SetFreeBytes(room);
    const TestReply reply = client.Run("SAVE");
    files_.Recover();
    if (reply.tree && !reply.tree->IsError()) break;
    ASSERT_LT(room, 1000u);
    EXPECT_EQ(SnapshotDifference(old, OnDisk()), "") << room;
    EXPECT_THAT(Temporaries(), testing::IsEmpty());
  }
  EXPECT_EQ(SnapshotDifference(SnapshotOf(*server), OnDisk()), "");
}

TEST_F(SnapshotTest, WhatWasSavedSurvivesACrashOfTheMachine) {
  {
    TestServer server = Start();
    TestClient client(server);
    client.Run("SET k v");
    ASSERT_THAT(client.Run("SAVE"), Ok());
    client.Run("SET k w");
  }
  files_.Crash();
  EXPECT_EQ(OnDisk().at("0 \"k\""), "string \"v\"");
}

TEST_F(SnapshotTest, ADirectoryThatCannotBeSyncedIsAFailure) {
  TestServer server = Start();
  TestClient client(server);
  files_.FailAt(Operation::kSyncDirectory, 1, EIO);
  EXPECT_THAT(client.Run("SAVE"), Error("ERR"));
  EXPECT_THAT(client.Run("SAVE"), Ok());
}

TEST_F(SnapshotTest, AChildSavesWhatWasThereWhenItBegan) {
  TestServer server = Start();
  TestClient client(server);
  client.Run("SET a 1");
  EXPECT_THAT(client.Run("BGSAVE"), Simple("Background saving started"));
  EXPECT_EQ(Info(client, "rdb_bgsave_in_progress"), "1");
  EXPECT_EQ(Info(client, "current_save_keys_total"), "1");
  EXPECT_THAT(client.Run("BGSAVE"), Error("ERR Background save already in progress"));
  EXPECT_THAT(client.Run("SAVE"), Error("ERR Background save already in progress"));
  client.Run("SET b 2");
  client.Run("SET c 3");
  server.clock().AdvanceMs(2500);
  server.Cron();
  EXPECT_EQ(Info(client, "rdb_bgsave_in_progress"), "0");
  EXPECT_EQ(Info(client, "rdb_last_bgsave_status"), "ok");
  EXPECT_EQ(Info(client, "rdb_last_bgsave_time_sec"), "2");
  EXPECT_EQ(Info(client, "rdb_changes_since_last_save"), "2");  // changes after the fork
  EXPECT_THAT(client.Run("LASTSAVE"), Int(server.clock().WallMs() / 1000));
  EXPECT_EQ(OnDisk().size(), 1u);
  EXPECT_THAT(client.Run("INFO stats").Text(), HasSubstr("total_forks:1\r\n"));
}

TEST_F(SnapshotTest, BgSaveTakesOneWord) {
  TestServer server = Start();
  TestClient client(server);
  EXPECT_THAT(client.Run("BGSAVE soon"), Error("ERR syntax error"));
  EXPECT_THAT(client.Run("BGSAVE SCHEDULE now"), Error("ERR syntax error"));
  EXPECT_THAT(client.Run("BGSAVE schedule"), Simple("Background saving started"));
}

TEST_F(SnapshotTest, CancelStopsARunningSave) {
  TestServer server = Start({"save 3600 1"});
  TestClient client(server);
  client.Run("SET k v");
  EXPECT_THAT(client.Run("BGSAVE CANCEL now"), Error("ERR syntax error"));
  EXPECT_THAT(client.Run("BGSAVE CANCEL"), Error("ERR Background saving is currently not in progress or scheduled"));
  server.forker().Hold();
  client.Run("BGSAVE");
  EXPECT_THAT(client.Run("BGSAVE CANCEL"), Simple("Background saving cancelled"));
  EXPECT_EQ(Info(client, "rdb_bgsave_in_progress"), "0");
  EXPECT_EQ(Info(client, "rdb_changes_since_last_save"), "1");
  EXPECT_EQ(Info(client, "rdb_last_bgsave_status"), "ok");
  EXPECT_THAT(client.Run("SET k w"), Ok());
}

TEST_F(SnapshotTest, CancelForgetsAScheduledSave) {
  TestServer server = Start();
  TestClient client(server);
  ASSERT_TRUE(server->services().storage.child_processes.Start(
      ChildWork::kRewrite, [](ChildReporter&) { return true; }, [](const ChildEnd&) {}));
  client.Run("BGSAVE SCHEDULE");
  EXPECT_THAT(client.Run("BGSAVE CANCEL"), Simple("Scheduled background saving cancelled"));
  EXPECT_THAT(client.Run("BGSAVE CANCEL"), Error("ERR Background saving is currently not in progress or scheduled"));
  server.Cron();
  server.Cron();
  EXPECT_EQ(server.forker().Started(), 1) << "only the rewrite";
}

TEST_F(SnapshotTest, ATransactionOnlySchedules) {
  TestServer server = Start();
  TestClient client(server);
  client.Run("MULTI");
  client.Run("SET a 1");
  client.Run("BGSAVE");
  client.Run("SET b 2");
  EXPECT_THAT(client.Run("EXEC"), ArrayOf(Ok(), Simple("Background saving scheduled"), Ok()));
  EXPECT_EQ(server.forker().Started(), 0);
  server.Cron();
  EXPECT_EQ(server.forker().Started(), 1);
  server.Cron();
  EXPECT_EQ(OnDisk().size(), 2u);
}

TEST_F(SnapshotTest, RemovingWhatAKilledChildLeftIsWatched) {
  TestServer server = Start({"latency-monitor-threshold 1"});
  TestClient client(server);
  server.forker().Hold();
  client.Run("BGSAVE");
  server.forker().Crash(SIGKILL);
  server.clock().AdvanceWithEachReading(1000);
  server.Cron();
  server.clock().AdvanceWithEachReading(0);
  EXPECT_EQ(client.Run("LATENCY HISTORY rdb-unlink-temp-file").Size(), 1u);
}

TEST_F(SnapshotTest, ARewriteOfTheAppendOnlyFileHasTheChildForItself) {
  TestServer server = Start();
  TestClient client(server);
  int ends = 0;
  ASSERT_TRUE(server->services().storage.child_processes.Start(
      ChildWork::kRewrite, [](ChildReporter&) { return true; }, [&](const ChildEnd&) { ++ends; }));
  EXPECT_THAT(
      client.Run("BGSAVE"),
      Error("ERR Another child process is active (AOF?): can't BGSAVE right now. Use BGSAVE SCHEDULE in order to "
            "schedule a BGSAVE whenever possible."));
  EXPECT_THAT(client.Run("BGSAVE SCHEDULE"), Simple("Background saving scheduled"));
  EXPECT_THAT(client.Run("SAVE"), Ok());
  server.Cron();  // handles the end of one child and starts the other
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(Info(client, "rdb_bgsave_in_progress"), "1");
}

TEST_F(SnapshotTest, WritesAreRefusedAfterAFailureIfThereAreSavePoints) {
  TestServer server = Start({"save 3600 1"});
  TestClient client(server);
  client.Run("SET k v");
  files_.SetFreeBytes(3);
  client.Run("BGSAVE");
  server.Cron();
  EXPECT_EQ(Info(client, "rdb_last_bgsave_status"), "err");
  EXPECT_THAT(client.Run("SET k w"), Error(kMisconf));
  EXPECT_THAT(client.Run("PING"), Error(kMisconf));
  EXPECT_THAT(client.Run("GET k"), Bulk("v"));
  EXPECT_THAT(client.Run({"EVAL", "return redis.call('SET', 'k', 'w')", "0"}), ErrorStartsWith("MISCONF "));
  EXPECT_THAT(client.Run({"EVAL", "#!lua\nreturn redis.call('GET', 'k')", "0"}), Error(kMisconf));
  EXPECT_THAT(client.Run({"EVAL", "#!lua flags=no-writes\nreturn redis.call('GET', 'k')", "0"}), Bulk("v"));

  client.Run("CONFIG SET stop-writes-on-bgsave-error no");
  EXPECT_THAT(client.Run("SET k w"), Ok());
  client.Run("CONFIG SET stop-writes-on-bgsave-error yes");
  client.Run({"CONFIG", "SET", "save", ""});
  EXPECT_THAT(client.Run("SET k x"), Ok());
  client.Run({"CONFIG", "SET", "save", "3600 1"});
  EXPECT_THAT(client.Run("SET k y"), Error(kMisconf));

  files_.Recover();
  EXPECT_THAT(client.Run("BGSAVE"), Simple("Background saving started"));
  server.Cron();
  EXPECT_THAT(client.Run("SET k z"), Ok());
}

TEST_F(SnapshotTest, ASaveThatWorksEndsTheTrouble) {
  TestServer server = Start({"save 3600 1"});
  TestClient client(server);
  files_.SetFreeBytes(3);
  client.Run("BGSAVE");
  server.Cron();
  files_.Recover();
  EXPECT_THAT(client.Run("SAVE"), Ok());
  EXPECT_THAT(client.Run("SET k v"), Ok());
}

TEST_F(SnapshotTest, AForkThatFailsIsAFailure) {
  TestServer server = Start({"save 3600 1"});
  TestClient client(server);
  server.forker().FailNext(ENOMEM);
  EXPECT_THAT(client.Run("BGSAVE"), Error("ERR"));
  EXPECT_THAT(client.Run("SET k v"), Error(kMisconf));
}

TEST_F(SnapshotTest, AChildThatDiesLeavesNothing) {
  TestServer server = Start({"save 3600 1"});
  TestClient client(server);
  server.forker().Hold();
  client.Run("BGSAVE");
  files_.Put("temp-4242.rdb", "REDIS");
  server.forker().Crash(SIGKILL);
  server.Cron();
  EXPECT_THAT(Temporaries(), testing::IsEmpty());
  EXPECT_THAT(client.Run("SET k v"), Error(kMisconf));
}

TEST_F(SnapshotTest, SavePointsWaitForTheirTimeAndTheirChanges) {
  TestServer server = Start({"save 10 2"});
  TestClient client(server);
  client.Run("SET a 1");
  server.clock().AdvanceMs(10'001);
  server.Cron();
  EXPECT_EQ(server.forker().Started(), 0);
  client.Run("SET b 1");
  server.Cron();
  EXPECT_EQ(server.forker().Started(), 1);
  client.Run("MSET a 2 b 2");
  server.Cron();
  EXPECT_EQ(Info(client, "rdb_changes_since_last_save"), "2");
  server.clock().AdvanceMs(10'000);
  server.Cron();
  EXPECT_EQ(server.forker().Started(), 1);
  server.clock().AdvanceMs(1);
  server.Cron();
  EXPECT_EQ(server.forker().Started(), 2);
}

TEST_F(SnapshotTest, AfterAFailureSavePointsWait) {
  TestServer server = Start({"save 10 1"});
  TestClient client(server);
  client.Run("SET a 1");
  server.clock().AdvanceMs(10'001);
  files_.SetFreeBytes(0);
  server.Cron();
  EXPECT_EQ(server.forker().Started(), 1);
  server.Cron();
  server.clock().AdvanceMs(5'000);
  server.Cron();
  EXPECT_EQ(server.forker().Started(), 1);
  files_.Recover();
  server.clock().AdvanceMs(1);
  server.Cron();
  EXPECT_EQ(server.forker().Started(), 2);
  server.Cron();
  EXPECT_EQ(Info(client, "rdb_last_bgsave_status"), "ok");
}

TEST_F(SnapshotTest, FlushAllEndsTheChildAndSavesAtTheEndOfTheTransaction) {
  TestServer server = Start({"save 3600 1"});
  TestClient client(server);
  client.Run("SET a 1");
  server.forker().Hold();
  client.Run("BGSAVE");
  client.Run("MULTI");
  client.Run("SET b 1");
  client.Run("FLUSHALL");
  client.Run("SET c 1");
  client.Run("EXEC");
  EXPECT_FALSE(server.forker().Runs());
  EXPECT_EQ(Info(client, "rdb_last_bgsave_status"), "ok");
  EXPECT_EQ(SnapshotDifference(SnapshotOf(*server), OnDisk()), "");
  EXPECT_EQ(OnDisk().size(), 1u);
  EXPECT_EQ(Info(client, "rdb_changes_since_last_save"), "0");
}

TEST_F(SnapshotTest, FlushAllSavesNothingWithoutSavePoints) {
  TestServer server = Start();
  TestClient client(server);
  client.Run("SET a 1");
  client.Run("FLUSHALL");
  EXPECT_THAT(files_.Paths(), testing::IsEmpty());
}

TEST_F(SnapshotTest, TwoServersDoNotSaveToOneDump) {
  TestServer first = Start({"save 3600 1"});
  EXPECT_EQ(first->services().storage.snapshots.LockDumpAtStartup(), std::nullopt);
  TestClient client(first);
  client.Run("SET k first");
  ASSERT_THAT(client.Run("SAVE"), Ok());

  TestServer second = Start({"save 3600 1"});
  EXPECT_THAT(second->services().storage.snapshots.LockDumpAtStartup().value_or(""),
              HasSubstr("Another server already saves to dump.rdb"));

  TestServer third = Start({"enable-protected-configs yes"});  // without save points, so it may run next to the first
  EXPECT_EQ(third->services().storage.snapshots.LockDumpAtStartup(), std::nullopt);
  TestClient other(third);
  EXPECT_THAT(other.Run("SAVE"), Error("ERR"));
  EXPECT_THAT(other.Run("BGSAVE"), Error("ERR"));
  EXPECT_EQ(OnDisk().at("0 \"k\""), "string \"first\"");
  EXPECT_THAT(client.Run("SAVE"), Ok());

  other.Run("CONFIG SET dbfilename other.rdb");
  EXPECT_THAT(other.Run("SAVE"), Ok());
}

void UseDefaultSavePoints(TestServer& server) {
  Settings& settings = server->services().env.config.MutableSettings();
  settings.save.assign(kDefaultSavePoints.begin(), kDefaultSavePoints.end());
}

TEST_F(SnapshotTest, DefaultSavePointsDoNotPreventAStart) {
  TestServer first = Start();
  UseDefaultSavePoints(first);
  TestClient client(first);
  client.Run("SET k first");
  ASSERT_THAT(client.Run("SAVE"), Ok());
  TestServer second = Start();
  UseDefaultSavePoints(second);
  EXPECT_EQ(second->services().storage.snapshots.LockDumpAtStartup(), std::nullopt);
  TestClient other(second);
  other.Run("SET k second");
  EXPECT_THAT(other.Run("SHUTDOWN"), NoReply());
  EXPECT_EQ(second.StoppedWith(), 0);
  EXPECT_EQ(OnDisk().at("0 \"k\""), "string \"first\"");
}

TEST_F(SnapshotTest, DefaultSavePointsDoNotPreventAnEnd) {
  TestServer first = Start();
  UseDefaultSavePoints(first);
  TestServer second = Start();
  UseDefaultSavePoints(second);
  TestServer third = Start();
  UseDefaultSavePoints(third);
  for (TestServer* server : {&first, &second, &third})
    EXPECT_EQ((*server)->services().storage.snapshots.LockDumpAtStartup(), std::nullopt);
  TestClient client(first);
  TestClient other(second);
  TestClient last(third);
  client.Run("SET k first");
  ASSERT_THAT(client.Run("SAVE"), Ok());
  other.Run("SET k second");
  EXPECT_THAT(other.Run("SHUTDOWN"), NoReply());
  EXPECT_EQ(second.StoppedWith(), 0);
  for (int i = 0; i < 10000; ++i) last.Run("INCR n");
  third.AdvanceMs(61'000);
  third.Cron();
  EXPECT_EQ(Info(last, "rdb_last_bgsave_status"), "err");
  EXPECT_THAT(last.Run("INCR n"), Int(10001));                                                  // no MISCONF
  EXPECT_THAT(last.Run("SHUTDOWN SAVE"), Error("ERR Errors trying to SHUTDOWN. Check logs."));  // saving was requested
  EXPECT_EQ(OnDisk().at("0 \"k\""), "string \"first\"");
}

TEST_F(SnapshotTest, WhatWasLeftToAnotherServerIsWrittenOnRequestOnly) {
  auto first = std::make_unique<TestServer>(TestServer::Options{.files = &files_});
  auto client = std::make_unique<TestClient>(*first);
  client->Run("SET k first");
  ASSERT_THAT(client->Run("SAVE"), Ok());
  TestServer second = Start();
  UseDefaultSavePoints(second);
  EXPECT_EQ(second->services().storage.snapshots.LockDumpAtStartup(), std::nullopt);
  TestClient other(second);
  other.Run("SET k second");
  client->Run("SET k later");
  ASSERT_THAT(client->Run("SAVE"), Ok());
  client.reset();
  first.reset();
  for (int i = 0; i < 10000; ++i) other.Run("INCR n");
  second.AdvanceMs(61'000);
  second.Cron();
  EXPECT_EQ(OnDisk().at("0 \"k\""), "string \"later\"");
  EXPECT_THAT(other.Run("SAVE"), Ok());
  EXPECT_EQ(OnDisk().at("0 \"k\""), "string \"second\"");
  other.Run("SET k third");
  EXPECT_THAT(other.Run("SHUTDOWN"), NoReply());
  EXPECT_EQ(OnDisk().at("0 \"k\""), "string \"third\"");
}

TEST_F(SnapshotTest, ServersThatSaveNothingShareADirectory) {
  TestServer first = Start();
  TestServer second = Start();
  EXPECT_EQ(first->services().storage.snapshots.LockDumpAtStartup(), std::nullopt);
  EXPECT_EQ(second->services().storage.snapshots.LockDumpAtStartup(), std::nullopt);
  EXPECT_THAT(files_.Paths(), testing::IsEmpty());
}

TEST_F(SnapshotTest, AStartRemovesWhatDeadServersLeft) {
  const std::string living = StrCat("temp-", getppid(), ".rdb");
  files_.Put("temp-999999999.rdb", "REDIS");  // larger than any pid
  files_.Put(living, "REDIS");
  files_.Put("temp-x1.rdb", "mine");
  files_.Put("temp-.rdb", "mine");
  TestServer server = Start();
  EXPECT_EQ(server->services().storage.snapshots.LockDumpAtStartup(), std::nullopt);
  EXPECT_FALSE(files_.Has("temp-999999999.rdb"));
  EXPECT_TRUE(files_.Has(living));
  EXPECT_TRUE(files_.Has("temp-x1.rdb"));
  EXPECT_TRUE(files_.Has("temp-.rdb"));
}

TEST_F(SnapshotTest, ChecksumAndCompressionAreAsTheDirectivesSay) {
  TestServer plain = Start({"rdbchecksum no", "rdbcompression no"});
  TestClient client(plain);
  client.Run({"SET", "k", std::string(1000, 'x')});
  ASSERT_THAT(client.Run("SAVE"), Ok());
  EXPECT_GT(files_.Content("dump.rdb").size(), 1000u);
  EXPECT_TRUE(files_.Content("dump.rdb").ends_with(std::string(8, '\0')));
  EXPECT_EQ(OnDisk().size(), 1u);
  client.Run("CONFIG SET rdbcompression yes");
  ASSERT_THAT(client.Run("SAVE"), Ok());
  EXPECT_LT(files_.Content("dump.rdb").size(), 300u);
}

}  // namespace
}  // namespace respite
