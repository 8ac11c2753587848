// Parses the arguments of TEST CLOCK and TEST CLUSTER CLOCK, and writes their replies.
#pragma once

#include "server/execution/call.h"
#include "server/lab/clock_control.h"

namespace respite {

inline constexpr char kClockTooFar[] = "ERR the clock cannot go beyond the end of the year 9999";

// Parses all remaining arguments: `FREEZE [time]`, `ADVANCE duration`, `SET time`, `NEXT`, `RATE factor`,
// `AUTO ON|OFF`, `REAL`.
ClockMove ClockMoveIn(Call& call);

// Number of fields of TEST CLOCK; `next` is the last.
inline constexpr int kClockFields = 6;
void ReplyClock(Reply& reply, const ClockControl& control);
// Replies with a map, or null if no event is due.
void ReplyDue(Reply& reply, const std::optional<ClockControl::Due>& due);

}  // namespace respite
