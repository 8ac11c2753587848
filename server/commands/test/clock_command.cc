// TEST CLOCK: shows, stops and moves the clock of this server, or changes its speed.
#include "server/commands/families.h"
#include "server/commands/test/clock_words.h"
#include "server/commands/test/test_words.h"
#include "server/execution/call.h"
#include "server/execution/services.h"
#include "server/lab/lab.h"

namespace respite {

namespace {

using MoveKind = ClockMove::Kind;

constexpr char kBusyClient[] = "ERR TEST CLOCK cannot move the clock here, since the client may not wait for the reply";

// Throws a Refusal if a jump by `elapsed_ms` would exceed the limits of the clock, or if this client cannot wait for
// the reply. The client must wait because the clock jumps in a later turn of the event loop, which also does the work
// that becomes due during the jump.
void RequireJump(const Call& call, const ClockControl& control, int64_t elapsed_ms) {
  if (!control.MayJump(elapsed_ms)) throw Refusal{kClockTooFar};
  if (!call.MayContinueLater()) throw Refusal{kBusyClient};
}

// Runs when the executor resumes TEST CLOCK. If the jump of the clock has ended, sends the reply. Otherwise makes the
// executor resume the command again in the next turn of the event loop.
void Arrive(Call& call, ClockControl& control) {
  const auto result = control.TakeJumpResult(call.session.id);
  if (!result) return call.ContinueInNextTurn();
  if (result->is_too_far) return call.reply.Error(kClockTooFar);
  if (!EqualsIgnoreCase(call.args.Next(), "next")) return call.reply.Ok();
  ReplyEvent(call.reply, result->reached_event);
}

void GoTo(Call& call, ClockControl& control, int64_t wall_ms) {
  const int64_t now_ms = control.clock().WallMs();
  if (wall_ms <= now_ms) {
    control.SetWallTimeBack(wall_ms);
    return call.reply.Ok();
  }
  RequireJump(call, control, wall_ms - now_ms);
  control.PostJumpTo(call.session.id, wall_ms);
  call.ContinueInNextTurn();
}

void Freeze(Call& call, ClockControl& control, std::optional<int64_t> wall_ms) {
  const int64_t now_ms = control.clock().WallMs();
  if (wall_ms.value_or(now_ms) > now_ms) RequireJump(call, control, *wall_ms - now_ms);
  control.Freeze();
  if (wall_ms.value_or(now_ms) == now_ms) return call.reply.Ok();
  GoTo(call, control, *wall_ms);
}

void Advance(Call& call, ClockControl& control, int64_t elapsed_ms) {
  RequireJump(call, control, elapsed_ms);
  control.PostJump(call.session.id, elapsed_ms);
  call.ContinueInNextTurn();
}

void Next(Call& call, ClockControl& control) {
  if (!call.MayContinueLater()) throw Refusal{kBusyClient};
  control.PostJumpToNextEvent(call.session.id);
  call.ContinueInNextTurn();
}

void MakeMove(Call& call, ClockControl& control, const ClockMove& move) {
  switch (move.kind) {
    case MoveKind::kFreeze:
      return Freeze(call, control, move.ms);
    case MoveKind::kAdvance:
      return Advance(call, control, *move.ms);
    case MoveKind::kSet:
      return GoTo(call, control, *move.ms);
    case MoveKind::kNext:
      return Next(call, control);
    case MoveKind::kRate:
      control.RunAt(move.rate);
      break;
    case MoveKind::kAuto:
      control.SetAutoJump(move.is_auto_jump);
      break;
    case MoveKind::kReal:
      control.FollowMachine();
      break;
  }
  call.reply.Ok();
}

struct TestClock {
  static constexpr CommandSpec spec = TestSpec(
      "TEST|CLOCK [change(FREEZE|FREEZE freeze-time:unix-time|ADVANCE duration|SET set-time:unix-time|NEXT|RATE "
      "factor:double|AUTO setting(ON|OFF)|REAL)]",
      "Shows, stops and moves the clock that data and clients of this server see.");
  static void Run(Call& call) {
    ClockControl& control = call.services.lab.clock;
    if (control.IsJumpPosted(call.session.id)) return Arrive(call, control);
    if (!call.args.AtEnd()) return MakeMove(call, control, ParseClockMove(call));
    call.reply.Map(kClockFields);
    ReplyClock(call.reply, control);
  }
};

constexpr auto kTestClockCommands = Family<TestClock>();

}  // namespace

std::span<const CommandCard> TestClockCommands() { return kTestClockCommands; }

}  // namespace respite
