#include "server/process/group/task_thread.h"

#include <pthread.h>

#include <utility>

namespace respite {

TaskThread::TaskThread(const std::string& name) : thread_([this] { Run(); }) {
  pthread_setname_np(thread_.native_handle(), name.c_str());
}

TaskThread::~TaskThread() {
  {
    const std::lock_guard lock(mutex_);
    must_end_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void TaskThread::Do(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_all();
}

void TaskThread::AwaitTasks() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return tasks_.empty(); });
}

void TaskThread::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return must_end_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    const std::function<void()> task = std::move(tasks_.front());
    lock.unlock();
    task();
    lock.lock();
    tasks_.pop_front();
    changed_.notify_all();
  }
}

}  // namespace respite
