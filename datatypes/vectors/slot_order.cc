#include "datatypes/vectors/slot_order.h"

#include <malloc.h>

namespace respite {

void SlotOrder::InsertAt(const Place& place, uint32_t slot) {
  std::vector<uint32_t>& chunk = chunks_[place.chunk];
  if (chunk.size() < kMaxChunk) {
    chunk.insert(chunk.begin() + static_cast<ptrdiff_t>(place.index), slot);
    return;
  }
  // Splits a full chunk into halves. But if the new name is above all others, the chunk stays full and the name begins
  // a new chunk, because names often arrive in ascending order.
  const bool is_append = place.chunk + 1 == chunks_.size() && place.index == chunk.size();
  const size_t kept = is_append ? chunk.size() : chunk.size() / 2;
  std::vector<uint32_t> right(chunk.begin() + static_cast<ptrdiff_t>(kept), chunk.end());
  chunk.resize(kept);
  const bool goes_right = is_append || place.index > kept;
  std::vector<uint32_t>& target = goes_right ? right : chunk;
  target.insert(target.begin() + static_cast<ptrdiff_t>(goes_right ? place.index - kept : place.index), slot);
  chunks_.insert(chunks_.begin() + static_cast<ptrdiff_t>(place.chunk) + 1, std::move(right));
}

void SlotOrder::Erase(const Place& place) {
  std::vector<uint32_t>& chunk = chunks_[place.chunk];
  chunk.erase(chunk.begin() + static_cast<ptrdiff_t>(place.index));
  const auto at = chunks_.begin() + static_cast<ptrdiff_t>(place.chunk);
  if (chunk.empty()) {
    chunks_.erase(at);
    return;
  }
  if (place.chunk + 1 == chunks_.size() || chunk.size() + chunks_[place.chunk + 1].size() > kMaxChunk / 2) return;
  chunk.insert(chunk.end(), (at + 1)->begin(), (at + 1)->end());
  chunks_.erase(at + 1);
}

size_t SlotOrder::UsedBytes() const {
  size_t bytes = chunks_.capacity() * sizeof(std::vector<uint32_t>);
  for (const std::vector<uint32_t>& chunk : chunks_) {
    bytes += malloc_usable_size(const_cast<uint32_t*>(chunk.data()));
  }
  return bytes;
}

}  // namespace respite
