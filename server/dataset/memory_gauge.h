// MemoryGauge: the exact number of bytes that the event loop's thread and its lazyfree threads have allocated and not
// freed. Servers on one event loop, such as the nodes of a test cluster, share this number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/memory.h"
#include "server/dataset/lazy_free_thread.h"
#include "server/runtime/stats.h"

namespace respite {

class MemoryGauge {  // measures how much memory the server uses (used_memory)
 public:
  explicit MemoryGauge(ServerStats& stats) : stats_(stats) {}

  // Returns the bytes that the calling thread and the lazyfree threads of its servers hold (used_memory). Cost: a few
  // ns for each server on this thread, no system call.
  size_t UsedBytes() const {  // bytes that this thread and its lazyfree threads hold
    const int64_t held = ThreadMemory::OfThisThread().HeldBytes() + LazyFreeThread::HeldBytesOfAll();
    return static_cast<size_t>(std::max<int64_t>(held, 0));
  }
  int64_t UsedBytesAfterLazyFree() const {  // used bytes, without what waits for the lazyfree threads
    return static_cast<int64_t>(UsedBytes()) - static_cast<int64_t>(LazyFreeThread::PendingBytesOfAll());
  }
  // Records the memory in use now as the memory of an empty server (INFO used_memory_startup), and updates the peak.
  // Called by Node at the end of its construction, and again by NodeHost, which has then allocated its buffers; the
  // last call counts.
  void MarkStartup() {  // records the memory of an empty server (used_memory_startup)
    stats_.startup_memory_bytes = UsedBytes();
    NotePeak();
  }
  void NotePeak() {  // updates the peak (used_memory_peak) if more memory is used now
    stats_.peak_memory_bytes = std::max(stats_.peak_memory_bytes, UsedBytes());
  }

 private:
  ServerStats& stats_;  // stores the startup memory and the peak
};

}  // namespace respite
