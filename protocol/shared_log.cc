#include "protocol/shared_log.h"

namespace respite {

BlobPart SharedLog::Append(Bytes first, std::span<const Bytes> others) {
  size_t size = first.size();
  for (Bytes piece : others) size += piece.size();
  BlobPart part{.blob = {}, .offset = 0, .size = size};
  if (size > kMaxLoggedMessageBytes) {
    part.blob = BlobRef::OfSize(size, size);
  } else {
    if (log_ && log_.IsUnique()) used_bytes_ = 0;
    if (!log_ || used_bytes_ + size > kLogBlobBytes) {
      log_ = BlobRef::OfSize(kLogBlobBytes, kLogBlobBytes);
      used_bytes_ = 0;
    }
    part.blob = log_;
    part.offset = used_bytes_;
    used_bytes_ += size;
  }
  char* end = part.blob.Data() + part.offset;
  end += first.copy(end, first.size());
  for (Bytes piece : others) end += piece.copy(end, piece.size());
  return part;
}

}  // namespace respite
