#include "server/storage/fsync_guarantee.h"

#include <gtest/gtest.h>

#include "base/str_cat.h"
#include "server/storage/append_only_file.h"
#include "tests/support/reply_matchers.h"
#include "tests/support/server_life.h"

namespace respite {
namespace {

TEST(SyncPromiseTest, EachPolicyKeepsWhatIsOldEnough) {
  FsyncGuarantee promise;
  promise.NoteWrite(0, 10);
  promise.NoteWrite(500, 20);
  promise.NoteWrite(500, 30);  // in the same millisecond
  promise.NoteWrite(20'000, 40);
  const auto durable = [&](AppendFsync policy, int64_t now_ms) { return promise.DurableBytes(policy, now_ms, 50); };
  EXPECT_EQ(durable(AppendFsync::kAlways, 20'000), 50U);
  EXPECT_EQ(durable(AppendFsync::kEverySecond, 20'999), 40U);
  EXPECT_EQ(durable(AppendFsync::kEverySecond, 21'000), 50U);
  EXPECT_EQ(durable(AppendFsync::kNever, 29'999), 10U);
  EXPECT_EQ(durable(AppendFsync::kNever, 30'000), 20U);
  EXPECT_EQ(durable(AppendFsync::kNever, 30'500), 40U);
  EXPECT_EQ(durable(AppendFsync::kNever, 50'000), 50U);
}

TEST(SyncPromiseTest, WhatIsOldIsForgotten) {
  FsyncGuarantee promise;
  promise.NoteWrite(0, 10);
  promise.NoteWrite(30'000, 20);
  EXPECT_EQ(promise.DurableBytes(AppendFsync::kNever, 30'001, 30), 20U);
  promise.BeginFile();
  EXPECT_EQ(promise.DurableBytes(AppendFsync::kNever, 30'001, 5), 5U);
}

class CrashedFileTest : public testing::Test {
 protected:
  // Returns the keys that the next start finds after a server wrote `old`, then `late` half a minute later, and `last`
  // a second after that.
  std::string KeysAfter(AppendFsync policy) {
    FaultyFiles files;
    {
      ServerLife life(files, kDirectives);
      life.Run("SET old 1");
      Pass(life, 29'000);
      life.Run("MULTI");
      life.Run("SET late 1");
      life.Run("SELECT 3");
      life.Run("SET late 1");
      life.Run("EXEC");
      life.Run("SELECT 0");
      Pass(life, 1000);
      life.Run("SET last 1");
      EXPECT_EQ(life.server()->services().storage.aof.SimulateCrash(policy), kNoError);
      life.Run("SET lost 1");
    }
    ServerLife next(files, kDirectives);
    EXPECT_EQ(next.outcome(), LoadOutcome::kLoaded);
    const std::string keys = std::to_string(next.Run("EXISTS old late last lost").Integer());
    next.Run("SELECT 3");
    return StrCat(keys, " and ", next.Run("EXISTS late").Integer());
  }
  static void Pass(ServerLife& life, int64_t elapsed_ms) {
    life.server().AdvanceMs(elapsed_ms);
    life.server().Cron();
  }

  const std::vector<std::string> kDirectives{"appendonly yes", "appendfsync no", "test-commands yes"};
};

TEST_F(CrashedFileTest, LosesWhatThePolicyDoesNotPromise) {
  EXPECT_EQ(KeysAfter(AppendFsync::kAlways), "3 and 1");
  EXPECT_EQ(KeysAfter(AppendFsync::kEverySecond), "2 and 1");
  EXPECT_EQ(KeysAfter(AppendFsync::kNever), "1 and 0");
}

TEST_F(CrashedFileTest, ANewBaseIsOnTheDisk) {
  FaultyFiles files;
  {
    ServerLife life(files, kDirectives);
    life.Run("SET a 1");
    life.Run("BGREWRITEAOF");
    life.server().Cron();
    life.Run("SET b 1");
    EXPECT_EQ(life.server()->services().storage.aof.SimulateCrash(AppendFsync::kNever), kNoError);
  }
  ServerLife next(files, kDirectives);
  EXPECT_EQ(next.Run("EXISTS a").Integer(), 1);
  EXPECT_EQ(next.Run("EXISTS b").Integer(), 0);
}

}  // namespace
}  // namespace respite
