#include "server/process/group/task_thread.h"

#include <gtest/gtest.h>

#include <vector>

namespace respite {
namespace {

TEST(TaskThreadTest, RunsTasksInOrderOnOneThreadOfItsOwn) {
  std::vector<int> order;
  std::vector<std::thread::id> threads;
  TaskThread thread("test");
  for (int i = 0; i < 100; ++i) {
    thread.Do([&, i] {
      order.push_back(i);
      threads.push_back(std::this_thread::get_id());
    });
  }
  thread.AwaitTasks();
  ASSERT_EQ(order.size(), 100u);
  for (size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(order[i], static_cast<int>(i));
    EXPECT_EQ(threads[i], threads[0]);
  }
  EXPECT_NE(threads[0], std::this_thread::get_id());
}

TEST(TaskThreadTest, ItsEndWaitsForItsTasks) {
  int done = 0;
  {
    TaskThread thread("test");
    for (int i = 0; i < 10; ++i) thread.Do([&] { ++done; });
  }
  EXPECT_EQ(done, 10);
}

}  // namespace
}  // namespace respite
