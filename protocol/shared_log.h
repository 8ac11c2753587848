// SharedLog: text that many clients receive, stored once.
//
// Each message is appended to a Blob that the buffers of all receivers refer to; a receiver of consecutive messages
// refers to them as one piece. Text that was handed out never changes: the log restarts at the front only when nobody
// refers to it any more.
#pragma once

#include <cstddef>
#include <span>

#include "base/blob.h"
#include "base/bytes.h"

namespace respite {

// Some bytes of a Blob.
struct BlobPart {
  BlobRef blob;
  size_t offset = 0;
  size_t size = 0;

  Bytes View() const { return {blob.ConstData() + offset, size}; }
};

class SharedLog {
 public:
  // Together with the header of a Blob, this fills one size class of the allocator.
  static constexpr size_t kLogBytes = 16 * 1024 - 24;
  // A longer message gets its own Blob.
  static constexpr size_t kLongestInLog = 4 * 1024;

  // Appends all pieces as one message. Cost: one copy; an allocation every kLogBytes at most.
  BlobPart Append(Bytes first, std::span<const Bytes> others);

 private:
  BlobRef log_;
  size_t used_bytes_ = 0;
};

}  // namespace respite
