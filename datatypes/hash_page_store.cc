#include "datatypes/hash_page_store.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>

#include "base/out_of_memory.h"

namespace respite {

HashPageStore::HashPageStore() {
  for (size_t i = 0; i < sizes_.size(); ++i) sizes_[i].bytes = (i + 1) * kStep;
}

HashPageStore::~HashPageStore() {
  for (const Size& size : sizes_)
    for (char* chunk : size.chunks) std::free(chunk);
  for (char* chunk : spare_chunks_) std::free(chunk);
}

void* HashPageStore::Allocate(size_t bytes) {
  assert(bytes % kStep == 0 && bytes <= kMaxBytes);
  Size& size = sizes_[bytes / kStep - 1];
  if (size.holes.empty() && size.count == size.chunks.size() * size.PagesPerChunk()) size.chunks.push_back(NewChunk());
  spare_bytes_ -= bytes;
  if (size.holes.empty()) return size.PlaceOf(size.count++);
  char* hole = size.holes.back();
  size.holes.pop_back();
  --hole_count_;
  return hole;
}

void HashPageStore::Free(void* page, size_t bytes) {
  sizes_[bytes / kStep - 1].holes.push_back(static_cast<char*>(page));
  ++hole_count_;
  spare_bytes_ += bytes;
}

void* HashPageStore::FillHole(Size& size) {
  const char* last = size.PlaceOf(size.count - 1);
  auto hole = std::find(size.holes.begin(), size.holes.end(), last);
  char* filled = nullptr;
  if (hole == size.holes.end()) {
    --hole;
    filled = *hole;
    std::memcpy(filled, last, size.bytes);
  }
  size.holes.erase(hole);
  --hole_count_;
  --size.count;
  if (size.count % size.PagesPerChunk() == 0) {
    FreeChunk(size.chunks.back());
    size.chunks.pop_back();
  }
  return filled;
}

char* HashPageStore::NewChunk() {
  if (!spare_chunks_.empty()) {
    char* chunk = spare_chunks_.back();
    spare_chunks_.pop_back();
    return chunk;
  }
  void* chunk = nullptr;
  if (posix_memalign(&chunk, kAlignment, kChunkBytes) != 0) EndProcessOutOfMemory(kChunkBytes);
  spare_bytes_ += kChunkBytes;
  return static_cast<char*>(chunk);
}

void HashPageStore::FreeChunk(char* chunk) {
  if (spare_chunks_.size() < kMaxSpareChunks) return spare_chunks_.push_back(chunk);
  std::free(chunk);
  spare_bytes_ -= kChunkBytes;
}

}  // namespace respite
