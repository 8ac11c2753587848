#include "server/dataset/lazy_free_thread.h"

namespace respite {

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
  pending_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  pending_objects_.fetch_sub(objects, std::memory_order_relaxed);
  freed_objects_.fetch_add(objects, std::memory_order_relaxed);
}

}  // namespace respite
