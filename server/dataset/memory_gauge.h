// MemoryGauge: the exact number of bytes that two threads have allocated and not freed: the calling thread (the
// event loop's) and the lazyfree thread.
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
  MemoryGauge(const LazyFreeThread& lazy_free_thread, ServerStats& stats)
      : lazy_free_thread_(lazy_free_thread), stats_(stats) {}

  // Returns the bytes that the calling thread and the lazyfree thread hold (used_memory). Cost: a few ns, no system
  // call.
  size_t UsedBytes() const {  // bytes that this thread and the lazyfree thread hold
    const int64_t held = ThreadMemory::OfThisThread().HeldBytes() + lazy_free_thread_.HeldBytes();
    return static_cast<size_t>(std::max<int64_t>(held, 0));
  }
  int64_t UsedBytesAfterLazyFree() const {  // used bytes, without values that wait for the lazyfree thread
    return static_cast<int64_t>(UsedBytes()) - static_cast<int64_t>(lazy_free_thread_.PendingBytes());
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
  const LazyFreeThread& lazy_free_thread_;  // the thread whose memory is also counted
  ServerStats& stats_;                      // stores the startup memory and the peak
};

}  // namespace respite
