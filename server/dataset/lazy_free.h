// LazyFree: frees values that were removed from the keyspace, immediately or on the background thread. The directive
// (`lazyfree-lazy-…`) or the command decides. Values that take milliseconds to free always go to that thread; in that
// case the lazyfree counters do not count them.
#pragma once

#include <cstdint>
#include <memory>

#include "datatypes/keyspace.h"
#include "server/config/settings.h"
#include "server/dataset/capture.h"
#include "server/dataset/lazy_free_thread.h"
#include "server/dataset/memory_gauge.h"
#include "server/dataset/unit.h"
#include "server/runtime/env.h"
#include "server/runtime/latency.h"
#include "server/runtime/stats.h"

namespace respite {

enum class FreeMode : uint8_t { kNow, kLater };

class LazyFree final : public Disposal {
 public:
  struct Parts {
    const Env& env;
    const Keyspace& keyspace;
    const MemoryGauge& memory;
    LazyFreeThread& lazy_free_thread;
  };
  explicit LazyFree(Parts parts) : parts_(parts) {}

  void Free(EntryPtr entry, FreeMode mode);
  // Frees the content of a database. Cost: O(1).
  void Free(Database content, FreeMode mode);
  // Frees the content of a Capture. Cost: O(databases).
  void Free(Capture capture, FreeMode mode);

  void Expired(EntryPtr entry) override;
  void Evicted(EntryPtr entry) override;
  void Overwritten(BlobRef value) override;
  void Overwritten(std::unique_ptr<Object> value) override;

  // Returns the total bytes that evictions have freed so far.
  uint64_t EvictedBytes() const { return evicted_bytes_; }

 private:
  // Estimates the memory of this content as a share of all data.
  size_t EstimateBytes(const Database& content) const;

  Parts parts_;
  uint64_t evicted_bytes_ = 0;
};

}  // namespace respite
