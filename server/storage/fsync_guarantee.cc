#include "server/storage/fsync_guarantee.h"

#include <algorithm>

namespace respite {

void FsyncGuarantee::NoteWrite(int64_t now_ms, uint64_t bytes) {
  if (!recent_writes_.empty() && recent_writes_.back().at_ms == now_ms) return;
  while (!recent_writes_.empty() && now_ms - recent_writes_.front().at_ms >= kSystemMs) recent_writes_.pop_front();
  recent_writes_.push_back({now_ms, bytes});
}

uint64_t FsyncGuarantee::DurableBytes(AppendFsync policy, int64_t now_ms, uint64_t bytes) const {
  if (policy == AppendFsync::kAlways) return bytes;
  const int64_t window_ms = policy == AppendFsync::kEverySecond ? kEverySecondMs : kSystemMs;
  const auto is_kept = [&](const Write& write) { return now_ms - write.at_ms >= window_ms; };
  const auto first_lost = std::ranges::partition_point(recent_writes_, is_kept);
  return first_lost == recent_writes_.end() ? bytes : first_lost->bytes_before;
}

}  // namespace respite
