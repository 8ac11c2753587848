// GroupClockMove: moves the clocks of several servers together. Clocks that agreed before also agree afterwards.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "server/lab/clock_control.h"

namespace respite {

class GroupClockMove {
 public:
  // Requires: the move is not kAuto, and `clocks` is not empty.
  GroupClockMove(const ClockMove& move, std::span<ClockControl* const> clocks);

  // Returns false if the move would exceed the limits of one of the clocks.
  bool IsPossible() const { return is_possible_; }
  // Returns, for kNext, the first event that becomes due on any of the servers.
  const std::optional<ClockControl::Due>& met() const { return met_; }
  // Moves one of the clocks. Requires: IsPossible, and the requirements of ClockControl::PassNow.
  void Do(ClockControl& clock) const;

 private:
  ClockMove move_;
  int64_t wall_ms_ = 0;     // kFreeze, kSet
  int64_t elapsed_ms_ = 0;  // kAdvance, kNext
  bool is_possible_ = true;
  std::optional<ClockControl::Due> met_;
};

}  // namespace respite
