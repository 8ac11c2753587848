// Worker: a thread that handles items one after the other, in the order in which they were added.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace respite {

template <class Item>
class Worker {  // a thread that handles queued items one after the other
 public:
  using Handler = std::function<void(Item)>;

  explicit Worker(Handler handle) : item_handler_(std::move(handle)) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  // Lets the thread handle all queued items, and waits until the thread has ended.
  ~Worker();

  // Must be called before the first EnsureThread.
  void SetThreadPrologue(std::function<void()> prologue) {  // `prologue` runs first in the thread, once
    prologue_ = std::move(prologue);
  }
  bool EnsureThread();  // starts the thread unless it runs already; false: the system cannot create a thread
  // Adds an item to the end of the queue. Requires: EnsureThread() returned true.
  void Add(Item item);

 private:
  void Work();  // what the thread runs: handles items until stop_ is set and the queue is empty

  const Handler item_handler_;      // the function that the thread calls for each item
  std::function<void()> prologue_;  // called first in the thread, once; may be empty
  std::mutex mutex_;                // protects queue_ and stop_
  std::condition_variable wake_;
  std::deque<Item> queue_;  // items that the thread has not taken yet
  bool stop_ = false;       // true: the thread ends when the queue is empty
  std::thread thread_;      // the thread that handles items; not joinable before EnsureThread
};

template <class Item>
Worker<Item>::~Worker() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

template <class Item>
bool Worker<Item>::EnsureThread() {  // starts the thread unless it runs; false: the system cannot
  if (thread_.joinable()) return true;
  try {
    thread_ = std::thread([this] { Work(); });
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

template <class Item>
void Worker<Item>::Add(Item item) {
  {
    std::lock_guard lock(mutex_);
    queue_.push_back(std::move(item));
  }
  wake_.notify_one();
}

template <class Item>
void Worker<Item>::Work() {
  if (prologue_) prologue_();
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stop_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Item item = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    item_handler_(std::move(item));
    lock.lock();
  }
}

}  // namespace respite
