// ReplyBuffer: the bytes that wait to be sent to one client.
//
// A queue of segments: blocks of text that grow at the end, and references to Blobs or parts of them, which are sent
// without a copy. Blocks come from a BlockPool shared by all clients, so an idle client holds none. RollBack serves
// refusals: if a command fails after it wrote part of its reply, that part is removed.
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
// frees blocks that nobody needed lately. Not thread-safe; must outlive every ReplyBuffer that uses it.
class BlockPool {
 public:
  static constexpr size_t kBlockBytes = 16 * 1024;
  static constexpr size_t kKept = 1024;  // after the replies of a busy Turn

  std::unique_ptr<char[]> Take();
  void Return(std::unique_ptr<char[]> block);
  // Frees half of the blocks that nobody took since the last Trim. Call it periodically.
  void Trim();
  // Frees all kept blocks, when memory is short.
  void Clear();
  size_t Kept() const { return free_.size(); }

 private:
  std::vector<std::unique_ptr<char[]>> free_;
  size_t least_kept_ = 0;  // minimum since the last Trim
};

class ReplyBuffer {
 public:
  // Values at least this long are referenced instead of copied.
  static constexpr size_t kShareFrom = BlockPool::kBlockBytes;

  explicit ReplyBuffer(BlockPool& pool) : pool_(&pool) {}
  ReplyBuffer(const ReplyBuffer&) = delete;
  ReplyBuffer& operator=(const ReplyBuffer&) = delete;
  ~ReplyBuffer() { Clear(); }

  bool Empty() const { return size_ == 0; }
  // Bytes waiting to be sent.
  size_t Size() const { return size_; }
  // Blocks and Blobs in the queue, and the memory they hold.
  size_t Segments() const { return segments_.size() - head_; }
  size_t HeldBytes() const { return held_bytes_; }
  // Of this, what lies in blocks, which belong to nobody else.
  size_t BlockBytes() const { return block_bytes_; }
  // The memory of the queue itself.
  size_t QueueBytes() const { return segments_.capacity() * sizeof(Segment); }

  // `n` writable bytes at the end, n <= BlockPool::kBlockBytes; Commit tells how many were written.
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
  // Sends the Blob without a copy.
  void AppendShared(BlobRef blob);
  // Appends a message that other clients get, too: as a reference if that is cheaper than a copy. Takes no block while
  // there are only a few such messages, or while they are adjacent in their log.
  void AppendPart(const BlobPart& part) {
    if (end_ == nullptr && !segments_.empty() && segments_.back().IsContinuedBy(part)) {
      segments_.back().size += part.size;
      held_bytes_ += part.size;
      size_ += part.size;
    } else {
      AppendPartSlowly(part);
    }
  }

  // Removes everything that was appended since Size() was `size`. Requires: none of it has been sent.
  void RollBack(size_t size);
  void Clear();
  // As Clear, but keeps the block for immediate reuse. For code that reads one reply after another in this process.
  void Rewind() {
    if (end_ == nullptr || segments_.size() != 1 || front_sent_ != 0) return Clear();
    end_ -= size_;
    room_ += size_;
    size_ = 0;
  }

  // Calls `visit(Bytes)` for up to `max` pieces from the front.
  template <class Visit>
  void VisitFront(size_t max, Visit&& visit) const {
    for (size_t i = head_; i < segments_.size() && i - head_ < max; ++i) {
      Bytes view = View(i);
      visit(i == head_ ? view.substr(front_sent_) : view);
    }
  }
  // `n` bytes from the front were sent.
  void Consume(size_t n);
  // Everything, or everything after the first `skipped` bytes, as one string. Cost: O(n).
  std::string Text(size_t skipped = 0) const;

 private:
  struct Segment {
    std::unique_ptr<char[]> block;  // null: the bytes are in blob
    BlobRef blob;
    size_t offset = 0;  // in blob
    size_t size = 0;    // of the part of blob, or of a closed block; the open block is the last one and ends at end_

    bool IsContinuedBy(const BlobPart& part) const { return blob.Is(part.blob) && offset + size == part.offset; }
  };
  // The number of parts that may be referred to before further ones are copied into a block.
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
  size_t head_ = 0;        // earlier segments are sent
  size_t front_sent_ = 0;  // bytes of the first segment that are already sent
  char* end_ = nullptr;    // where the next byte of the open block goes; null: no open block
  size_t room_ = 0;
  size_t size_ = 0;
  size_t held_bytes_ = 0;
  size_t block_bytes_ = 0;
};

}  // namespace respite
