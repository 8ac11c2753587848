// SharedLog: text that many clients receive, stored once.
//
// Each message is appended to a Blob, and the buffers of all receivers refer to this Blob. A receiver of consecutive
// messages refers to them as one piece. Text in the log never changes while a receiver refers to it: the log restarts
// at the front only when there are no references left.
#pragma once

#include <cstddef>
#include <span>

#include "base/blob.h"
#include "base/bytes.h"

namespace respite {

// A range of bytes in a Blob.
struct BlobPart {
  BlobRef blob;
  size_t offset = 0;
  size_t size = 0;

  Bytes View() const { return {blob.ConstData() + offset, size}; }
};

class SharedLog {
 public:
  // With the header of a Blob, this fills one size class of the allocator.
  static constexpr size_t kLogBytes = 16 * 1024 - 24;
  // A longer message gets its own Blob.
  static constexpr size_t kLongestInLog = 4 * 1024;

  // Appends all pieces as one message. Cost: one copy, and at most one allocation per kLogBytes.
  BlobPart Append(Bytes first, std::span<const Bytes> others);

 private:
  BlobRef log_;
  size_t used_bytes_ = 0;
};

}  // namespace respite
