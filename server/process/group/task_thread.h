// TaskThread: a thread that runs tasks in order.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace respite {

class TaskThread {  // a thread that runs tasks one after another
 public:
  // `name` is what ps and debuggers show for the thread, at most 15 bytes.
  explicit TaskThread(const std::string& name);
  // Waits until all tasks are done, and ends the thread.
  ~TaskThread();
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  void Do(std::function<void()> task);  // adds a task
  void AwaitTasks();                    // waits until no task is left, also none that others add meanwhile

 private:
  void Run();

  std::mutex mutex_;                         // must be locked to use tasks_ and must_end_
  std::condition_variable changed_;          // signals that tasks_ or must_end_ has changed
  std::deque<std::function<void()>> tasks_;  // tasks to run; the first one may be running
  bool must_end_ = false;                    // true: the thread ends after the last task
  std::thread thread_;                       // runs the tasks
};

}  // namespace respite
