// LinkConditions: the network conditions that a link simulates. DelayQueue: the bytes of a link that are delayed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace respite {

struct LinkConditions {          // a bad network that a link simulates (command TEST)
  bool is_cut = false;           // true: the link stays open but transfers nothing, as if packets were lost
  int64_t send_delay_ms = 0;     // delay of sent bytes
  int64_t receive_delay_ms = 0;  // delay of received bytes
};

// Simulates a slow network: delays the bytes of a link, and keeps their order.
class DelayQueue {  // delays the bytes of a link that simulates a slow network; keeps their order
 public:
  bool IsEmpty() const { return waiting_pieces_.empty(); }  // true: no bytes wait
  size_t Size() const { return bytes_; }                    // number of waiting bytes
  // Requires: !IsEmpty().
  int64_t NextDueMs() const { return waiting_pieces_.front().due_ms; }  // when the first bytes are due

  // Queues bytes until `due_ms`. Bytes that were queued earlier are due first, even if they had a longer delay.
  void Add(Bytes bytes, int64_t due_ms) {  // queues bytes until `due_ms` (real elapsed time), after the earlier ones
    if (!IsEmpty()) due_ms = std::max(due_ms, waiting_pieces_.back().due_ms);
    waiting_pieces_.push_back({due_ms, std::string(bytes)});
    bytes_ += bytes.size();
  }
  void ShortenDelays(int64_t latest_ms) {  // shortens delays, so that all queued bytes are due by `latest_ms`
    for (Piece& piece : waiting_pieces_) piece.due_ms = std::min(piece.due_ms, latest_ms);
  }
  std::string TakeDue(int64_t now_ms);  // removes and returns the bytes that are due

 private:
  struct Piece {        // bytes that wait until a time
    int64_t due_ms;     // when the bytes are due, in real elapsed time
    std::string bytes;  // the waiting bytes
  };
  std::deque<Piece> waiting_pieces_;  // delayed pieces in order of due_ms
  size_t bytes_ = 0;                  // number of bytes in waiting_pieces_
};

inline std::string DelayQueue::TakeDue(int64_t now_ms) {  // removes and returns the bytes that are due
  std::string due;
  while (!IsEmpty() && NextDueMs() <= now_ms) {
    due += waiting_pieces_.front().bytes;
    waiting_pieces_.pop_front();
  }
  bytes_ -= due.size();
  return due;
}

}  // namespace respite
