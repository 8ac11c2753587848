// GroupClockMove: moves the clocks of several servers together (TEST CLUSTER CLOCK). Clocks that showed the same time
// before the move also show the same time after it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "server/lab/clock_control.h"

namespace respite {

class GroupClockMove {  // one move of the clocks of several servers (TEST CLUSTER CLOCK)
 public:
  // Computes how far each clock must move, but moves no clock yet (Do does so). Requires: `move` is not the setting
  // AUTO (kAuto), and `clocks` is not empty.
  GroupClockMove(const ClockMove& move, std::span<ClockControl* const> clocks);

  bool IsPossible() const { return is_possible_; }  // false: a clock would exceed its limits; kNext: always true
  // For a move of kind kNext, returns the next event of any of the servers, to which Do moves the clocks. Returns
  // nullopt if there is no such event, or if a clock must not jump so far (ClockControl::MayJump): then Do moves the
  // clocks by 0 ms. Returns nullopt for moves of other kinds.
  const std::optional<ClockControl::Due>& target_event() const { return target_event_; }  // for kNext; or nullopt
  // Moves one of the clocks that the constructor got; the caller must call Do once for each of them. Requires:
  // IsPossible() is true, and the requirements of ClockControl::JumpNow hold.
  void Do(ClockControl& clock) const;  // moves one of the clocks

 private:
  ClockMove move_;           // the requested move of the clocks
  int64_t wall_ms_ = 0;      // for kFreeze and kSet: the Unix time that all clocks show afterwards
  int64_t elapsed_ms_ = 0;   // for kAdvance and kNext: how much time passes on all clocks
  bool is_possible_ = true;  // true: all clocks can make the move; always true for kNext
  std::optional<ClockControl::Due> target_event_;  // for kNext: the event to which the clocks move; nullopt: none
};

}  // namespace respite
