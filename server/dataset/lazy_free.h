// LazyFree: frees values that were removed from the keyspace, immediately or on the background thread. The directive
// (`lazyfree-lazy-…`) or the command decides. Values that take milliseconds to free always go to the background thread.
// The lazyfree counters count only values for which the directive or command chose the background thread.
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

enum class FreeMode : uint8_t { kNow, kLater };  // kLater: on the background thread

class LazyFree final : public Disposal {  // frees removed values, now or on the background thread
 public:
  struct Parts {  // the objects that LazyFree uses; its constructor gets them
    const Env& env;
    const Keyspace& keyspace;          // all databases
    const MemoryGauge& memory;         // measures used memory
    LazyFreeThread& lazy_free_thread;  // frees large values in the background
  };
  explicit LazyFree(Parts parts) : parts_(parts) {}

  void Free(EntryPtr entry, FreeMode mode);  // frees a key with its value
  // Frees the content of a database: with kLater on the background thread, with kNow on the calling thread. Content
  // that would take more than some ms to free goes to the background thread even with kNow.
  void Free(Database content, FreeMode mode);
  // Frees the databases of a Capture, on the threads that Free chooses for each database. Also frees the functions of
  // the Capture.
  void Free(Capture capture, FreeMode mode);

  void FreeExpired(EntryPtr entry) override;     // frees a key now, or later if lazyfree-lazy-expire says so
  void FreeEvicted(EntryPtr entry) override;     // frees an evicted key (or one of a foreign slot) now or later
  void FreeOverwritten(BlobRef value) override;  // frees it now, or later if lazyfree-lazy-server-del says so
  void FreeOverwritten(std::unique_ptr<Object> value) override;  // now, or later if lazyfree-lazy-server-del says so

  uint64_t EvictedBytes() const { return evicted_bytes_; }  // bytes that FreeEvicted has freed so far

 private:
  size_t EstimateBytes(const Database& content) const;  // estimates the memory of a database in bytes

  Parts parts_;                 // the objects that the constructor got
  uint64_t evicted_bytes_ = 0;  // total bytes that FreeEvicted has freed so far
};

}  // namespace respite
