// Backlog: the last part of the replication stream. It is for replicas that reconnect, and for replicas that receive a
// snapshot and then need the stream after this snapshot.
//
// The backlog is a list of parts of shared Blobs (reference-counted buffers). The output of replicas refers to the same
// Blobs, so even ten slow replicas need only one copy of the bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "protocol/shared_log.h"

namespace respite {

class Backlog {  // the last part of the replication stream, for replicas that reconnect
 public:
  void Restart(int64_t offset) {  // drops all bytes; Append then continues after replication offset `offset`
    parts_.clear();
    blob_bytes_ = 0;
    begin_ = end_ = offset;
  }
  void Append(const BlobPart& part);  // adds the next bytes of the stream, after End()
  // Drops the oldest bytes until `max_bytes` remain. Keeps all bytes after `needed_from`, the smallest offset that a
  // replica still needs, even if they are more. Cost: O(parts dropped).
  void Trim(int64_t max_bytes, int64_t needed_from);  // drops bytes beyond `max_bytes` that no replica needs

  // The backlog has the bytes after Begin() up to End(), both counted from the beginning of the stream.
  int64_t Begin() const { return begin_; }            // replication offset after which the kept bytes start
  int64_t End() const { return end_; }                // replication offset at which the kept bytes end
  int64_t RawBytes() const { return end_ - begin_; }  // number of kept bytes of the stream
  bool Has(int64_t offset) const { return offset >= begin_ && offset <= end_; }
  // Returns the memory of the Blobs, each counted once, and of the list. Output of replicas may share the Blobs.
  size_t HeldBytes() const { return blob_bytes_ + parts_.size() * sizeof(Item); }  // memory of the backlog, in bytes

  // Calls `visit(const BlobPart&)` for the bytes after `offset`, at most up to `until`. Requires: Has(offset).
  template <class Visit>
  void VisitFrom(int64_t offset, int64_t until, Visit&& visit) const;  // calls `visit` for bytes in (offset, until]

 private:
  struct Item {     // one part of the kept bytes
    int64_t begin;  // replication offset after which this part starts
    BlobPart part;

    BlobPart Piece(int64_t from, int64_t to) const {  // the bytes of this part in (from, to], two replication offsets
      return {part.blob, part.offset + static_cast<size_t>(from - begin), static_cast<size_t>(to - from)};
    }
  };

  std::deque<Item> parts_;  // the kept bytes, in the order of the stream
  int64_t begin_ = 0;       // replication offset after which the kept bytes start
  int64_t end_ = 0;         // replication offset at which the kept bytes end
  size_t blob_bytes_ = 0;   // memory of the Blobs, each counted once
};

template <class Visit>
void Backlog::VisitFrom(int64_t offset, int64_t until, Visit&& visit) const {  // visits the bytes in (offset, until]
  auto item = std::upper_bound(parts_.begin(), parts_.end(), offset,
                               [](int64_t wanted, const Item& one) { return wanted < one.begin; });
  if (item != parts_.begin()) --item;
  for (; item != parts_.end() && item->begin < until; ++item) {
    const int64_t item_end = item->begin + static_cast<int64_t>(item->part.size);
    const int64_t from = std::max(offset, item->begin);
    const int64_t to = std::min(until, item_end);
    if (from < to) visit(item->Piece(from, to));
  }
}

}  // namespace respite
