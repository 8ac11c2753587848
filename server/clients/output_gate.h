// OutputGate: holds back part of the output of one client, as requested by TEST FAULT. Output after a barrier is not
// sent until the barrier opens, so replies and messages keep their order.
//
//   OutputGate gate;
//   gate.AddHold(5, {.owner = 1, .until_ms = 3000}, 2000);
//   gate.SendableBytes(10);   // 5
//   gate.NoteSent(5);
//   gate.Advance(3000);
//   gate.SendableBytes(5);    // 5
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace respite {

class OutputGate {  // holds back output of one client (TEST FAULT)
 public:
  static constexpr int64_t kNever = INT64_MAX;  // no time: only the owner opens the barrier

  struct Hold {                 // the owner of a barrier, and when it opens
    uint64_t owner = 0;         // id of the fault rule, for Open
    int64_t until_ms = kNever;  // monotonic time when the barrier opens
  };
  // Adds a barrier, which holds back all output after the next `place` unsent bytes until the hold ends. Requires:
  // `place` is not before an existing barrier.
  void AddHold(size_t place, Hold hold, int64_t now_ms);  // holds back the output after `place` unsent bytes
  struct Trickle {                                        // output that is sent slowly
    uint64_t owner = 0;                                   // id of the fault rule, for Open
    size_t bytes = 0;                                     // how much output after the barrier is sent slowly
    int64_t per_second;                                   // bytes per second, more than 0
  };
  void AddTrickle(size_t place, Trickle trickle, int64_t now_ms);  // slows the output after `place` unsent bytes
  // Ends the output: what comes after the next `place` unsent bytes is never sent. HasReachedEnd tells when those bytes
  // were sent; then the caller closes the connection.
  void AddFinalBarrier(size_t place);  // output after `place` unsent bytes is never sent

  void BeginPartialReply(size_t place);  // holds back a reply that is written piece by piece, from here on
  bool HasPartialReply() const { return has_partial_reply_; }  // a reply is being written piece by piece
  size_t EndPartialReply();  // removes that barrier; returns its position in the unsent output

  size_t SendableBytes(size_t size) const;         // how many of `size` unsent bytes may be sent now
  void NoteSent(size_t bytes) { sent_ += bytes; }  // counts output that was sent
  enum class Steps : uint8_t { kSmall, kNone };
  // Opens barriers whose time has come. `steps` sets when slow output (a trickle) is due again. kSmall: as soon as some
  // more bytes may pass. kNone: when all of it may pass. Cost: O(opened barriers).
  void Advance(int64_t now_ms, Steps steps = Steps::kSmall);  // opens barriers whose time has come
  int64_t NextDueMs() const;                                  // monotonic time when Advance has an effect again
  // Opens the barriers of one owner; OpenAllBarriers opens those of all owners. Two kinds of barriers stay closed: the
  // end set by AddFinalBarrier, and the barrier before a partial reply.
  void Open(uint64_t owner, int64_t now_ms);
  void OpenAllBarriers(int64_t now_ms);  // opens the barriers of all owners

  bool IsOpen() const { return barriers_.empty(); }  // there are no barriers
  bool HasReachedEnd() const;                        // all output before the final barrier was sent
  size_t HeldBytes() const { return barriers_.size() * sizeof(Barrier); }  // memory that it uses

 private:
  static constexpr int64_t kNotYet = -1;         // since_ms of a trickle that has not begun
  static constexpr int64_t kTrickleStepMs = 10;  // how often a trickle sends more bytes

  enum class Kind : uint8_t { kHold, kTrickle, kEnd };
  struct Barrier {  // a position in the output; later output is held back or slowed
    Kind kind;
    uint64_t owner = 0;          // id of the fault rule, for Open; 0: none
    uint64_t at = 0;             // position of the barrier: bytes since the gate was created
    int64_t due_ms = kNever;     // monotonic time when a hold opens or a trickle may send more
    uint64_t bytes = 0;          // how much output a trickle sends slowly
    uint64_t passed = 0;         // bytes that the trickle has let pass so far
    int64_t per_second = 0;      // speed of a trickle in bytes per second
    int64_t since_ms = kNotYet;  // monotonic time when the trickle began
  };

  void Add(Barrier barrier, int64_t now_ms);
  // Returns whether the barrier is open at this time. If it is a trickle that has not ended, computes how many bytes
  // may pass by now.
  static bool Pass(Barrier& barrier, int64_t now_ms, Steps steps);
  template <class IsMeant>
  void OpenBarriersIf(IsMeant&& is_meant, int64_t now_ms);  // removes the barriers that is_meant selects

  std::deque<Barrier> barriers_;    // ordered by position in the output
  uint64_t sent_ = 0;               // bytes sent since the gate was created
  bool has_partial_reply_ = false;  // the last barrier is before a reply that is written piece by piece
};

}  // namespace respite
