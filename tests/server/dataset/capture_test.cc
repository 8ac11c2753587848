#include "server/dataset/capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/str_cat.h"
#include "server/dataset/data_subsystem.h"
#include "tests/support/rewrite_check.h"
#include "tests/support/test_client.h"
#include "tests/support/test_server.h"

namespace respite {
namespace {

// Creates values of every type, small and large, with deadlines of keys and fields, in two databases.
void Fill(TestClient& client) {
  client.Run({"SET", "long", std::string(100'000, 'x')});
  client.Run("SET n 12");
  client.Run("SET timed v EX 100");
  client.Run("HSET small f 1 g 2");
  client.Run("HEXPIRE small 50 FIELDS 1 f");
  for (int i = 0; i < 1000; ++i) {
    const std::string name = StrCat("m", i);
    client.Run({"HSET", "hash", name, name});
    client.Run({"SADD", "set", name});
    client.Run({"ZADD", "sorted", std::to_string(i), name});
    client.Run({"RPUSH", "list", name});
    client.Run({"XADD", "stream", "*", "f", name});
  }
  client.Run("HEXPIRE hash 70 FIELDS 2 m1 m2");
  client.Run("XGROUP CREATE stream g 0");
  client.Run("XREADGROUP GROUP g c COUNT 10 STREAMS stream >");
  client.Run("SELECT 3");
  client.Run("SET other v");
  client.Run("SELECT 0");
}

class CaptureTest : public testing::Test {
 protected:
  CaptureTest() { Fill(client_); }
  std::string DifferenceTo(const Snapshot& before) { return SnapshotDifference(before, SnapshotOf(*server_)); }

  TestServer server_;
  TestClient client_{server_};
};

TEST_F(CaptureTest, WhatWasTakenComesBackWhole) {
  const Snapshot before = SnapshotOf(*server_);
  const std::string groups = testing::PrintToString(client_.Run("XINFO STREAM stream FULL"));
  Capture capture = Capture::Take(server_->services().data.dataset);
  client_.Run("RPUSH list other");
  std::move(capture).Restore(server_->services().data.dataset);
  EXPECT_EQ(DifferenceTo(before), "");
  EXPECT_EQ(testing::PrintToString(client_.Run("XINFO STREAM stream FULL")), groups);
}

TEST_F(CaptureTest, DeadlinesAreBackToo) {
  Capture capture = Capture::Take(server_->services().data.dataset);
  server_.clock().AdvanceMs(120'000);
  std::move(capture).Restore(server_->services().data.dataset);
  EXPECT_EQ(server_->services().data.dataset.keyspace[0].CountKeysWithDeadline(), 1u);
  EXPECT_EQ(server_->services().data.dataset.keyspace[0].HashesWithFieldDeadlines().Size(), 2u);
  server_.RunCronFor(1000);
  EXPECT_EQ(server_->services().data.dataset.keyspace[0].CountKeysWithDeadline(), 0u)
      << "its time is over all the same";
}

TEST_F(CaptureTest, WhatIsTakenLeavesNothingBehind) {
  const Snapshot before = SnapshotOf(*server_);
  Capture capture = Capture::Take(server_->services().data.dataset);
  EXPECT_EQ(capture.Keys(), before.size());
  EXPECT_EQ(client_.Run("DBSIZE").Integer(), 0);
  client_.Run("SET new v");
  const Capture replaced = std::move(capture).Restore(server_->services().data.dataset);
  EXPECT_EQ(DifferenceTo(before), "");
  EXPECT_EQ(replaced.Keys(), 1u);
}

// The code of a library whose function `name` returns `value`.
std::string Library(const std::string& name, int value) {
  return StrCat("#!lua name=", name, "\nredis.register_function('", name, "', function() return ", value, " end)");
}

TEST_F(CaptureTest, TakenFunctionsAreGoneAndComeBack) {
  client_.Run({"FUNCTION", "LOAD", Library("one", 1)});
  const std::string payload = client_.Run("FUNCTION DUMP").Text();
  Capture capture = Capture::Take(server_->services().data.dataset);
  EXPECT_EQ(capture.FunctionCount(), 1u);
  EXPECT_TRUE(server_->services().execution.function_libraries.All().empty());
  client_.Run({"FUNCTION", "LOAD", Library("one", 6)});
  Capture replaced = std::move(capture).Restore(server_->services().data.dataset);
  EXPECT_EQ(client_.Run("FCALL one 0").Integer(), 1);
  EXPECT_EQ(client_.Run("FUNCTION DUMP").Text(), payload);
  std::move(replaced).Restore(server_->services().data.dataset);
  EXPECT_EQ(client_.Run("FCALL one 0").Integer(), 6);
}

TEST_F(CaptureTest, WithoutFunctionsItRemovesThose) {
  Capture capture = Capture::Take(server_->services().data.dataset);
  EXPECT_EQ(capture.FunctionCount(), 0u);
  client_.Run({"FUNCTION", "LOAD", Library("one", 1)});
  std::move(capture).Restore(server_->services().data.dataset);
  EXPECT_TRUE(server_->services().execution.function_libraries.All().empty());
}

// A snapshot of TEST SNAPSHOT uses the same Lua state, so no other thread may free the functions.
TEST_F(CaptureTest, FunctionsOfASnapshotAreNotLeftToTheOtherThread) {
  client_.Run({"FUNCTION", "LOAD", Library("one", 1)});
  const FunctionLibraries::Contents snapshot = server_->services().execution.function_libraries.Copy();
  const Capture capture = Capture::Take(server_->services().data.dataset);
  EXPECT_FALSE(capture.FunctionsMayBeFreedByOtherThread());
}

TEST_F(CaptureTest, AllOfItIsFreed) {
  client_.Run({"FUNCTION", "LOAD", Library("one", 1)});
  server_->services().data.lazy_free.Free(Capture::Take(server_->services().data.dataset), FreeMode::kLater);
  EXPECT_EQ(client_.Run("DBSIZE").Integer(), 0);
  EXPECT_TRUE(server_->services().execution.function_libraries.All().empty());
}

TEST_F(CaptureTest, ListenersHearOfIt) {
  TestClient watcher(server_);
  watcher.Run("WATCH n");
  Capture capture = Capture::Take(server_->services().data.dataset);
  std::move(capture).Restore(server_->services().data.dataset);
  watcher.Run("MULTI");
  watcher.Run("PING");
  EXPECT_TRUE(watcher.Run("EXEC").tree->IsNull());
}

}  // namespace
}  // namespace respite
