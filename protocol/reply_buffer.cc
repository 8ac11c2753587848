#include "protocol/reply_buffer.h"

#include <algorithm>
#include <cassert>

namespace respite {

void BlockPool::Trim() {
  free_.resize(free_.size() - (min_free_blocks_ + 1) / 2);
  min_free_blocks_ = free_.size();
}

void BlockPool::Clear() {
  free_.clear();
  free_.shrink_to_fit();
  min_free_blocks_ = 0;
}

void ReplyBuffer::CloseBlock() {
  if (end_ == nullptr) return;
  Segment& last = segments_.back();
  last.size = static_cast<size_t>(end_ - last.block.get());
  end_ = nullptr;
  room_ = 0;
}

void ReplyBuffer::AddBlock() {
  if (ExceedsLimit(BlockPool::kBlockBytes)) return DropAppends();
  CloseBlock();
  segments_.push_back({.block = pool_->Take(), .blob = {}});
  held_bytes_ += BlockPool::kBlockBytes;
  block_bytes_ += BlockPool::kBlockBytes;
  end_ = segments_.back().block.get();
  room_ = BlockPool::kBlockBytes;
}

void ReplyBuffer::DropAppends() {
  if (!HasOverflowed()) {
    CloseBlock();
    missing_from_ = size_;
    dropped_ = pool_->Take();
  }
  end_ = dropped_.get();
  room_ = BlockPool::kBlockBytes;
}

void ReplyBuffer::EndOverflow() {
  size_ = missing_from_;
  missing_from_ = kNothingMissing;
  pool_->Return(std::move(dropped_));
  end_ = nullptr;
  room_ = 0;
}

void ReplyBuffer::AppendSlowly(Bytes bytes) {
  while (!bytes.empty()) {
    if (room_ == 0) AddBlock();
    size_t part = std::min(room_, bytes.size());
    std::memcpy(end_, bytes.data(), part);
    Commit(part);
    bytes.remove_prefix(part);
  }
}

void ReplyBuffer::AppendShared(BlobRef blob) {
  const size_t size = blob.Size();
  AppendReference(std::move(blob), 0, size);
}

void ReplyBuffer::AppendReference(BlobRef blob, size_t offset, size_t size) {
  const bool is_dropped = ExceedsLimit(size);
  is_dropped ? DropAppends() : CloseBlock();
  size_ += size;
  if (is_dropped) return;
  held_bytes_ += size;
  segments_.push_back({.block = nullptr, .blob = std::move(blob), .offset = offset, .size = size});
}

void ReplyBuffer::AppendPartSlowly(const BlobPart& part) {
  // Stores a reference instead of a copy if the part is large. Copies a small part if it fits into the open block. If
  // it does not fit, stores a reference while the buffer has few segments, or if it is the first message of a SharedLog
  // (offset 0), because later messages of the log will extend this reference.
  const bool shares = part.size >= SharedLog::kMaxLoggedMessageBytes ||
                      (part.size > room_ && (part.offset == 0 || SegmentCount() < kMaxScatteredParts));
  if (shares) return AppendReference(part.blob, part.offset, part.size);
  Append(part.View());
}

void ReplyBuffer::Release(Segment& segment) {
  held_bytes_ -= segment.block ? BlockPool::kBlockBytes : segment.size;
  if (segment.block) {
    block_bytes_ -= BlockPool::kBlockBytes;
    pool_->Return(std::move(segment.block));
  }
  segment.blob = {};
}

void ReplyBuffer::RollBack(size_t size) {
  if (HasOverflowed()) {
    if (size > missing_from_) return void(size_ = std::min(size_, size));
    EndOverflow();
  }
  while (size_ > size) {
    Bytes last = View(segments_.size() - 1);
    size_t sent = segments_.size() - 1 == head_ ? front_sent_bytes_ : 0;
    size_t unsent = last.size() - sent;
    size_t surplus = size_ - size;
    if (surplus < unsent && !segments_.back().block) {  // the new end is inside this part
      segments_.back().size -= surplus;
      held_bytes_ -= surplus;
      size_ = size;
      return;
    }
    if (surplus < unsent) {  // the new end is inside this block
      end_ = segments_.back().block.get() + (last.size() - surplus);
      room_ = BlockPool::kBlockBytes - (last.size() - surplus);
      size_ = size;
      return;
    }
    size_ -= unsent;
    Release(segments_.back());
    segments_.pop_back();
    end_ = nullptr;
    room_ = 0;
    if (segments_.size() == head_) Clear();
  }
}

void ReplyBuffer::Clear() {
  if (HasOverflowed()) EndOverflow();
  while (!segments_.empty()) {
    if (segments_.back().block) pool_->Return(std::move(segments_.back().block));
    segments_.pop_back();
  }
  if (segments_.capacity() > 8) segments_.shrink_to_fit();
  head_ = front_sent_bytes_ = room_ = size_ = held_bytes_ = block_bytes_ = 0;
  end_ = nullptr;
}

void ReplyBuffer::Consume(size_t n) {
  assert(!HasOverflowed() || n == size_);
  size_ -= n;
  if (size_ == 0) return Clear();
  n += front_sent_bytes_;
  while (n >= View(head_).size()) {
    n -= View(head_).size();
    Release(segments_[head_]);
    ++head_;
  }
  front_sent_bytes_ = n;
  if (head_ > 64 && head_ * 2 > segments_.size()) {
    segments_.erase(segments_.begin(), segments_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }
}

std::string ReplyBuffer::Text(size_t skipped) const {
  std::string text;
  text.reserve(size_ - skipped);
  VisitFront(segments_.size(), [&](Bytes piece) {
    const size_t passed = std::min(skipped, piece.size());
    skipped -= passed;
    text.append(piece.substr(passed));
  });
  return text;
}

std::string ReplyBuffer::TakeText() {
  std::string text;
  text.reserve(size_);
  while (!IsEmpty()) {
    const size_t before = text.size();
    VisitFront(1, [&](Bytes piece) { text.append(piece); });
    Consume(text.size() - before);
  }
  return text;
}

}  // namespace respite
