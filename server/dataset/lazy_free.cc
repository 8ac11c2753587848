#include "server/dataset/lazy_free.h"

#include <utility>

namespace respite {

namespace {

// The background thread gets a value only if the value has at least kFreeLaterFrom bytes or kFreeLaterFromElements
// elements. A smaller value is freed immediately, because passing it to the thread would take longer.
constexpr size_t kFreeLaterFrom = 64 * 1024;
constexpr size_t kFreeLaterFromElements = 64;
// A value with at least this number of elements always goes to the background thread, because freeing it takes
// milliseconds. The lazyfree counters count only values that a directive or command sends to that thread.
constexpr size_t kGiantElements = 50'000;
constexpr size_t kGiantBytes = size_t{32} << 20;  // memory of all data, when a database is flushed
constexpr size_t kSamples = 5;                    // elements measured to estimate the total size

// The content of a flushed database. The destructor frees the content and returns the memory to the operating system.
class FlushedData {
 public:
  explicit FlushedData(Database content) : content_(std::move(content)) {}
  FlushedData(FlushedData&&) noexcept = default;
  FlushedData& operator=(FlushedData&&) = delete;
  ~FlushedData() {
    if (content_.Size() == 0) return;  // moved from
    content_.Clear();
    PurgeAllocator();
  }

 private:
  Database content_;
};

// Estimates the memory of a database from its first keys.
double GuessBytes(const Database& content) {
  constexpr size_t kEnough = 256;
  size_t keys = 0;
  size_t bytes = 0;
  uint64_t cursor = 0;
  do {
    cursor = content.Scan(cursor, [&](const Entry* entry) {
      ++keys;
      bytes += entry->UsedBytes(kSamples);
    });
  } while (cursor != 0 && keys < kEnough);
  return keys == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(keys) * static_cast<double>(content.Size());
}

}  // namespace

void LazyFree::Free(EntryPtr entry, FreeMode mode) {
  if (entry == nullptr) return;
  const bool is_giant = entry->FreeEffort() >= kGiantElements;
  if (mode == FreeMode::kNow && !is_giant) return;
  const size_t bytes = entry->UsedBytes();
  if (entry->FreeEffort() < kFreeLaterFromElements && bytes < kFreeLaterFrom) return;
  entry.reset(Entry::MoveOutOfPool(entry.release()));
  parts_.lazy_free_thread.Free(std::move(entry), mode == FreeMode::kLater ? 1 : 0, bytes);
}

void LazyFree::FreeExpired(EntryPtr entry) {
  LatencyWatch watch(parts_.env.latency, "expire-del");
  Free(std::move(entry), parts_.env.settings.lazyfree_lazy_expire ? FreeMode::kLater : FreeMode::kNow);
  entry.reset();  // frees it now, if still here, while `watch` measures
}

void LazyFree::FreeEvicted(EntryPtr entry) {
  const int64_t before = parts_.memory.UsedBytesAfterLazyFree();
  Free(std::move(entry), parts_.env.settings.lazyfree_lazy_eviction ? FreeMode::kLater : FreeMode::kNow);
  entry.reset();
  // The difference can be negative, because the background thread frees memory at the same time and updates its
  // counters late.
  const int64_t freed_bytes = before - parts_.memory.UsedBytesAfterLazyFree();
  if (freed_bytes > 0) evicted_bytes_ += static_cast<uint64_t>(freed_bytes);
}

void LazyFree::FreeOverwritten(BlobRef value) {
  const size_t bytes = value.UsedBytes();
  if (parts_.env.settings.lazyfree_lazy_server_del && bytes >= kFreeLaterFrom)
    parts_.lazy_free_thread.Free(std::move(value), 1, bytes);
}

void LazyFree::FreeOverwritten(std::unique_ptr<Object> value) {
  const size_t elements = value->Size();
  const bool is_lazy = parts_.env.settings.lazyfree_lazy_server_del && elements >= kFreeLaterFromElements;
  if (!is_lazy && elements < kGiantElements) return;
  const size_t bytes = value->UsedBytes(kSamples);
  parts_.lazy_free_thread.Free(std::move(value), is_lazy ? 1 : 0, bytes);
}

// Estimates the memory of a flushed database. If several databases are flushed together, the first estimate covers the
// memory of all of them, and the other estimates are small, but their sum is correct.
size_t LazyFree::EstimateBytes(const Database& content) const {
  const size_t used_bytes = parts_.memory.UsedBytes();
  const size_t other_bytes = parts_.env.stats.startup_memory_bytes + LazyFreeThread::PendingBytesOfAll();
  const size_t data_bytes = used_bytes > other_bytes ? used_bytes - other_bytes : 0;
  const double guess = GuessBytes(content);
  double all = guess;
  for (int db = 0; db < parts_.keyspace.Count(); ++db) all += GuessBytes(parts_.keyspace[db]);
  return static_cast<size_t>(static_cast<double>(data_bytes) * guess / all);
}

void LazyFree::Free(Database content, FreeMode mode) {
  const size_t keys = content.Size();
  if (keys == 0) return;
  const bool is_giant =
      keys >= kGiantElements || parts_.memory.UsedBytes() >= parts_.env.stats.startup_memory_bytes + kGiantBytes;
  if (mode == FreeMode::kNow && !is_giant) return;
  const size_t bytes = EstimateBytes(content);
  if (mode == FreeMode::kLater) {
    parts_.lazy_free_thread.Free(std::move(content), keys, bytes);
  } else {
    parts_.lazy_free_thread.Free(FlushedData(std::move(content)), 0, bytes);
  }
}

void LazyFree::Free(Capture capture, FreeMode mode) {
  for (Database& content : capture.TakeDatabases()) Free(std::move(content), mode);
  const size_t functions = capture.FunctionCount();
  if (mode == FreeMode::kLater && functions > 0 && capture.FunctionsMayBeFreedByOtherThread())
    parts_.lazy_free_thread.Free(capture.TakeFunctions(), functions);
}

}  // namespace respite
