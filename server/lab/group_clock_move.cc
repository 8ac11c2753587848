#include "server/lab/group_clock_move.h"

#include <algorithm>

namespace respite {

namespace {

using MoveKind = ClockMove::Kind;

int64_t LatestOf(std::span<ClockControl* const> clocks) {
  int64_t latest_ms = 0;
  for (const ClockControl* clock : clocks) latest_ms = std::max(latest_ms, clock->clock().WallMs());
  return latest_ms;
}

std::optional<ClockControl::Due> EarliestOf(std::span<ClockControl* const> clocks) {
  std::optional<ClockControl::Due> earliest;
  for (const ClockControl* clock : clocks) {
    auto next = clock->Next();
    if (next && (!earliest || next->in_ms < earliest->in_ms)) earliest = std::move(next);
  }
  return earliest;
}

}  // namespace

// Computes to which time all clocks move, or how much time passes on them. FREEZE without a time moves all clocks to
// the latest time that any of them shows, so that no clock is set back.
GroupClockMove::GroupClockMove(const ClockMove& move, std::span<ClockControl* const> clocks) : move_(move) {
  if (move.kind == MoveKind::kFreeze || move.kind == MoveKind::kSet) wall_ms_ = move.ms ? *move.ms : LatestOf(clocks);
  if (move.kind == MoveKind::kNext) target_event_ = EarliestOf(clocks);
  elapsed_ms_ = move.kind == MoveKind::kAdvance ? *move.ms : target_event_ ? target_event_->in_ms : 0;
  is_possible_ = std::ranges::all_of(clocks, [&](const ClockControl* clock) {
    return clock->MayJump(std::max(elapsed_ms_, wall_ms_ == 0 ? 0 : wall_ms_ - clock->clock().WallMs()));
  });
  if (move.kind != MoveKind::kNext || is_possible_) return;
  target_event_.reset();
  elapsed_ms_ = 0;
  is_possible_ = true;
}

void GroupClockMove::Do(ClockControl& clock) const {
  switch (move_.kind) {
    case MoveKind::kFreeze:
      clock.Freeze();
      clock.JumpNowTo(wall_ms_);
      break;
    case MoveKind::kSet:
      clock.JumpNowTo(wall_ms_);
      break;
    case MoveKind::kAdvance:
    case MoveKind::kNext:
      clock.JumpNow(elapsed_ms_);
      break;
    case MoveKind::kRate:
      clock.RunAt(move_.rate);
      break;
    case MoveKind::kReal:
      clock.FollowMachine();
      break;
    case MoveKind::kAuto:
      break;
  }
}

}  // namespace respite
