// The lazyfree directives: whether large values are freed by the background thread or immediately.

#include <future>
#include <string>
#include <thread>
#include <vector>

#include "base/memory.h"
#include "base/str_cat.h"
#include "tests/support/command_test.h"

namespace respite {

namespace {

class LazyFree : public CommandTest {
 protected:
  // The number of objects given to the background thread since the start.
  uint64_t HandedOver() {
    return server().server().services().data.lazy_free_thread.PendingObjects() +
           server().server().services().data.lazy_free_thread.FreedObjects();
  }
  // Creates a collection of each type at its own key, larger than a packed one.
  void FillLargeCollections() {
    for (int i = 0; i < 1000; ++i) {
      const std::string text = StrCat("element ", i);
      Run({"HSET", "hash", text, text});
      Run({"RPUSH", "list", text});
      Run({"SADD", "set", text});
      Run({"ZADD", "zset", "1", text});
    }
  }
  const std::string large_ = std::string(100'000, 'v');
};
INSTANTIATE_TEST_SUITE_P(Resp, LazyFree, BothVersions(), VersionName);

TEST_P(LazyFree, OverwrittenValues) {
  Run({"SET", "k", large_});
  Run("SET k small");
  EXPECT_EQ(HandedOver(), 0u);
  Run("CONFIG SET lazyfree-lazy-server-del yes");
  Run({"SET", "k", large_});
  Run("SET k small");
  EXPECT_EQ(HandedOver(), 1u);
  EXPECT_THAT(Run("GET k"), Bulk("small"));
}

TEST_P(LazyFree, ExpiredValues) {
  Run("CONFIG SET lazyfree-lazy-expire yes");
  Run({"SET", "k", large_, "PX", "10"});
  clock().AdvanceMs(20);
  EXPECT_THAT(Run("GET k"), Nil());
  EXPECT_EQ(HandedOver(), 1u);
  EXPECT_THAT(Run("DBSIZE"), Int(0));
}

TEST_P(LazyFree, LargeCollections) {
  FillLargeCollections();
  EXPECT_THAT(Run("UNLINK hash list set zset"), Int(4));
  EXPECT_EQ(HandedOver(), 4u);
  FillLargeCollections();
  EXPECT_THAT(Run("DEL hash list"), Int(2));
  Run("SET set text");
  Run("SET other text");
  Run("RENAME other zset");
  EXPECT_EQ(HandedOver(), 4u);
  Run("CONFIG SET lazyfree-lazy-server-del yes lazyfree-lazy-user-del yes lazyfree-lazy-user-flush yes");
  Run("DEL set zset");
  FillLargeCollections();
  EXPECT_THAT(Run("DEL hash"), Int(1));
  Run("SET list text");
  Run("RENAME list set");
  Run("SADD few a");
  EXPECT_THAT(Run("SUNIONSTORE zset few"), Int(1));
  EXPECT_EQ(HandedOver(), 8u);
  FillLargeCollections();
  Run("FLUSHALL");
  EXPECT_GT(HandedOver(), 8u);
}

TEST_P(LazyFree, SmallValuesAreFreedAtOnce) {
  Run("CONFIG SET lazyfree-lazy-server-del yes lazyfree-lazy-expire yes");
  Run("SET k small");
  Run("SET k smaller");
  Run("RPUSH list a b c");
  Run("UNLINK list");
  Run("UNLINK k");
  EXPECT_EQ(HandedOver(), 0u);
}

#if defined(RESPITE_JEMALLOC) && !defined(RESPITE_SANITIZED)  // otherwise it is unknown which thread freed it
TEST_P(LazyFree, GiantsAreFreedInTheBackgroundWithoutBeingCounted) {
  const auto fill = [&](const std::string& key) {
    for (int i = 0; i < 600; ++i) {
      std::vector<std::string> words = {"SADD", key};
      for (int k = 0; k < 100; ++k) words.push_back(StrCat("a member of some length ", 100 * i + k));
      Run(words);
    }
  };
  const auto wait_for_less_than = [&](int64_t bytes) {
    while (LazyFreeThread::HeldBytesOfAll() >= bytes) std::this_thread::yield();
    return LazyFreeThread::HeldBytesOfAll();
  };
  const int64_t before = LazyFreeThread::HeldBytesOfAll();
  fill("set");
  EXPECT_THAT(Run("DEL set"), Int(1));
  const int64_t after_del = wait_for_less_than(before - 1'000'000);
  fill("set");
  Run("SET set text");
  const int64_t after_set = wait_for_less_than(after_del - 1'000'000);
  fill("set");
  Run("FLUSHALL SYNC");  // only one key, which may be small
  Run("DEL set");
  for (int i = 0; i < 60'000; ++i) Run(StrCat("SET ", i, " v"));
  Run("FLUSHALL SYNC");
  wait_for_less_than(after_set - 1'000'000);
  EXPECT_EQ(HandedOver(), 0u);
}

// Servers on one thread share its count of allocated bytes. Memory that the background thread of one of them has freed
// must not stay counted for the others, also after that server has ended, or they would evict keys for nothing.
TEST_P(LazyFree, OtherServersOnTheThreadSeeWhatWasFreed) {
  const auto used = [&] {
    return static_cast<int64_t>(server().server().services().data.memory.UsedBytes()) -
           static_cast<int64_t>(LazyFreeThread::PendingBytesOfAll());
  };
  const auto fill = [](TestClient& client) {
    for (int i = 0; i < 600; ++i) {
      std::vector<std::string> words = {"SADD", "set"};
      for (int k = 0; k < 100; ++k) words.push_back(StrCat("a member of some length ", 100 * i + k));
      client.Run(words);
    }
  };
  const int64_t before = used();
  {
    TestServer other;
    TestClient client(other);
    fill(client);
    const int64_t filled = used();
    EXPECT_GT(filled - before, 2'000'000);
    client.Run("UNLINK set");
    while (other->services().data.lazy_free_thread.PendingObjects() != 0) std::this_thread::yield();
    EXPECT_LT(used(), filled - 2'000'000);
    fill(client);
    client.Run("UNLINK set");  // the server ends while its thread works
  }
  EXPECT_LT(used(), before + 200'000);
}

// Memory that the busy background thread has yet to free counts as free, so no command is refused and no key evicted.
TEST_P(LazyFree, PendingGiantsCountAsFree) {
  std::promise<void> may_work;
  const std::shared_future<void> is_free = may_work.get_future().share();
  server().server().services().data.lazy_free_thread.SetThreadPrologue([is_free] { is_free.wait(); });
  const std::string text(100, 't');
  const auto fill_set = [&] {
    for (int i = 0; i < 600; ++i) {
      std::vector<std::string> words = {"SADD", "set"};
      for (int k = 0; k < 100; ++k) words.push_back(StrCat(text, 100 * i + k));
      Run(words);
    }
  };
  const auto expect_room_after = [&](const std::string& command) {
    const size_t counted = server().server().services().data.memory.UsedBytes() -
                           server().server().services().data.eviction.UncountedBytes();
    Run(StrCat("CONFIG SET maxmemory ", counted + 200'000));
    Run(command);
    for (int i = 0; i < 20; ++i) EXPECT_THAT(Run({"SET", StrCat("room ", i), large_}), Ok()) << command;
    Run("CONFIG SET maxmemory 0");
  };
  fill_set();
  expect_room_after("DEL set");
  fill_set();
  expect_room_after("SET set text");
  for (int i = 0; i < 60'000; ++i) Run({"SET", std::to_string(i), text});
  expect_room_after("FLUSHALL SYNC");
  may_work.set_value();
}
#endif

}  // namespace

}  // namespace respite
