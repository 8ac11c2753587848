#include "server/replication/backlog.h"

namespace respite {

void Backlog::Append(const BlobPart& part) {
  if (part.size == 0) return;
  if (!parts_.empty()) {
    BlobPart& last = parts_.back().part;
    if (last.blob.Is(part.blob) && last.offset + last.size == part.offset) {
      last.size += part.size;
      end_ += static_cast<int64_t>(part.size);
      return;
    }
  }
  // Counts the memory of a Blob (a shared buffer) once, at its first part. The parts of one Blob are neighbours in the
  // backlog, because the stream fills one Blob after the other.
  if (parts_.empty() || !parts_.back().part.blob.Is(part.blob)) blob_bytes_ += part.blob.UsedBytes();
  parts_.push_back({end_, part});
  end_ += static_cast<int64_t>(part.size);
}

void Backlog::Trim(int64_t max_bytes, int64_t needed_from) {
  const int64_t begin = std::min(end_ - max_bytes, needed_from);
  if (begin <= begin_) return;
  begin_ = begin;
  while (!parts_.empty() && parts_.front().begin + static_cast<int64_t>(parts_.front().part.size) <= begin_) {
    const bool is_last_of_blob = parts_.size() == 1 || !parts_[1].part.blob.Is(parts_[0].part.blob);
    if (is_last_of_blob) blob_bytes_ -= parts_.front().part.blob.UsedBytes();
    parts_.pop_front();
  }
}

}  // namespace respite
