// Loading: replies while the data set is loaded, and damaged files.
#include "server/storage/loading.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <functional>

#include "base/str_cat.h"
#include "server/storage/data_set.h"
#include "tests/support/reply_matchers.h"
#include "tests/support/server_life.h"
#include "tests/support/test_client.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kLoading[] = "LOADING Redis is loading the dataset in memory";

class LoadingTest : public testing::Test {
 protected:
  TestServer Start(std::vector<std::string> directives = {}) {
    directives.emplace_back("enable-debug-command yes");
    return TestServer(TestServer::Options{.directives = std::move(directives), .files = &files_});
  }
  // Saves a dump that takes several rounds of events to load.
  Snapshot SaveSome() {
    TestServer server = Start({"rdbcompression no"});
    TestClient client(server);
    for (int i = 0; i < 20; ++i) client.Run({"SET", StrCat("key", i), std::string(1000, 'x')});
    EXPECT_THAT(client.Run("SAVE"), Ok());
    return SnapshotOf(*server);
  }
  // Loads while a client runs `others` in between.
  LoadOutcome LoadWhile(TestServer& server, std::function<void()> others) {
    int rounds = 0;
    server.DuringLongTasks([&] {
      if (rounds++ == 0) others();
    });
    const LoadOutcome outcome = server.Load();
    EXPECT_GT(rounds, 0);
    return outcome;
  }

  FaultyFiles files_;
};

const std::vector<std::string> kOften = {"loading-process-events-interval-bytes 1024"};

TEST_F(LoadingTest, ClientsAreToldToWait) {
  const Snapshot saved = SaveSome();
  TestServer server = Start(kOften);
  TestClient client(server);
  const auto others = [&] {
    EXPECT_THAT(client.Run("GET key1"), Error(kLoading));
    EXPECT_THAT(client.Run("SET key1 x"), Error(kLoading));
    EXPECT_THAT(client.Run("PING"), Error(kLoading));
    EXPECT_THAT(client.Run("SAVE"), Error(kLoading));
    EXPECT_THAT(client.Run("DEBUG RELOAD"), Error(kLoading));
    EXPECT_THAT(client.Run("DEBUG POPULATE 10"), Error(kLoading));
    EXPECT_THAT(client.Run("SELECT 1"), Ok());
    EXPECT_THAT(client.Run("CONFIG SET appendonly yes"), Error(kLoading));
    const std::string info = client.Run("INFO persistence").Text();
    EXPECT_THAT(info, HasSubstr("\r\nloading:1\r\n"));
    EXPECT_THAT(info, HasSubstr(StrCat("\r\nloading_total_bytes:", files_.Content("dump.rdb").size(), "\r\n")));
    EXPECT_THAT(info, HasSubstr("\r\nloading_start_time:1700000000\r\n"));
    EXPECT_THAT(info, Not(HasSubstr("\r\nloading_rdb_used_mem:0\r\n")));
    EXPECT_THAT(info, Not(HasSubstr("\r\nloading_loaded_perc:0.00\r\n")));
    EXPECT_THAT(info, HasSubstr("\r\nloading_eta_seconds:1\r\n"));
  };
  EXPECT_EQ(LoadWhile(server, others), LoadOutcome::kLoaded);
  EXPECT_EQ(SnapshotDifference(saved, SnapshotOf(*server)), "");
  const std::string info = client.Run("INFO persistence").Text();
  EXPECT_THAT(info, HasSubstr("\r\nloading:0\r\n"));
  EXPECT_THAT(info, Not(HasSubstr("loading_start_time")));
  client.Run("SELECT 0");
  EXPECT_THAT(client.Run("STRLEN key1"), Int(1000));
}

// Returns the lines about progress that a server logs while `load` runs.
std::vector<std::string> ProgressOf(TestServer::Options options, const std::function<void(TestServer&)>& load) {
  const std::string log = testing::TempDir() + "/" + testing::UnitTest::GetInstance()->current_test_info()->name();
  std::remove(log.c_str());
  options.log_file = log;
  TestServer server(options);
  load(server);
  std::ifstream file(log);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    const size_t start = line.find("Loading: ");
    if (start != std::string::npos) lines.push_back(line.substr(start));
  }
  std::remove(log.c_str());
  return lines;
}

// Returns a function that loads the data set, with this duration of each round of events.
std::function<void(TestServer&)> LoadAtPace(int64_t round_ms) {
  return [round_ms](TestServer& server) {
    server.DuringLongTasks([&] { server.clock().AdvanceMs(round_ms); });
    EXPECT_EQ(LoadDataAtStartup(server->services()), LoadOutcome::kLoaded);
  };
}

TEST_F(LoadingTest, TheLogShowsProgress) {
  {
    TestServer server = Start({"rdbcompression no"});
    TestClient client(server);
    for (int i = 0; i < 4000; ++i) client.Run({"SET", StrCat("key", i), std::string(1 << 10, 'x')});
    EXPECT_THAT(client.Run("SAVE"), Ok());
  }
  const TestServer::Options often = {.directives = {"loading-process-events-interval-bytes 524288"}, .files = &files_};
  const auto lines = ProgressOf(often, LoadAtPace(3000));
  ASSERT_EQ(lines.size(), 3u);  // after 6, 12 and 18 of 21 seconds
  EXPECT_THAT(lines[0], testing::StartsWith("Loading: 3"));
  EXPECT_THAT(lines[1],
              testing::MatchesRegex(
                  "Loading: 63.. %, 2.5 of 3.9 MB, about 6 s left, 25[0-9][0-9] keys \\(21[0-9] per second\\)"));
  EXPECT_THAT(ProgressOf(often, LoadAtPace(600)), testing::IsEmpty());
}

TEST_F(LoadingTest, TheLogShowsProgressOfAnAppendOnlyFile) {
  {
    TestServer server = Start({"appendonly yes"});
    ASSERT_EQ(LoadDataAtStartup(server->services()), LoadOutcome::kAbsent);
    TestClient client(server);
    for (int i = 0; i < 100; ++i) client.Run({"SET", StrCat("key", i), std::string(1 << 14, 'x')});
  }
  const auto lines =
      ProgressOf({.directives = {"appendonly yes", "loading-process-events-interval-bytes 262144"}, .files = &files_},
                 LoadAtPace(5000));
  ASSERT_GE(lines.size(), 3u);
  EXPECT_THAT(lines[1], testing::MatchesRegex("Loading: [0-9.]+ %, 0.[0-9] of 1.6 MB, about [0-9]+ s left"));
}

// A snapshot that a primary sends through a pipe, and that a replica loads in several turns.
TEST_F(LoadingTest, TheLogShowsProgressWithoutATotal) {
  const auto lines = ProgressOf({}, [](TestServer& server) {
    server->services().storage.loading.Begin(0, ServerPhase::Load::kOverTurns);
    for (uint64_t megabytes = 1; megabytes <= 4; ++megabytes) {
      server.clock().AdvanceMs(2500);
      server->services().storage.loading.CountKeys(1000, 0);
      EXPECT_EQ(server->services().storage.loading.Advance(megabytes << 20), Loading::Order::kContinue);
    }
    server->services().storage.loading.End();
  });
  EXPECT_THAT(lines, testing::ElementsAre("Loading: 2.0 MB, 2000 keys (400 per second)",
                                          "Loading: 4.0 MB, 4000 keys (400 per second)"));
}

TEST_F(LoadingTest, ATransactionQueuedBeforeRunsWhenItCan) {
  SaveSome();
  TestServer server = Start(kOften);
  TestClient client(server);
  TestClient harmless(server);
  client.Run("MULTI");
  client.Run("SET key1 x");
  harmless.Run("MULTI");
  harmless.Run("LASTSAVE");
  LoadWhile(server, [&] {
    EXPECT_THAT(client.Run("EXEC"), Error("EXECABORT Transaction discarded because of: " + std::string(kLoading)));
    EXPECT_THAT(harmless.Run("EXEC"), ArrayOf(IntThat(testing::Gt(0))));
  });
}

TEST_F(LoadingTest, TimersStandStill) {
  SaveSome();
  TestServer server = Start(kOften);
  TestClient client(server);
  LoadWhile(server, [&] {
    const uint64_t before = server->services().env.stats.timer_us;
    server.clock().AdvanceWithEachReading(10);
    server->housekeeping().Tick();
    server.clock().AdvanceWithEachReading(0);
    EXPECT_EQ(server->services().env.stats.timer_us, before);
  });
}

TEST_F(LoadingTest, ShutdownEndsItAndSavesNothing) {
  SaveSome();
  const std::string dump = files_.Content("dump.rdb");
  auto directives = kOften;
  directives.emplace_back("save 3600 1");
  TestServer server = Start(directives);
  TestClient client(server);
  EXPECT_EQ(LoadWhile(server, [&] { EXPECT_THAT(client.Run("SHUTDOWN SAVE"), NoReply()); }), LoadOutcome::kStopped);
  EXPECT_EQ(server.StoppedWith(), 0);
  EXPECT_EQ(files_.Content("dump.rdb"), dump);
}

TEST_F(LoadingTest, ASignalEndsItAndSavesNothing) {
  SaveSome();
  auto directives = kOften;
  directives.emplace_back("save 3600 1");
  TestServer server = Start(directives);
  EXPECT_EQ(LoadWhile(server, [&] { server->services().storage.shutdown.HandleSignal(SIGTERM); }),
            LoadOutcome::kStopped);
  EXPECT_EQ(server.StoppedWith(), 0);
}

TEST_F(LoadingTest, NoDumpIsAnEmptyDataSet) {
  TestServer server = Start();
  EXPECT_EQ(server.Load(), LoadOutcome::kAbsent);
  EXPECT_FALSE(server->services().storage.loading.IsActive());
}

TEST_F(LoadingTest, WhatHasExpiredMeanwhileIsLeftOut) {
  {
    TestServer server = Start();
    TestClient client(server);
    client.Run("SET gone v PX 1000");
    client.Run("SET stays v PX 100000");
    client.Run("SET plain v");
    client.Run("SAVE");
  }
  TestServer::Options options{.files = &files_};
  options.wall_ms += 2000;
  TestServer server(options);
  TestClient client(server);
  ASSERT_EQ(server.Load(), LoadOutcome::kLoaded);
  EXPECT_THAT(client.Run("DBSIZE"), Int(2));
  const std::string info = client.Run("INFO persistence").Text();
  EXPECT_THAT(info, HasSubstr("rdb_last_load_keys_expired:1\r\n"));
  EXPECT_THAT(info, HasSubstr("rdb_last_load_keys_loaded:2\r\n"));
}

TEST_F(LoadingTest, ADumpCutAnywhereIsRefused) {
  SaveSome();
  const std::string dump = files_.Content("dump.rdb");
  for (size_t size = 0; size < dump.size(); size += size < 200 ? 1 : 997) {
    files_.Put("dump.rdb", Bytes(dump).substr(0, size));
    TestServer server = Start();
    EXPECT_EQ(server.Load(), LoadOutcome::kFailed) << size;
  }
}

TEST_F(LoadingTest, AFileThatIsNoDumpIsNamed) {
  files_.Put("dump.rdb", "\x1f\x8b\x08gz");
  ServerLife life(files_, {});
  EXPECT_EQ(life.outcome(), LoadOutcome::kFailed);
  EXPECT_THAT(life.Log(), HasSubstr("The file dump.rdb is compressed by gzip."));
}

TEST_F(LoadingTest, AWrongChecksumIsRefusedUnlessChecksAreOff) {
  SaveSome();
  std::string dump = files_.Content("dump.rdb");
  dump.back() = static_cast<char>(dump.back() ^ 1);
  files_.Put("dump.rdb", dump);
  EXPECT_EQ(Start().Load(), LoadOutcome::kFailed);
  EXPECT_EQ(Start({"rdbchecksum no"}).Load(), LoadOutcome::kLoaded);
}

TEST_F(LoadingTest, ReloadKeepsTheDataSet) {
  TestServer server = Start();
  TestClient client(server);
  client.Run("SET a 1 EX 100");
  client.Run("SELECT 5");
  client.Run("ZADD z 1 a 2 b");
  client.Run({"FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return 7 end)"});
  const Snapshot before = SnapshotOf(*server);
  EXPECT_THAT(client.Run("DEBUG RELOAD"), Ok());
  EXPECT_EQ(SnapshotDifference(before, SnapshotOf(*server)), "");
  EXPECT_THAT(client.Run("FCALL f 0"), Int(7));
  EXPECT_THAT(client.Run("INFO persistence").Text(), HasSubstr("rdb_changes_since_last_save:0\r\n"));
  EXPECT_TRUE(server.journal().Lines().size() == 3u);  // loading counts no changes
}

TEST_F(LoadingTest, ReloadChecksItsOptions) {
  TestServer server = Start();
  TestClient client(server);
  client.Run("SET a 1");
  EXPECT_THAT(client.Run("DEBUG RELOAD NOW"),
              Error("ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options."));
  EXPECT_THAT(client.Run("DEBUG RELOAD NOSAVE"), Error("ERR Error trying to load the RDB dump, check server logs."));
  EXPECT_THAT(client.Run("GET a"), Bulk("1"));
  client.Run("SAVE");
  client.Run("SET a 2");
  client.Run("SET b 2");
  EXPECT_THAT(client.Run("DEBUG RELOAD NOSAVE NOFLUSH"),
              Error("ERR Error trying to load the RDB dump, check server logs."));  // `a` is there twice
  EXPECT_THAT(client.Run("DEBUG RELOAD NOSAVE NOFLUSH MERGE"), Ok());
  EXPECT_THAT(client.Run("MGET a b"), Bulks({"1", "2"}));
  EXPECT_THAT(client.Run("DEBUG RELOAD NOSAVE"), Ok());
  EXPECT_THAT(client.Run("EXISTS a b"), Int(1));
}

TEST_F(LoadingTest, ReloadOfABadDumpChangesNothing) {
  TestServer server = Start();
  TestClient client(server);
  client.Run("SET a 1");
  client.Run({"FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return 7 end)"});
  client.Run("SAVE");
  std::string dump = files_.Content("dump.rdb");
  dump.back() = static_cast<char>(dump.back() ^ 1);
  files_.Put("dump.rdb", dump);
  client.Run("SET b 1");
  const Snapshot before = SnapshotOf(*server);
  EXPECT_THAT(client.Run("DEBUG RELOAD NOSAVE"), Error("ERR Error trying to load the RDB dump, check server logs."));
  EXPECT_EQ(SnapshotDifference(before, SnapshotOf(*server)), "");
  EXPECT_THAT(client.Run("FCALL f 0"), Int(7));
  files_.SetFreeBytes(0);
  EXPECT_THAT(client.Run("DEBUG RELOAD"), Error("ERR"));
  EXPECT_EQ(SnapshotDifference(before, SnapshotOf(*server)), "");
}

TEST_F(LoadingTest, ReloadServesOthers) {
  TestServer server = Start({"loading-process-events-interval-bytes 1024", "rdbcompression no"});
  TestClient client(server);
  TestClient other(server);
  TestClient waiter(server);
  for (int i = 0; i < 20; ++i) client.Run({"SET", StrCat("key", i), std::string(1000, 'x')});
  EXPECT_THAT(waiter.Run("BLPOP list 0"), NoReply());
  int rounds = 0;
  server.DuringLongTasks([&] {
    if (rounds++ != 0) return;
    EXPECT_THAT(other.Run("GET key1"), Error(kLoading));
    EXPECT_THAT(other.Run("CLIENT ID"), IntThat(testing::Gt(0)));
    EXPECT_TRUE(server->services().env.phase.PausesInputOf(client.session()));
    EXPECT_FALSE(server->services().env.phase.PausesInputOf(other.session()));
  });
  EXPECT_THAT(client.Run("DEBUG RELOAD"), Ok());
  EXPECT_GT(rounds, 0);
  EXPECT_FALSE(server->services().env.phase.PausesInputOf(client.session()));
  EXPECT_THAT(other.Run("STRLEN key1"), Int(1000));
  other.Run("RPUSH list x");
  EXPECT_THAT(waiter.Read(), Bulks({"list", "x"}));
}

TEST_F(LoadingTest, ReloadTouchesWatchedKeys) {
  TestServer server = Start();
  TestClient client(server);
  TestClient watcher(server);
  client.Run("SET a 1");
  watcher.Run("WATCH a");
  client.Run("DEBUG RELOAD");
  watcher.Run("MULTI");
  watcher.Run("GET a");
  EXPECT_THAT(watcher.Run("EXEC"), NilArray());
}

TEST_F(LoadingTest, KeysKeepWhatEvictionKnowsOfThem) {
  TestServer server = Start({"maxmemory-policy allkeys-lru"});
  TestClient client(server);
  client.Run("SET a 1");
  server.AdvanceMs(5000);
  client.Run("DEBUG RELOAD");
  EXPECT_THAT(client.Run("OBJECT IDLETIME a"), Int(5));
}

TEST(RdbHints, AreLimitedByTheLengthOfTheFile) {
  FaultyFiles files;
  const std::string most(8, '\x7f');
  files.Put("dump.rdb", "REDIS0011\xfe" + std::string(1, '\0') + "\xfb\x81" + most + "\x81" + most +
                            std::string("\0\x01k\x01v\xff", 6) + std::string(8, '\0'));
  TestServer server(TestServer::Options{.files = &files});
  EXPECT_EQ(LoadDataAtStartup(server->services()), LoadOutcome::kLoaded);
  EXPECT_EQ(server->services().data.dataset.keyspace[0].Size(), 1u);
}

}  // namespace
}  // namespace respite
