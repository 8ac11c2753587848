#include "server/storage/sync_promise.h"

#include <algorithm>

namespace respite {

void SyncPromise::NoteWrite(int64_t now_ms, uint64_t octets) {
  if (!writes_.empty() && writes_.back().at_ms == now_ms) return;
  while (!writes_.empty() && now_ms - writes_.front().at_ms >= kSystemMs) writes_.pop_front();
  writes_.push_back({now_ms, octets});
}

uint64_t SyncPromise::Kept(AppendFsync policy, int64_t now_ms, uint64_t octets) const {
  if (policy == AppendFsync::kAlways) return octets;
  const int64_t window_ms = policy == AppendFsync::kEverySecond ? kEverySecondMs : kSystemMs;
  const auto is_kept = [&](const Write& write) { return now_ms - write.at_ms >= window_ms; };
  const auto first_lost = std::ranges::partition_point(writes_, is_kept);
  return first_lost == writes_.end() ? octets : first_lost->behind;
}

}  // namespace respite
