#include "base/worker.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace respite {
namespace {

TEST(WorkerTest, HandlesItemsInOrderBeforeItEnds) {
  std::vector<int> handled;
  {
    Worker<std::unique_ptr<int>> worker([&](const std::unique_ptr<int>& item) { handled.push_back(*item); });
    worker.SetThreadPrologue([&] { handled.push_back(-1); });
    ASSERT_TRUE(worker.EnsureThread());
    for (int i = 0; i < 1000; ++i) worker.Add(std::make_unique<int>(i));
  }
  ASSERT_EQ(handled.size(), 1001u);
  for (int i = 0; i < 1001; ++i) EXPECT_EQ(handled[static_cast<size_t>(i)], i - 1);
}

TEST(WorkerTest, WorksOnOneOtherThread) {
  std::vector<std::thread::id> threads;
  {
    Worker<int> worker([&](int) { threads.push_back(std::this_thread::get_id()); });
    for (int i = 0; i < 10; ++i) {
      ASSERT_TRUE(worker.EnsureThread());
      worker.Add(i);
    }
  }
  ASSERT_EQ(threads.size(), 10u);
  for (const std::thread::id thread : threads) EXPECT_EQ(thread, threads[0]);
  EXPECT_NE(threads[0], std::this_thread::get_id());
}

TEST(WorkerTest, WithoutWorkThereIsNoThread) {
  bool began = false;
  {
    Worker<int> worker([](int) {});
    worker.SetThreadPrologue([&] { began = true; });
  }
  EXPECT_FALSE(began);
}

}  // namespace
}  // namespace respite
