// OutputGate: holds back part of the output of one client, as requested by TEST FAULT. Output after a barrier is not
// sent before the barrier opens, so replies and messages keep their order.
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

  // The owner of a barrier, and when the barrier opens (monotonic time).
  struct Hold {
    uint64_t owner = 0;
    int64_t until_ms = kNever;
  };
  // Adds a barrier. `place` is the number of unsent bytes before it. Requires: `place` is not before an earlier
  // barrier.
  void AddHold(size_t place, Hold hold, int64_t now_ms);
  struct Trickle {
    uint64_t owner = 0;
    size_t bytes = 0;    // of output after the place
    int64_t per_second;  // more than 0
  };
  void AddTrickle(size_t place, Trickle trickle, int64_t now_ms);
  // Sends no output after this place; the connection then closes.
  void AddEnd(size_t place);

  // Puts a barrier before a reply that is written piece by piece, until the reply is complete.
  void Begin(size_t place);
  bool HasBegun() const { return has_begun_; }
  // Removes the barrier of Begin and returns its place.
  size_t TakeBegun();

  // Returns how many of `size` unsent bytes may be sent now.
  size_t Sendable(size_t size) const;
  // Notes that `bytes` bytes were sent.
  void NoteSent(size_t bytes) { sent_ += bytes; }
  // Opens barriers whose time has come. With kSmall, a trickle is due again when some more bytes may pass; with kNone,
  // when all may pass. Cost: O(opened barriers).
  enum class Steps : uint8_t { kSmall, kNone };
  void Advance(int64_t now_ms, Steps steps = Steps::kSmall);
  // Returns the time of the next Advance that has an effect, else kNever.
  int64_t NextDueMs() const;
  // Open the barriers of one owner, or of every owner; ends and the barrier of Begin stay.
  void Open(uint64_t owner, int64_t now_ms);
  void OpenAll(int64_t now_ms);

  bool IsOpen() const { return barriers_.empty(); }
  // Returns whether all output before an end was sent.
  bool HasReachedEnd() const;
  size_t HeldBytes() const { return barriers_.size() * sizeof(Barrier); }

 private:
  static constexpr int64_t kNotYet = -1;
  static constexpr int64_t kTrickleStepMs = 10;

  enum class Kind : uint8_t { kHold, kTrickle, kEnd };
  struct Barrier {
    Kind kind;
    uint64_t owner = 0;
    uint64_t at = 0;          // position: bytes since the gate was created
    int64_t due_ms = kNever;  // of a trickle: when the next bytes may pass
    uint64_t bytes = 0;       // of a trickle, like the fields below
    uint64_t passed = 0;      // how many of `bytes` may have been sent
    int64_t per_second = 0;
    int64_t since_ms = kNotYet;
  };

  void Add(Barrier barrier, int64_t now_ms);
  // Returns false while the barrier is not open.
  static bool Pass(Barrier& barrier, int64_t now_ms, Steps steps);
  template <class IsMeant>
  void OpenSome(IsMeant&& is_meant, int64_t now_ms);

  std::deque<Barrier> barriers_;
  uint64_t sent_ = 0;
  bool has_begun_ = false;  // the last barrier was added by Begin
};

}  // namespace respite
