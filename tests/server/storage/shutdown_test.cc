// Shutdown: what is saved, and what delays or prevents the shutdown.
#include "server/storage/shutdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tests/support/reply_matchers.h"
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
  files_.SetRoom(0);
  EXPECT_THAT(client.Run("SHUTDOWN"), Error(kFailed));
  EXPECT_EQ(server.StoppedWith(), std::nullopt);
  EXPECT_THAT(client.Run("GET k"), Bulk("v"));
  EXPECT_THAT(client.Run("SHUTDOWN FORCE"), NoReply());
  EXPECT_EQ(server.StoppedWith(), 0);
}

TEST_F(ShutdownTest, ReportsItsStatus) {
  std::vector<std::string> told;
  TestServer server = Start({"save 3600 1"});
  server->shutdown().OnStatus([&](const std::string& status) { told.push_back(status); });
  TestClient client(server);
  client.Run("SET k v");
  files_.SetRoom(0);
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
  server->shutdown().OnStatus([&](const std::string& status) { told.push_back(status); });
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

// Their effects would not be in the dump.
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
    server->shutdown().Signalled(one.signal);
    EXPECT_EQ(server.StoppedWith(), 0);
    EXPECT_EQ(Saved(), one.saves) << one.directives[0];
    files_.Remove("dump.rdb");
  }
}

TEST_F(ShutdownTest, AFailedSignalMayBeRepeated) {
  TestServer server = Start({"save 3600 1"});
  int cancelled = 0;
  server->shutdown().OnCancelled([&] { ++cancelled; });
  files_.SetRoom(0);
  server->shutdown().Signalled(SIGTERM);
  EXPECT_EQ(server.StoppedWith(), std::nullopt);
  EXPECT_EQ(cancelled, 1);
  server.Cron();
  EXPECT_EQ(cancelled, 1);  // one attempt for each signal
  files_.Recover();
  server->shutdown().Signalled(SIGTERM);
  EXPECT_EQ(server.StoppedWith(), 0);
}

TEST_F(ShutdownTest, AStoppedTimerKeepsASignalWaiting) {
  TestServer server = Start({"save 3600 1"});
  TestClient client(server);
  client.Run("DEBUG PAUSE-CRON 1");
  server->shutdown().Signalled(SIGTERM);
  server.Cron();
  EXPECT_EQ(server.StoppedWith(), std::nullopt);
  EXPECT_THAT(client.Run("SHUTDOWN ABORT"), Ok());
  EXPECT_THAT(client.Run("SHUTDOWN ABORT"), Error("ERR No shutdown in progress."));
  client.Run("DEBUG PAUSE-CRON 0");
  server.Cron();
  EXPECT_EQ(server.StoppedWith(), std::nullopt);
}

// A half-finished script must not be saved.
TEST_F(ShutdownTest, ASignalWaitsForAScriptIfSomethingIsSaved) {
  TestServer server = Start({"save 3600 1", "busy-reply-threshold 1"});
  TestClient client(server);
  int rounds = 0;
  server.Besides([&] {
    if (rounds++ == 0) server->shutdown().Signalled(SIGTERM);
  });
  server.clock().PassWithEachLook(1000);
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
