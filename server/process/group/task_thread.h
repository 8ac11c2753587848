// TaskThread: a thread that runs tasks in order.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace respite {

class TaskThread {
 public:
  // `name` is for ps and debuggers, at most 15 bytes.
  explicit TaskThread(const std::string& name);
  // Waits for all tasks.
  ~TaskThread();
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  void Do(std::function<void()> task);
  void AwaitTasks();  // until all tasks added so far are done

 private:
  void Run();

  std::mutex mutex_;                         // protects tasks_ and ends_
  std::condition_variable changed_;          // tasks_ or ends_ has changed
  std::deque<std::function<void()>> tasks_;  // the first one may be running
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace respite
