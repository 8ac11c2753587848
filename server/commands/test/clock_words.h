// The words of TEST CLOCK and TEST CLUSTER CLOCK, and their replies.
#pragma once

#include "server/execution/call.h"
#include "server/lab/clock_control.h"
#include "server/lab/clock_move.h"

namespace respite {

inline constexpr char kClockTooFar[] = "ERR the clock cannot go beyond the end of the year 9999";

// `FREEZE [time]`, `ADVANCE duration`, `SET time`, `NEXT`, `RATE factor`, `AUTO ON|OFF`, `REAL`. Takes all that is
// left.
ClockMove ClockMoveIn(Call& call);

// The fields of TEST CLOCK; `next` last.
inline constexpr int kClockFields = 6;
void ReplyClock(Reply& reply, const ClockControl& control);
// A map, or null if nothing is due.
void ReplyDue(Reply& reply, const std::optional<ClockControl::Due>& due);

}  // namespace respite
