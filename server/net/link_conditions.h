// LinkConditions: the network conditions that a link simulates. DelayQueue: the bytes of a link that are delayed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace respite {

struct LinkConditions {          // what TEST CLUSTER simulates for a link: a cut network, delays
  bool is_cut = false;           // true: the link stays open, but bytes and connecting wait until the cut ends
  int64_t send_delay_ms = 0;     // how long sent bytes are delayed
  int64_t receive_delay_ms = 0;  // how long received bytes are delayed
};

// Simulates a slow network: delays the bytes of a link, and keeps their order.
class DelayQueue {  // holds back the bytes of a link for a simulated delay; keeps their order
 public:
  bool IsEmpty() const { return waiting_pieces_.empty(); }  // true: no bytes wait
  size_t Size() const { return bytes_; }                    // number of waiting bytes
  // Requires: !IsEmpty().
  int64_t NextDueMs() const { return waiting_pieces_.front().due_ms; }  // when the first bytes are due (real time)

  // Queues bytes until `due_ms`, or until the earlier bytes are due if that is later. So bytes never overtake earlier
  // ones.
  void Add(Bytes bytes, int64_t due_ms) {  // queues bytes until `due_ms` (real time), but after the earlier ones
    if (!IsEmpty()) due_ms = std::max(due_ms, waiting_pieces_.back().due_ms);
    waiting_pieces_.push_back({due_ms, std::string(bytes)});
    bytes_ += bytes.size();
  }
  void ShortenDelays(int64_t latest_ms) {  // makes all bytes due at `latest_ms` (real time) or before
    for (Piece& piece : waiting_pieces_) piece.due_ms = std::min(piece.due_ms, latest_ms);
  }
  std::string TakeDue(int64_t now_ms);  // removes and returns the bytes that are due by now

 private:
  struct Piece {        // some bytes, and when they are due
    int64_t due_ms;     // when the bytes are due (real time)
    std::string bytes;  // the bytes that wait
  };
  std::deque<Piece> waiting_pieces_;  // bytes that wait, ordered by due_ms
  size_t bytes_ = 0;                  // number of bytes in waiting_pieces_
};

inline std::string DelayQueue::TakeDue(int64_t now_ms) {  // removes and returns the bytes that are due by now
  std::string due;
  while (!IsEmpty() && NextDueMs() <= now_ms) {
    due += waiting_pieces_.front().bytes;
    waiting_pieces_.pop_front();
  }
  bytes_ -= due.size();
  return due;
}

}  // namespace respite
