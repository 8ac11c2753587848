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

struct BlobPart {  // a range of bytes of a Blob, and a reference to the Blob
  BlobRef blob;
  size_t offset = 0;  // where in the Blob the range begins
  size_t size = 0;

  Bytes View() const { return {blob.ConstData() + offset, size}; }
};

class SharedLog {  // stores each message that many clients receive only once, in a Blob
 public:
  static constexpr size_t kLogBlobBytes = 16 * 1024 - 24;     // size of log_; 16 KB with the header of a Blob
  static constexpr size_t kMaxLoggedMessageBytes = 4 * 1024;  // a longer message gets a Blob of its own

  // Appends all pieces as one message. Cost: one copy. There is an allocation for each kLogBlobBytes, and for each
  // message over kMaxLoggedMessageBytes.
  BlobPart Append(Bytes first, std::span<const Bytes> others);  // stores the pieces as one message; returns its place

 private:
  BlobRef log_;
  size_t used_bytes_ = 0;  // number of bytes of log_ that messages occupy
};

}  // namespace respite
