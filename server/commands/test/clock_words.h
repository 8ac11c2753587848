// Helpers for TEST CLOCK and TEST CLUSTER CLOCK: parse their arguments and write their replies.
#pragma once

#include "server/execution/call.h"
#include "server/lab/clock_control.h"

namespace respite {

inline constexpr char kClockTooFar[] = "ERR the clock cannot go beyond the end of the year 9999";

// Accepts `FREEZE [time]`, `ADVANCE duration`, `SET time`, `NEXT`, `RATE factor`, `AUTO ON|OFF` or `REAL`. Throws a
// Refusal for any other arguments.
ClockMove ParseClockMove(Call& call);  // parses all arguments of TEST CLOCK, such as `ADVANCE 5s`

inline constexpr int kClockFields = 6;  // number of fields in the reply of TEST CLOCK; `next` is the last
void ReplyClock(Reply& reply, const ClockControl& control);  // writes the 6 fields, without the map's header
void ReplyEvent(Reply& reply, const std::optional<ClockControl::Due>& event);  // writes an event and its time, or null

}  // namespace respite
