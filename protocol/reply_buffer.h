// ReplyBuffer: the bytes that wait to be sent to one client.
//
// The buffer is a queue of segments: blocks of text that grow at the end, and references to Blobs or parts of Blobs,
// which are sent without a copy. Blocks come from a BlockPool that all clients share, so an idle client holds none. If
// a command fails after it wrote part of its reply, RollBack removes that part. SetLimit bounds the memory of a reply
// while it is being written.
#pragma once

#include <algorithm>
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

// Keeps free blocks of 16 KB for reuse, because the allocator would map and unmap pages for each such block. Trim frees
// blocks that were not needed lately. Not thread safe; must outlive every ReplyBuffer that uses it.
class BlockPool {  // keeps free blocks of 16 KB, which all reply buffers reuse
 public:
  static constexpr size_t kBlockBytes = 16 * 1024;  // size of each block in bytes
  static constexpr size_t kMaxFreeBlocks = 1024;    // maximum number of free blocks in the pool

  std::unique_ptr<char[]> Take() {
    if (free_.empty()) return std::unique_ptr<char[]>(new char[kBlockBytes]);
    std::unique_ptr<char[]> block = std::move(free_.back());
    free_.pop_back();
    min_free_blocks_ = std::min(min_free_blocks_, free_.size());
    return block;
  }
  void Return(std::unique_ptr<char[]> block) {  // keeps a block for reuse; frees it if the pool has enough
    if (free_.size() < kMaxFreeBlocks) free_.push_back(std::move(block));
  }
  // Frees half of the blocks that were not used since the last Trim. Must be called periodically.
  void Trim();
  void Clear();                                           // frees all free blocks, for example before keys are evicted
  size_t FreeBlockCount() const { return free_.size(); }  // number of free blocks in the pool

 private:
  std::vector<std::unique_ptr<char[]>> free_;
  size_t min_free_blocks_ = 0;  // lowest number of free blocks since the last Trim
};

class ReplyBuffer {  // a queue of bytes to send to one client, in blocks and shared Blobs
 public:
  static constexpr size_t kMinSharedBytes = BlockPool::kBlockBytes;  // a Blob of this size or more is not copied
  static constexpr size_t kNoLimit = SIZE_MAX;                       // for SetLimit: any size

  explicit ReplyBuffer(BlockPool& pool) : pool_(&pool) {}
  ReplyBuffer(const ReplyBuffer&) = delete;
  ReplyBuffer& operator=(const ReplyBuffer&) = delete;
  ~ReplyBuffer() { Clear(); }

  bool IsEmpty() const { return size_ == 0; }  // true: nothing waits to be sent
  // Returns the number of bytes that wait to be sent.
  size_t Size() const { return size_; }
  size_t SegmentCount() const { return segments_.size() - head_; }  // number of unsent blocks and Blob parts
  size_t HeldBytes() const { return held_bytes_; }    // bytes of memory of the unsent blocks and Blob parts
  size_t BlockBytes() const { return block_bytes_; }  // bytes of memory of the unsent blocks, without Blobs
  size_t SegmentListBytes() const { return segments_.capacity() * sizeof(Segment); }  // memory of the list of segments

  // Sets the maximum of HeldBytes. When an append exceeds the maximum, the buffer overflows: that append and all later
  // ones are dropped. Size also counts the dropped bytes, so that RollBack and the sizes of replies stay right. The
  // overflow ends with Clear, with Rewind, or with a RollBack to a size before the dropped bytes. Until then, the owner
  // must not send the content. Cost of a limit: one comparison for each new block and each reference to a Blob.
  void SetLimit(size_t held_bytes) { limit_ = held_bytes; }                // sets the maximum of HeldBytes
  bool HasOverflowed() const { return missing_from_ != kNothingMissing; }  // true: bytes above the limit were dropped

  // Requires: n <= BlockPool::kBlockBytes.
  char* Reserve(size_t n) {  // returns where to write `n` bytes; Commit then appends them
    if (n > room_) AddBlock();
    return end_;
  }
  void Commit(size_t n) {  // appends the `n` bytes that were written after Reserve
    end_ += n;
    room_ -= n;
    size_ += n;
  }
  void Append(Bytes bytes) {  // appends a copy of these bytes
    if (bytes.size() > room_) return AppendSlowly(bytes);
    Commit(bytes.copy(end_, bytes.size()));  // unlike memcpy, accepts an empty view with a null pointer
  }
  void AppendShared(BlobRef blob);  // appends a Blob without a copy
  // Stores a reference to the shared Blob if this is cheaper than a copy. So a client needs no block of 16 KB if only a
  // few shared messages wait for it, or only messages that are adjacent in their SharedLog.
  void AppendPart(const BlobPart& part) {  // appends part of a shared Blob, maybe without a copy
    if (end_ == nullptr && !segments_.empty() && segments_.back().IsContinuedBy(part)) {
      segments_.back().size += part.size;
      held_bytes_ += part.size;
      size_ += part.size;
    } else {
      AppendPartSlowly(part);
    }
  }

  // Requires: none of the removed bytes has been sent.
  void RollBack(size_t size);  // removes what was appended since Size() was `size`
  void Clear();                // removes all bytes, and returns the blocks to the pool
  // Removes all bytes, but usually keeps the block, for code in this process that reads many replies one after the
  // other.
  void Rewind() {  // removes all bytes; keeps the block if the buffer has only one, and nothing was sent
    if (end_ == nullptr || segments_.size() != 1 || front_sent_bytes_ != 0 || HasOverflowed()) return Clear();
    end_ -= size_;
    room_ += size_;
    size_ = 0;
  }

  Bytes Front() const {  // the first block or Blob part that waits to be sent; requires: the buffer is not empty
    const Bytes view = View(head_);
    return {view.data() + front_sent_bytes_, view.size() - front_sent_bytes_};
  }
  // VisitFront calls visit(Bytes) for each of the first `max` blocks and Blob parts that wait to be sent.
  template <class Visit>
  void VisitFront(size_t max, Visit&& visit) const {  // calls visit(Bytes) for up to `max` unsent segments
    for (size_t i = head_; i < segments_.size() && i - head_ < max; ++i) {
      Bytes view = View(i);
      visit(i == head_ ? view.substr(front_sent_bytes_) : view);
    }
  }
  // Requires: no bytes were dropped (SetLimit), or n == Size().
  void Consume(size_t n);  // removes the first `n` bytes, which were sent
  // Returns the content after the first `skipped` bytes as one string. Requires: no bytes were dropped (SetLimit).
  // Cost: O(n).
  std::string Text(size_t skipped = 0) const;
  // Returns the content as one string, and clears the buffer. Frees each block when it is copied, so that the memory is
  // never needed twice. Requires: no bytes were dropped (SetLimit). Cost: O(n).
  std::string TakeText();  // moves the content into one string

 private:
  struct Segment {                  // a block, or a reference to part of a Blob
    std::unique_ptr<char[]> block;  // the memory of a block; null: the bytes are in `blob`
    BlobRef blob;
    size_t offset = 0;  // where the bytes begin in `blob`
    size_t size = 0;    // bytes in `blob` or in the closed block; not used in the open block, which ends at end_

    bool IsContinuedBy(const BlobPart& part) const {  // true: `part` begins where this part ends
      return blob.Is(part.blob) && offset + size == part.offset;
    }
  };
  // With this number of segments or more, a short message that does not fit into the open block is copied instead of
  // referenced. The first message of a SharedLog is referenced even then, because later messages extend the reference.
  static constexpr size_t kMaxScatteredParts = 4;  // with this many segments, short messages are copied

  static constexpr size_t kNothingMissing = SIZE_MAX;  // value of missing_from_ if no bytes were dropped

  bool IsOpen(size_t index) const {  // true: this segment is a block to which bytes can be appended
    return end_ != nullptr && index + 1 == segments_.size() && !HasOverflowed();
  }
  Bytes View(size_t index) const {  // all bytes of this segment, also those that are sent
    const Segment& segment = segments_[index];
    if (!segment.block) return {segment.blob.ConstData() + segment.offset, segment.size};
    const char* const begin = segment.block.get();
    return {begin, IsOpen(index) ? static_cast<size_t>(end_ - begin) : segment.size};
  }
  void AddBlock();                        // appends an empty block, the new open one; overflows above the limit
  void CloseBlock();                      // closes the open block: no bytes are appended to it any more
  bool ExceedsLimit(size_t more) const {  // true: with `more` further bytes, more than limit_ bytes would be held
    return HasOverflowed() || held_bytes_ + more > limit_;
  }
  void DropAppends();  // overflows: until EndOverflow, appended bytes go to dropped_
  void EndOverflow();  // ends the overflow: Size no longer counts the dropped bytes; appends are stored again
  void AppendSlowly(Bytes bytes);                                  // appends bytes for which the open block has no room
  void AppendPartSlowly(const BlobPart& part);                     // appends a part that does not continue the last one
  void AppendReference(BlobRef blob, size_t offset, size_t size);  // appends part of a Blob, without a copy
  void Release(Segment& segment);  // returns the block to the pool, or drops the reference to the Blob

  BlockPool* pool_;                // where blocks come from and return to
  std::vector<Segment> segments_;  // blocks and Blob parts; those before head_ are sent
  size_t head_ = 0;                // index of the first unsent segment
  size_t front_sent_bytes_ = 0;    // how many bytes of the first unsent segment are sent
  char* end_ = nullptr;            // where the next byte is written, in the open block or dropped_; null: no open block
  size_t room_ = 0;                // unused bytes after end_
  size_t size_ = 0;                // number of bytes that wait to be sent
  size_t held_bytes_ = 0;          // bytes of memory of the unsent blocks and Blob parts
  size_t block_bytes_ = 0;         // bytes of memory of the unsent blocks, without Blobs
  size_t limit_ = kNoLimit;        // the maximum of held_bytes_; bytes above it are dropped
  size_t missing_from_ = kNothingMissing;  // after an overflow: how many bytes are stored; later ones were dropped
  std::unique_ptr<char[]> dropped_;  // after an overflow: a block that the dropped bytes overwrite again and again
};

}  // namespace respite
