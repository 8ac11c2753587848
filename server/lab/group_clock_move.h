// GroupClockMove: one move of the clocks of several servers, which show the same time afterwards if they did before.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "server/lab/clock_control.h"
#include "server/lab/clock_move.h"

namespace respite {

class GroupClockMove {
 public:
  // Requires: no kAuto; there are clocks.
  GroupClockMove(const ClockMove& move, std::span<ClockControl* const> clocks);

  // Whether none of the clocks would go beyond its limits.
  bool IsPossible() const { return is_possible_; }
  // What falls due first on any of the servers, for kNext.
  const std::optional<ClockControl::Due>& met() const { return met_; }
  // Moves one of the clocks. Requires: IsPossible, and what ClockControl::PassNow requires.
  void Do(ClockControl& clock) const;

 private:
  ClockMove move_;
  int64_t wall_ms_ = 0;     // kFreeze, kSet
  int64_t elapsed_ms_ = 0;  // kAdvance, kNext
  bool is_possible_ = true;
  std::optional<ClockControl::Due> met_;
};

}  // namespace respite
