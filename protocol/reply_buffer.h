// ReplyBuffer: the bytes that wait to be sent to one client.
//
// It is a queue of segments: blocks of text that grow at the end, and references to Blobs or parts of Blobs, which are
// sent without a copy. Blocks come from a BlockPool that all clients share, so an idle client holds none. If a command
// fails after it wrote part of its reply, RollBack removes that part.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/blob.h"
#include "base/bytes.h"
#include "protocol/shared_log.h"

namespace respite {

// Keeps blocks of kBlockBytes for reuse, because the allocator maps and unmaps pages of that size one by one. Trim
// frees blocks that were not needed lately. Not thread safe; must outlive every ReplyBuffer that uses it.
class BlockPool {
 public:
  static constexpr size_t kBlockBytes = 16 * 1024;
  static constexpr size_t kKept = 1024;  // maximum number of free blocks, enough after a busy turn

  std::unique_ptr<char[]> Take();
  void Return(std::unique_ptr<char[]> block);
  // Frees half of the blocks that were not used since the last Trim. Must be called periodically.
  void Trim();
  // Frees all free blocks, for when memory is short.
  void Clear();
  size_t Kept() const { return free_.size(); }

 private:
  std::vector<std::unique_ptr<char[]>> free_;
  size_t least_kept_ = 0;  // minimum since the last Trim
};

class ReplyBuffer {
 public:
  // Values of at least this length are referenced instead of copied.
  static constexpr size_t kShareFrom = BlockPool::kBlockBytes;

  explicit ReplyBuffer(BlockPool& pool) : pool_(&pool) {}
  ReplyBuffer(const ReplyBuffer&) = delete;
  ReplyBuffer& operator=(const ReplyBuffer&) = delete;
  ~ReplyBuffer() { Clear(); }

  bool Empty() const { return size_ == 0; }
  // Returns the number of bytes that wait to be sent.
  size_t Size() const { return size_; }
  // Segments returns the number of blocks and Blob references in the queue, and HeldBytes the memory that they hold.
  size_t Segments() const { return segments_.size() - head_; }
  size_t HeldBytes() const { return held_bytes_; }
  // Returns the part of HeldBytes that is in blocks, which are not shared with other buffers.
  size_t BlockBytes() const { return block_bytes_; }
  // Returns the memory of the queue itself, in bytes.
  size_t QueueBytes() const { return segments_.capacity() * sizeof(Segment); }

  // Returns room for `n` bytes at the end; Commit then says how many were written. Requires: n <=
  // BlockPool::kBlockBytes.
  char* Reserve(size_t n) {
    if (n > room_) AddBlock();
    return end_;
  }
  void Commit(size_t n) {
    end_ += n;
    room_ -= n;
    size_ += n;
  }
  void Append(Bytes bytes) {
    if (bytes.size() > room_) return AppendSlowly(bytes);
    Commit(bytes.copy(end_, bytes.size()));  // unlike memcpy, accepts an empty view with a null pointer
  }
  // Appends a Blob that is sent without a copy.
  void AppendShared(BlobRef blob);
  // Appends a message that other clients also receive, as a reference if that is cheaper than a copy. Uses no block
  // while there are only a few such messages, or while they are adjacent in their log.
  void AppendPart(const BlobPart& part) {
    if (end_ == nullptr && !segments_.empty() && segments_.back().IsContinuedBy(part)) {
      segments_.back().size += part.size;
      held_bytes_ += part.size;
      size_ += part.size;
    } else {
      AppendPartSlowly(part);
    }
  }

  // Removes everything that was appended after Size() was `size`. Requires: none of it has been sent.
  void RollBack(size_t size);
  void Clear();
  // Clears the buffer but keeps the block for immediate reuse, for code that reads many replies in this process.
  void Rewind() {
    if (end_ == nullptr || segments_.size() != 1 || front_sent_ != 0) return Clear();
    end_ -= size_;
    room_ += size_;
    size_ = 0;
  }

  // Calls `visit(Bytes)` for each of the first `max` pieces.
  template <class Visit>
  void VisitFront(size_t max, Visit&& visit) const {
    for (size_t i = head_; i < segments_.size() && i - head_ < max; ++i) {
      Bytes view = View(i);
      visit(i == head_ ? view.substr(front_sent_) : view);
    }
  }
  // Removes the first `n` bytes, which were sent.
  void Consume(size_t n);
  // Returns the content after the first `skipped` bytes as one string. Cost: O(n).
  std::string Text(size_t skipped = 0) const;

 private:
  struct Segment {
    std::unique_ptr<char[]> block;  // null if the bytes are in `blob`
    BlobRef blob;
    size_t offset = 0;  // in `blob`
    size_t size = 0;  // of the part of `blob` or of a closed block; the open block is the last segment and ends at end_

    bool IsContinuedBy(const BlobPart& part) const { return blob.Is(part.blob) && offset + size == part.offset; }
  };
  // If the buffer has this many segments, further parts are copied into a block instead of referenced.
  static constexpr size_t kScatteredParts = 4;

  bool IsOpen(size_t index) const { return end_ != nullptr && index + 1 == segments_.size(); }
  Bytes View(size_t index) const;
  void AddBlock();
  void CloseBlock();
  void AppendSlowly(Bytes bytes);
  void AppendPartSlowly(const BlobPart& part);
  void Refer(BlobRef blob, size_t offset, size_t size);
  void Release(Segment& segment);

  BlockPool* pool_;
  std::vector<Segment> segments_;
  size_t head_ = 0;        // index of the first unsent segment
  size_t front_sent_ = 0;  // bytes of the first unsent segment that are already sent
  char* end_ = nullptr;    // where the next byte is written in the open block; null if no block is open
  size_t room_ = 0;
  size_t size_ = 0;
  size_t held_bytes_ = 0;
  size_t block_bytes_ = 0;
};

}  // namespace respite
