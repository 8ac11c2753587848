// OutputGate: holds back a part of what waits to be sent to one client, as a test asks for (TEST FAULT). What stands
// behind a barrier is not sent before it opens, so replies and messages keep their order.
//
//   OutputGate gate;
//   gate.AddHold(5, {.owner = 1, .until_ms = 3000}, 2000);
//   gate.Sendable(10);   // 5
//   gate.NoteSent(5);
//   gate.Advance(3000);
//   gate.Sendable(5);    // 5
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace respite {

class OutputGate {
 public:
  static constexpr int64_t kNever = INT64_MAX;

  // Who put up a barrier, and when it opens (monotonic time).
  struct Hold {
    uint64_t owner = 0;
    int64_t until_ms = kNever;
  };
  // `place` is the number of waiting bytes before the barrier. Requires: not before an earlier barrier.
  void AddHold(size_t place, Hold hold, int64_t now_ms);
  struct Trickle {
    uint64_t owner = 0;
    size_t bytes = 0;    // behind the place
    int64_t per_second;  // more than 0
  };
  void AddTrickle(size_t place, Trickle trickle, int64_t now_ms);
  // Nothing behind this place is ever sent: the connection ends there.
  void AddEnd(size_t place);

  // A reply that is written piece by piece waits at this place until it is complete.
  void Begin(size_t place);
  bool HasBegun() const { return has_begun_; }
  // Takes that barrier away; returns its place.
  size_t TakeBegun();

  // How many of `size` waiting bytes may be sent now.
  size_t Sendable(size_t size) const;
  // So many waiting bytes are gone from the front.
  void NoteSent(size_t bytes) { sent_ += bytes; }
  // Opens what is due. A trickle is due again when some more bytes may pass, or, with kNone, all of them. Cost:
  // O(barriers that open).
  enum class Steps : uint8_t { kSmall, kNone };
  void Advance(int64_t now_ms, Steps steps = Steps::kSmall);
  // When Advance has something to do; kNever if it has not.
  int64_t NextDueMs() const;
  // Opens the barriers of one owner, or of all, but no end.
  void Open(uint64_t owner, int64_t now_ms);
  void OpenAll(int64_t now_ms);

  bool IsOpen() const { return barriers_.empty(); }
  // Everything before an end was sent.
  bool HasReachedEnd() const;
  size_t HeldBytes() const { return barriers_.size() * sizeof(Barrier); }

 private:
  static constexpr int64_t kNotYet = -1;
  static constexpr int64_t kTrickleStepMs = 10;

  enum class Kind : uint8_t { kHold, kTrickle, kEnd };
  struct Barrier {
    Kind kind;
    uint64_t owner = 0;
    uint64_t at = 0;          // bytes that were sent before it, from the beginning of the gate on
    int64_t due_ms = kNever;  // of a trickle: when the next bytes may pass
    uint64_t bytes = 0;       // the rest is of a trickle
    uint64_t passed = 0;      // of these
    int64_t per_second = 0;
    int64_t since_ms = kNotYet;
  };

  void Add(Barrier barrier, int64_t now_ms);
  // False: it is not open yet.
  static bool Pass(Barrier& barrier, int64_t now_ms, Steps steps);
  template <class IsMeant>
  void OpenSome(IsMeant&& is_meant, int64_t now_ms);

  std::deque<Barrier> barriers_;
  uint64_t sent_ = 0;
  bool has_begun_ = false;  // the last barrier is that of Begin
};

}  // namespace respite
