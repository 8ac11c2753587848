// Shutdown: what is saved, and what delays or prevents the shutdown.
#include "server/storage/shutdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

#include "tests/support/reply_matchers.h"
#include "tests/support/server_life.h"
#include "tests/support/test_client.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

using testing::ElementsAre;

constexpr char kFailed[] = "ERR Errors trying to SHUTDOWN. Check logs.";

class ShutdownTest : public testing::Test {
 protected:
  TestServer Start(std::vector<std::string> directives) {
    directives.emplace_back("enable-debug-command yes");
    return TestServer(TestServer::Options{.directives = std::move(directives), .files = &files_});
  }
  bool Saved() const { return files_.Has("dump.rdb"); }

  FaultyFiles files_;
};

TEST_F(ShutdownTest, SavesWithSavePointsOrOnRequest) {
  struct Case {
    const char* directive;
    const char* command;
    bool saves;
  };
  for (const Case& one : {Case{"save ''", "SHUTDOWN", false}, Case{"save ''", "SHUTDOWN SAVE", true},
                          Case{"save 3600 1", "SHUTDOWN", true}, Case{"save 3600 1", "SHUTDOWN NOW", true},
                          Case{"save 3600 1", "SHUTDOWN NOSAVE", false}}) {
    TestServer server = Start({one.directive});
    TestClient client(server);
    client.Run("SET k v");
    EXPECT_THAT(client.Run(one.command), NoReply());
    EXPECT_EQ(server.StoppedWith(), 0);
    EXPECT_EQ(Saved(), one.saves) << one.directive << " " << one.command;
    files_.Remove("dump.rdb");
  }
}

TEST_F(ShutdownTest, ContinuesWhenSavingFails) {
  TestServer server = Start({"save 3600 1"});
  TestClient client(server);
  client.Run("SET k v");
  files_.SetFreeBytes(0);
  EXPECT_THAT(client.Run("SHUTDOWN"), Error(kFailed));
  EXPECT_EQ(server.StoppedWith(), std::nullopt);
  EXPECT_THAT(client.Run("GET k"), Bulk("v"));
  EXPECT_THAT(client.Run("SHUTDOWN FORCE"), NoReply());
  EXPECT_EQ(server.StoppedWith(), 0);
}

TEST_F(ShutdownTest, ReportsItsStatus) {
  std::vector<std::string> told;
  TestServer server = Start({"save 3600 1"});
  server->services().storage.shutdown.SetStatusHandler([&](const std::string& status) { told.push_back(status); });
  TestClient client(server);
  client.Run("SET k v");
  files_.SetFreeBytes(0);
  client.Run("SHUTDOWN");
  EXPECT_THAT(told, ElementsAre("", "Saving the final RDB snapshot", "Error trying to save the DB, can't exit."));
  told.clear();
  client.Run("SHUTDOWN FORCE");
  EXPECT_THAT(told, ElementsAre("", "Saving the final RDB snapshot"));
}

// An append-only file without a base would lose the data set.
TEST_F(ShutdownTest, WaitsForTheFirstBaseUnlessForced) {
  std::vector<std::string> told;
  TestServer server = Start({"save ''"});
  server->services().storage.shutdown.SetStatusHandler([&](const std::string& status) { told.push_back(status); });
  TestClient client(server);
  client.Run("SET k v");
  server.forker().Hold();
  EXPECT_THAT(client.Run("CONFIG SET appendonly yes"), Ok());
  EXPECT_THAT(client.Run("SHUTDOWN NOW NOSAVE"), Error(kFailed));
  EXPECT_THAT(told, ElementsAre("", "Writing initial AOF, can't exit."));
  EXPECT_TRUE(server.forker().Runs());
  EXPECT_THAT(client.Run("SHUTDOWN FORCE"), NoReply());
  EXPECT_FALSE(server.forker().Runs());
  EXPECT_EQ(server.StoppedWith(), 0);
}

// A signal comes only one time, and its sender often sends SIGKILL soon. So the request is kept until the rewrite has
// ended.
TEST_F(ShutdownTest, ASignalWaitsForTheFirstBase) {
  std::vector<std::string> told;
  {
    TestServer server = Start({"save ''"});
    server->services().storage.shutdown.SetStatusHandler([&](const std::string& status) { told.push_back(status); });
    TestClient client(server);
    client.Run("SET k v");
    server.forker().Hold();
    EXPECT_THAT(client.Run("CONFIG SET appendonly yes"), Ok());
    server->services().storage.shutdown.HandleSignal(SIGTERM);
    EXPECT_THAT(client.Run("SET during w"), Ok());
    server.Cron();
    EXPECT_EQ(server.StoppedWith(), std::nullopt);
    EXPECT_TRUE(server.forker().Runs());
    server.forker().Release();
    server.Cron();
    server.Cron();
    EXPECT_EQ(server.StoppedWith(), 0);
  }
  EXPECT_THAT(told, ElementsAre("Writing initial AOF", ""));
  ServerLife next(files_, {"appendonly yes"});
  EXPECT_EQ(next.outcome(), LoadOutcome::kLoaded);
  EXPECT_EQ(next.Data().size(), 2u);
}

// The rewrite waits for a snapshot, which a shutdown does not need.
TEST_F(ShutdownTest, ASignalStartsAFirstRewriteThatIsScheduled) {
  {
    TestServer server = Start({"save ''"});
    TestClient client(server);
    client.Run("SET k v");
    server.forker().Hold();
    client.Run("BGSAVE");
    EXPECT_THAT(client.Run("CONFIG SET appendonly yes"), Ok());
    EXPECT_THAT(client.Run("SHUTDOWN"), Error(kFailed));
    client.Run("BGSAVE");
    server->services().storage.shutdown.HandleSignal(SIGTERM);
    server.forker().Release();
    for (int i = 0; i < 3; ++i) server.Cron();
    EXPECT_EQ(server.StoppedWith(), 0);
  }
  ServerLife next(files_, {"appendonly yes"});
  EXPECT_EQ(next.outcome(), LoadOutcome::kLoaded);
  EXPECT_EQ(next.Data().size(), 1u);
}

TEST_F(ShutdownTest, ASignalIsRefusedIfTheFirstRewriteFails) {
  int cancelled = 0;
  TestServer server = Start({"save ''"});
  server->services().storage.shutdown.SetCancellationHandler([&] { ++cancelled; });
  TestClient client(server);
  client.Run("SET k v");
  server.forker().Hold();
  EXPECT_THAT(client.Run("CONFIG SET appendonly yes"), Ok());
  server->services().storage.shutdown.HandleSignal(SIGTERM);
  server.forker().Crash(9);
  server.Cron();
  server.Cron();
  EXPECT_EQ(server.StoppedWith(), std::nullopt);
  EXPECT_EQ(cancelled, 1);
  // The next signal waits for the next rewrite.
  server->services().storage.shutdown.HandleSignal(SIGTERM);
  server.forker().Release();
  for (int i = 0; i < 3; ++i) server.Cron();
  EXPECT_EQ(server.StoppedWith(), 0);
}

TEST_F(ShutdownTest, AForcedSignalWaitsForNothing) {
  TestServer server = Start({"save ''", "shutdown-on-sigterm force"});
  TestClient client(server);
  server.forker().Hold();
  EXPECT_THAT(client.Run("CONFIG SET appendonly yes"), Ok());
  server->services().storage.shutdown.HandleSignal(SIGTERM);
  EXPECT_EQ(server.StoppedWith(), 0);
  EXPECT_FALSE(server.forker().Runs());
}

TEST_F(ShutdownTest, ContinuesWhenTheAppendOnlyFileCannotBeSynced) {
  for (const char* policy : {"everysec", "no"}) {
    SCOPED_TRACE(policy);
    std::vector<std::string> told;
    ServerLife life(files_, {"appendonly yes", "save ''", std::string("appendfsync ") + policy});
    TestServer& server = life.server();
    server->services().storage.shutdown.SetStatusHandler([&](const std::string& status) { told.push_back(status); });
    EXPECT_THAT(life.Run("SET k v"), Ok());
    files_.FailFrom(FaultyFiles::Operation::kSync, 1, EIO);
    EXPECT_THAT(life.Run("SHUTDOWN NOW NOSAVE"), Error(kFailed));
    EXPECT_THAT(told, ElementsAre("", "Error trying to sync the AOF, can't exit."));
    server->services().storage.shutdown.HandleSignal(SIGTERM);
    EXPECT_EQ(server.StoppedWith(), std::nullopt);
    EXPECT_THAT(life.Run("GET k"), Bulk("v"));
    files_.Recover();
    EXPECT_THAT(life.Run("SHUTDOWN"), NoReply());
    EXPECT_EQ(server.StoppedWith(), 0);
  }
  ServerLife forced(files_, {"appendonly yes", "save ''"});
  EXPECT_THAT(forced.Run("SET k w"), Ok());
  files_.FailFrom(FaultyFiles::Operation::kSync, 1, EIO);
  EXPECT_THAT(forced.Run("SHUTDOWN FORCE"), NoReply());
  EXPECT_EQ(forced.server().StoppedWith(), 0);
}

TEST_F(ShutdownTest, ContinuesWhenTheAppendOnlyFileCannotBeWritten) {
  {
    ServerLife life(files_, {"appendonly yes", "save ''"});
    files_.SetFreeBytes(0);
    EXPECT_THAT(life.Run("SET k v"), Ok());  // acknowledged, although its record waits for disk space
    EXPECT_THAT(life.Run("SHUTDOWN"), Error(kFailed));
    EXPECT_EQ(life.server().StoppedWith(), std::nullopt);
    files_.Recover();
    EXPECT_THAT(life.Run("SHUTDOWN"), NoReply());
    EXPECT_EQ(life.server().StoppedWith(), 0);
  }
  ServerLife next(files_, {"appendonly yes"});
  EXPECT_EQ(next.Data().size(), 1u);
}

// Under `always`, no reply to a write leaves before its sync; after a failure the server ends.
TEST_F(ShutdownTest, AFailedSyncUnderAlwaysEndsTheServerWithAnError) {
  ServerLife life(files_, {"appendonly yes", "save ''", "appendfsync always"});
  files_.FailAt(FaultyFiles::Operation::kSync, 1, EIO);
  EXPECT_EQ(life.client().Raw(EncodeRequest({"SET", "k", "v"}) + EncodeRequest({"SHUTDOWN", "NOW"})), "");
  EXPECT_EQ(life.server().StoppedWith(), 1);
}

TEST_F(ShutdownTest, EndsTheChildFirst) {
  TestServer server = Start({"save 3600 1"});
  TestClient client(server);
  server.forker().Hold();
  client.Run("BGSAVE");
  files_.Put("temp-4242.rdb", "REDIS");
  EXPECT_THAT(client.Run("SHUTDOWN NOSAVE"), NoReply());
  EXPECT_FALSE(server.forker().Runs());
  EXPECT_FALSE(files_.Has("temp-4242.rdb"));
}

TEST_F(ShutdownTest, NoSaveEndsAllScriptsOfATransaction) {
  ServerLife life(files_, {"busy-reply-threshold 100", "appendonly yes"});
  TestServer& server = life.server();
  server.clock().AdvanceWithEachReading(1000);
  TestClient& client = life.client();
  TestClient other(server);
  int rounds = 0;
  server.DuringLongTasks([&] {
    if (++rounds == 1) other.Run("SHUTDOWN NOSAVE");
  });
  client.Run("MULTI");
  for (const char* key : {"a", "b", "c"}) {
    client.Run({"EVAL", "redis.call('SET', KEYS[1], 1) while true do end", "1", key});
  }
  client.Run("EXEC");
  EXPECT_EQ(rounds, 1);
  EXPECT_EQ(server.StoppedWith(), 0);
  ServerLife next(files_, {"appendonly yes"});
  EXPECT_EQ(next.Data().size(), 0u);
}

// The effects of these commands would not be in the dump.
TEST_F(ShutdownTest, NoCommandRunsAfterIt) {
  TestServer server = Start({"save 3600 1"});
  TestClient client(server);
  TestClient other(server);
  EXPECT_THAT(client.Run("SHUTDOWN"), NoReply());
  EXPECT_THAT(other.Run("SET k v"), NoReply());
  EXPECT_EQ(SnapshotOf(*server).size(), 0u);
}

TEST_F(ShutdownTest, SignalsDoWhatTheDirectivesSay) {
  struct Case {
    std::vector<std::string> directives;
    int signal;
    bool saves;
  };
  for (const Case& one : {Case{{"save ''", "shutdown-on-sigterm save"}, SIGTERM, true},
                          Case{{"save 3600 1", "shutdown-on-sigint nosave"}, SIGINT, false},
                          Case{{"save 3600 1", "shutdown-on-sigint nosave"}, SIGTERM, true}}) {
    TestServer server = Start(one.directives);
    server->services().storage.shutdown.HandleSignal(one.signal);
    EXPECT_EQ(server.StoppedWith(), 0);
    EXPECT_EQ(Saved(), one.saves) << one.directives[0];
    files_.Remove("dump.rdb");
  }
}

TEST_F(ShutdownTest, AFailedSignalMayBeRepeated) {
  TestServer server = Start({"save 3600 1"});
  int cancelled = 0;
  server->services().storage.shutdown.SetCancellationHandler([&] { ++cancelled; });
  files_.SetFreeBytes(0);
  server->services().storage.shutdown.HandleSignal(SIGTERM);
  EXPECT_EQ(server.StoppedWith(), std::nullopt);
  EXPECT_EQ(cancelled, 1);
  server.Cron();
  EXPECT_EQ(cancelled, 1);  // one attempt for each signal
  files_.Recover();
  server->services().storage.shutdown.HandleSignal(SIGTERM);
  EXPECT_EQ(server.StoppedWith(), 0);
}

TEST_F(ShutdownTest, AStoppedTimerKeepsASignalWaiting) {
  TestServer server = Start({"save 3600 1"});
  TestClient client(server);
  client.Run("DEBUG PAUSE-CRON 1");
  server->services().storage.shutdown.HandleSignal(SIGTERM);
  server.Cron();
  EXPECT_EQ(server.StoppedWith(), std::nullopt);
  EXPECT_THAT(client.Run("SHUTDOWN ABORT"), Ok());
  EXPECT_THAT(client.Run("SHUTDOWN ABORT"), Error("ERR No shutdown in progress."));
  client.Run("DEBUG PAUSE-CRON 0");
  server.Cron();
  EXPECT_EQ(server.StoppedWith(), std::nullopt);
}

// The effects of half a script must not be saved.
TEST_F(ShutdownTest, ASignalWaitsForAScriptIfSomethingIsSaved) {
  TestServer server = Start({"save 3600 1", "busy-reply-threshold 1"});
  TestClient client(server);
  int rounds = 0;
  server.DuringLongTasks([&] {
    if (rounds++ == 0) server->services().storage.shutdown.HandleSignal(SIGTERM);
  });
  server.clock().AdvanceWithEachReading(1000);
  client.Run({"EVAL", "redis.call('SET', 'a', 1) for i = 1, 30000000 do end redis.call('SET', 'b', 1)", "0"});
  ASSERT_GT(rounds, 0);
  server.Cron();
  EXPECT_EQ(server.StoppedWith(), 0);
  TestServer next = Start({});
  ASSERT_EQ(next.Load(), LoadOutcome::kLoaded);
  EXPECT_EQ(SnapshotOf(*next).size(), 2u);
}

}  // namespace
}  // namespace respite
