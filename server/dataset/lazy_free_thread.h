// LazyFreeThread: a background thread that frees large values and whole databases, which would block the event loop.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "base/memory.h"
#include "base/worker.h"

namespace respite {

class LazyFreeThread {  // a background thread that frees large values and whole databases
 public:
  LazyFreeThread();
  LazyFreeThread(const LazyFreeThread&) = delete;
  LazyFreeThread& operator=(const LazyFreeThread&) = delete;

  // Frees `content` later on the background thread. The first call starts the thread, so an idle server has none. If
  // the thread cannot be started, the calling thread frees `content` immediately. `content` counts as `objects` objects
  // in INFO's lazyfree counters. `bytes` is an estimate of the memory of `content`.
  template <class Content>
  void Free(Content content, size_t objects = 1, size_t bytes = 0) {
    Push(std::make_unique<Holder<Content>>(std::move(content), objects, bytes));
  }
  // Sets a function that the background thread runs before anything else. Must be called before the first Free.
  void SetThreadPrologue(std::function<void()> prologue) {  // the new thread calls this function first
    prologue_ = std::move(prologue);
  }
  uint64_t PendingObjects() const {  // number of objects that wait to be freed
    return pending_objects_.load(std::memory_order_relaxed);
  }
  uint64_t FreedObjects() const {  // number of objects freed since CONFIG RESETSTAT (lazyfreed_objects)
    return freed_objects_.load(std::memory_order_relaxed);
  }
  void ResetFreedObjects() { freed_objects_.store(0, std::memory_order_relaxed); }  // for CONFIG RESETSTAT
  // Returns the bytes that the threads of all LazyFreeThreads which the calling thread has created, also the destroyed
  // ones, have allocated minus those that they have freed. The result is usually negative, because they free what the
  // calling thread has allocated. Several servers on one event loop share its thread, so they also share this number.
  static int64_t HeldBytesOfAll();    // bytes held by the lazyfree threads of the calling thread: usually negative
  static size_t PendingBytesOfAll();  // estimated memory in bytes of the objects that wait in these LazyFreeThreads

 private:
  class Registration {  // enters a LazyFreeThread into the list for HeldBytesOfAll during its lifetime
   public:
    explicit Registration(const LazyFreeThread& registered);
    // Must run on the thread that created it, after the background thread has ended.
    ~Registration();

   private:
    const LazyFreeThread& registered_;  // the LazyFreeThread that this object belongs to
  };
  int64_t HeldBytes() const {  // bytes allocated by the thread minus bytes freed by it: usually negative
    return is_memory_set_.load(std::memory_order_acquire) ? memory_.HeldBytes() : 0;
  }

  struct Garbage {  // a value or database that waits to be freed
    Garbage(size_t count, size_t size) : objects(count), bytes(size) {}
    virtual ~Garbage() = default;
    size_t objects;  // how many objects this counts as in the lazyfree counters
    size_t bytes;    // estimated memory in bytes
  };
  template <class Content>
  struct Holder final : Garbage {  // garbage of the type `Content`
    Holder(Content&& held, size_t count, size_t size) : Garbage(count, size), content(std::move(held)) {}
    Content content;  // the value or database to free
  };

  void Push(std::unique_ptr<Garbage> garbage);
  void BeginThread();                              // runs first on the new thread: calls the prologue
  void Destroy(std::unique_ptr<Garbage> garbage);  // frees the garbage, on the background thread

  std::atomic<uint64_t> pending_objects_{0};  // number of objects that wait to be freed
  std::atomic<uint64_t> freed_objects_{0};    // objects freed since the start or CONFIG RESETSTAT
  std::atomic<size_t> pending_bytes_{0};      // estimated memory of the waiting objects
  ThreadMemory memory_;                       // memory of the thread; may be read once is_memory_set_ is true
  std::atomic<bool> is_memory_set_{false};    // other threads may read memory_
  int64_t held_bytes_at_end_ = 0;             // HeldBytes() after the last garbage; may be read after the thread's end
  Registration registration_{*this};
  std::function<void()> prologue_;           // a function that the thread runs first
  Worker<std::unique_ptr<Garbage>> worker_;  // the thread; last member, so that the other members outlive the thread
};

}  // namespace respite
