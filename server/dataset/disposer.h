// Disposer: frees values that nobody reaches any more, at once or on the background thread, as the directive
// (`lazyfree-lazy-…`) or the command says. What would hold up everybody for milliseconds goes to that thread in any
// case; the lazyfree counters do not count it then.
#pragma once

#include <cstdint>
#include <memory>

#include "datatypes/keyspace.h"
#include "server/config/settings.h"
#include "server/dataset/capture.h"
#include "server/dataset/latency_watch.h"
#include "server/dataset/memory_gauge.h"
#include "server/dataset/reclaimer.h"
#include "server/dataset/stats.h"
#include "server/dataset/unit.h"

namespace respite {

enum class FreeMode : uint8_t { kNow, kLater };

class Disposer final : public Disposal {
 public:
  struct Parts {
    const Settings& settings;
    const Keyspace& keyspace;
    const MemoryGauge& memory;
    const ServerStats& stats;
    LatencyMonitor& latency;
    Reclaimer& reclaimer;
  };
  explicit Disposer(Parts parts) : parts_(parts) {}

  void Free(EntryPtr entry, FreeMode mode);
  // The content of a database. Cost: O(1).
  void Free(Database content, FreeMode mode);
  // All that a Capture holds. Cost: O(databases).
  void Free(Capture capture, FreeMode mode);

  void Expired(EntryPtr entry) override;
  void Evicted(EntryPtr entry) override;
  void Overwritten(BlobRef value) override;
  void Overwritten(std::unique_ptr<Object> value) override;

  // Bytes that all evicted keys together gave back, for whoever must know when there is room enough.
  uint64_t EvictedBytes() const { return evicted_bytes_; }

 private:
  // What this content takes, estimated as its share of all data.
  size_t EstimateBytes(const Database& content) const;

  Parts parts_;
  uint64_t evicted_bytes_ = 0;
};

}  // namespace respite
