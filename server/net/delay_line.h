// DelayLine: octets of a link that move on later than they came, in the same order: a network that is slow on purpose.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace respite {

class DelayLine {
 public:
  bool Empty() const { return waiting_.empty(); }
  size_t Octets() const { return octets_; }
  // When the next octets are due. Requires: it is not empty.
  int64_t NextDueMs() const { return waiting_.front().due_ms; }

  // What came before is due first, also if that had a longer delay.
  void Add(Bytes bytes, int64_t due_ms) {
    if (!Empty()) due_ms = std::max(due_ms, waiting_.back().due_ms);
    waiting_.push_back({due_ms, std::string(bytes)});
    octets_ += bytes.size();
  }
  // Nothing is due later than this.
  void Hasten(int64_t latest_ms) {
    for (Piece& piece : waiting_) piece.due_ms = std::min(piece.due_ms, latest_ms);
  }
  // Removes all octets that are due.
  std::string TakeDue(int64_t now_ms);

 private:
  struct Piece {
    int64_t due_ms;
    std::string octets;
  };
  std::deque<Piece> waiting_;
  size_t octets_ = 0;
};

inline std::string DelayLine::TakeDue(int64_t now_ms) {
  std::string due;
  while (!Empty() && NextDueMs() <= now_ms) {
    due += waiting_.front().octets;
    waiting_.pop_front();
  }
  octets_ -= due.size();
  return due;
}

}  // namespace respite
