#include "server/reclaimer.h"

#include <system_error>

namespace respite {

Reclaimer::~Reclaimer() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

// False: the system has no room for a thread.
bool Reclaimer::HasThread() {
  if (thread_.joinable()) return true;
  try {
    thread_ = std::thread([this] { Work(); });
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

void Reclaimer::Push(std::unique_ptr<Garbage> garbage) {
  if (!HasThread()) {
    freed_.fetch_add(garbage->objects, std::memory_order_relaxed);
    return;
  }
  pending_.fetch_add(garbage->objects, std::memory_order_relaxed);
  pending_bytes_.fetch_add(garbage->bytes, std::memory_order_relaxed);
  {
    std::lock_guard lock(mutex_);
    queue_.push_back(std::move(garbage));
  }
  wake_.notify_one();
}

void Reclaimer::Work() {
  if (prologue_) prologue_();
  memory_ = ThreadMemory::OfThisThread();
  counted_.store(true, std::memory_order_release);
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stop_ || !queue_.empty(); });
    if (queue_.empty()) return;
    auto garbage = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    const size_t objects = garbage->objects;
    const size_t bytes = garbage->bytes;
    garbage.reset();
    pending_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    pending_.fetch_sub(objects, std::memory_order_relaxed);
    freed_.fetch_add(objects, std::memory_order_relaxed);
    lock.lock();
  }
}

}  // namespace respite
