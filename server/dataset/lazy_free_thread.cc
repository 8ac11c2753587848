#include "server/dataset/lazy_free_thread.h"

#include <vector>

namespace respite {

namespace {

struct ThreadsOfOwner {  // the LazyFreeThreads that one thread has created
  std::vector<const LazyFreeThread*> existing;
  int64_t held_bytes_of_destroyed = 0;
};

thread_local ThreadsOfOwner threads_of_owner;

}  // namespace

int64_t LazyFreeThread::HeldBytesOfAll() {
  int64_t held = threads_of_owner.held_bytes_of_destroyed;
  for (const LazyFreeThread* thread : threads_of_owner.existing) held += thread->HeldBytes();
  return held;
}

size_t LazyFreeThread::PendingBytesOfAll() {
  size_t pending = 0;
  for (const LazyFreeThread* thread : threads_of_owner.existing)
    pending += thread->pending_bytes_.load(std::memory_order_relaxed);
  return pending;
}

LazyFreeThread::Registration::Registration(const LazyFreeThread& registered) : registered_(registered) {
  threads_of_owner.existing.push_back(&registered);
}

LazyFreeThread::Registration::~Registration() {
  std::erase(threads_of_owner.existing, &registered_);
  threads_of_owner.held_bytes_of_destroyed += registered_.held_bytes_at_end_;
}

LazyFreeThread::LazyFreeThread() : worker_([this](std::unique_ptr<Garbage> garbage) { Destroy(std::move(garbage)); }) {
  worker_.SetThreadPrologue([this] { BeginThread(); });
}

void LazyFreeThread::Push(std::unique_ptr<Garbage> garbage) {
  if (!worker_.EnsureThread()) {
    freed_objects_.fetch_add(garbage->objects, std::memory_order_relaxed);
    return;
  }
  pending_objects_.fetch_add(garbage->objects, std::memory_order_relaxed);
  pending_bytes_.fetch_add(garbage->bytes, std::memory_order_relaxed);
  worker_.Add(std::move(garbage));
}

void LazyFreeThread::BeginThread() {
  if (prologue_) prologue_();
  memory_ = ThreadMemory::OfThisThread();
  is_memory_set_.store(true, std::memory_order_release);
}

void LazyFreeThread::Destroy(std::unique_ptr<Garbage> garbage) {
  const size_t objects = garbage->objects;
  const size_t bytes = garbage->bytes;
  garbage.reset();
  held_bytes_at_end_ = memory_.HeldBytes();
  pending_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  pending_objects_.fetch_sub(objects, std::memory_order_relaxed);
  freed_objects_.fetch_add(objects, std::memory_order_relaxed);
}

}  // namespace respite
