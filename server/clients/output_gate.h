// OutputGate: holds back part of the output of one client, as requested by TEST FAULT. A barrier is a place in the
// output: all later output waits until the barrier opens, so replies and messages keep their order.
//
//   OutputGate gate;
//   gate.AddHold(5, {.rule_id = 1, .until_ms = 3000}, 2000);  // at 2000 ms: a barrier after 5 bytes, until 3000 ms
//   gate.SendableBytes(10);                                   // 5: the barrier holds back the other 5
//   gate.NoteSent(5);
//   gate.Advance(3000);     // opens the barrier
//   gate.SendableBytes(5);  // 5
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace respite {

class OutputGate {  // holds back output of one client (TEST FAULT)
 public:
  static constexpr int64_t kNever = INT64_MAX;  // a time that never comes

  struct Hold {                 // when a barrier opens: at a time, or when Open names its fault rule
    uint64_t rule_id = 0;       // id of the fault rule for which Open opens this barrier
    int64_t until_ms = kNever;  // monotonic clock time when the barrier opens by itself
  };
  // Adds a barrier after the next `place` unsent bytes. All output after the barrier is held back until the hold ends.
  // Requires: `place` is not before an existing barrier.
  void AddHold(size_t place, Hold hold, int64_t now_ms);  // holds back output after `place` unsent bytes, for a time
  struct Trickle {             // output that is sent slowly, some bytes every few milliseconds
    uint64_t rule_id = 0;      // TEST FAULT rule that made the output slow; Open ends it by this id
    size_t bytes = 0;          // number of bytes after the barrier that are sent slowly
    int64_t bytes_per_second;  // speed in bytes per second, more than 0
  };
  void AddTrickle(size_t place, Trickle trickle, int64_t now_ms);  // after `place` bytes, sends trickle.bytes slowly
  // Output after the next `place` unsent bytes is never sent. HasReachedEnd returns true when these bytes were sent;
  // then the caller closes the connection.
  void EndOutputAfter(size_t place);  // cuts the output after the next `place` unsent bytes

  void BeginPartialReply(size_t place);  // holds back output after the next `place` bytes, until EndPartialReply
  bool HasPartialReply() const { return has_partial_reply_; }  // true: an incomplete reply is held
  size_t EndPartialReply();  // lets the held reply pass; returns its position in the unsent output

  size_t SendableBytes(size_t size) const;               // how many of `size` unsent bytes may be sent now
  void NoteSent(size_t bytes) { sent_bytes_ += bytes; }  // must be called when output was sent
  enum class Steps : uint8_t { kSmall, kNone };          // how often a trickle lets bytes pass
  // Opens barriers whose time has come. Afterwards NextDueMs returns when Advance must be called again. For slow output
  // (a trickle) this is, with kSmall, when some more bytes may be sent. With kNone it is when all bytes may be sent, so
  // that a jump of the clock (TEST CLOCK) needs no small steps. Cost: O(opened barriers).
  void Advance(int64_t now_ms, Steps steps = Steps::kSmall);  // opens barriers whose time has come
  int64_t NextDueMs() const;                                  // clock time when Advance has an effect again, or kNever
  // Open opens the barriers of one fault rule, OpenAllBarriers the barriers of all rules. Two kinds of barriers stay
  // closed: the end set by EndOutputAfter, and the barrier before a partial reply.
  void Open(uint64_t rule_id, int64_t now_ms);  // opens the barriers of this fault rule
  void OpenAllBarriers(int64_t now_ms);         // opens the barriers of all fault rules

  bool IsOpen() const { return barriers_.empty(); }  // true: nothing is held back
  bool HasReachedEnd() const;                        // true: all output before EndOutputAfter's place was sent
  size_t HeldBytes() const { return barriers_.size() * sizeof(Barrier); }  // memory in bytes

 private:
  static constexpr int64_t kNotYet = -1;         // value of since_ms until the slow output begins
  static constexpr int64_t kTrickleStepMs = 10;  // slow output is sent in steps of at least 10 ms

  enum class Kind : uint8_t { kHold, kTrickle, kEnd };  // kTrickle: slow output; kEnd: later output is never sent
  struct Barrier {                 // a place in the output after which output is held back, slowed or ended
    Kind kind;                     // holds, slows (trickle) or ends the output
    uint64_t rule_id = 0;          // id of the fault rule for which Open opens this barrier; 0: none
    uint64_t offset = 0;           // place of the barrier: output bytes since the gate was created
    int64_t due_ms = kNever;       // monotonic clock time when a hold opens, or a trickle may send more
    uint64_t bytes = 0;            // trickle: number of bytes that are sent slowly
    uint64_t passed_bytes = 0;     // trickle: how many of `bytes` may be sent by now
    int64_t bytes_per_second = 0;  // trickle: speed in bytes per second
    int64_t since_ms = kNotYet;    // monotonic clock time when the trickle began
  };

  void Add(Barrier barrier, int64_t now_ms);  // appends the barrier; opens it if its time has come
  // Returns whether the barrier is open at `now_ms`. A barrier of slow output (a trickle) is open when all its bytes
  // may be sent. Until then, Pass stores in the barrier how many of its bytes may be sent by now (`passed_bytes`), and
  // when more may be sent (`due_ms`).
  static bool Pass(Barrier& barrier, int64_t now_ms, Steps steps);  // true: the barrier is open now
  template <class IsMeant>
  void OpenBarriersIf(IsMeant&& is_meant, int64_t now_ms);  // removes each barrier with is_meant(barrier)

  std::deque<Barrier> barriers_;    // where TEST FAULT holds, slows or ends the output, in order of their places
  uint64_t sent_bytes_ = 0;         // number of bytes sent since the gate was created
  bool has_partial_reply_ = false;  // true: the last barrier holds an incomplete reply
};

}  // namespace respite
