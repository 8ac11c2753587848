// TEST CLOCK.
#include <array>
#include <cmath>

#include "base/number_text.h"
#include "server/commands/test/test_cards.h"
#include "server/commands/test/test_words.h"
#include "server/execution/services.h"
#include "server/lab/lab.h"

namespace respite {

namespace {

constexpr char kBusyClient[] = "ERR TEST CLOCK cannot move the clock here, since the client may not wait for the reply";
constexpr char kTooFar[] = "ERR the clock cannot go beyond the end of the year 9999";

Bytes ModeName(MovableClock::Mode mode) {
  switch (mode) {
    case MovableClock::Mode::kFrozen:
      return "frozen";
    case MovableClock::Mode::kScaled:
      return "scaled";
    case MovableClock::Mode::kReal:
      break;
  }
  return "real";
}

void ReplyDue(Call& call, const std::optional<ClockControl::Due>& due) {
  if (!due) return call.reply.Null();
  call.reply.Map(3);
  call.reply.Bulk("at");
  call.reply.Integer(due->wall_ms);
  call.reply.Bulk("in");
  call.reply.Integer(due->in_ms);
  call.reply.Bulk("what");
  call.reply.Bulk(due->what);
}

void Show(Call& call, const ClockControl& control) {
  const MovableClock& clock = control.clock();
  const int64_t now_ms = clock.WallMs();
  call.reply.Map(6);
  call.reply.Bulk("mode");
  call.reply.Bulk(ModeName(clock.mode()));
  call.reply.Bulk("now");
  call.reply.Integer(now_ms);
  call.reply.Bulk("offset");
  call.reply.Integer(clock.OffsetUs() / 1000);
  call.reply.Bulk("rate");
  call.reply.Double(clock.rate());
  call.reply.Bulk("auto");
  call.reply.Bool(control.is_auto());
  call.reply.Bulk("next");
  ReplyDue(call, control.Next());
}

// A jump takes a Turn of its own, in which everything due on the way happens.
void RequireJump(const Call& call, const ClockControl& control, int64_t elapsed_ms) {
  if (!control.MayPass(elapsed_ms)) throw Refusal{kTooFar};
  if (!call.MayGoOnLater()) throw Refusal{kBusyClient};
}

// The second part of a jump: the handler runs again.
void Arrive(Call& call, ClockControl& control) {
  const auto arrival = control.TakeArrival(call.session.id);
  if (!arrival) return call.GoOnInNextTurn();
  if (arrival->is_too_far) return call.reply.Error(kTooFar);
  if (!EqualsIgnoreCase(call.args.Next(), "next")) return call.reply.Ok();
  ReplyDue(call, arrival->met);
}

void GoTo(Call& call, ClockControl& control, int64_t wall_ms) {
  const int64_t now_ms = control.clock().WallMs();
  if (wall_ms <= now_ms) {
    control.SetBack(wall_ms);
    return call.reply.Ok();
  }
  RequireJump(call, control, wall_ms - now_ms);
  control.DepartTo(call.session.id, wall_ms);
  call.GoOnInNextTurn();
}

void Freeze(Call& call, ClockControl& control) {
  const int64_t now_ms = control.clock().WallMs();
  const int64_t wall_ms = call.args.AtEnd() ? now_ms : TimeMs(call.args.Next());
  call.args.ExpectEnd();
  if (wall_ms > now_ms) RequireJump(call, control, wall_ms - now_ms);
  control.Freeze();
  if (wall_ms == now_ms) return call.reply.Ok();
  GoTo(call, control, wall_ms);
}

void Advance(Call& call, ClockControl& control) {
  const int64_t elapsed_ms = DurationMs(call.args.Next());
  call.args.ExpectEnd();
  RequireJump(call, control, elapsed_ms);
  control.Depart(call.session.id, elapsed_ms);
  call.GoOnInNextTurn();
}

void Set(Call& call, ClockControl& control) {
  const int64_t wall_ms = TimeMs(call.args.Next());
  call.args.ExpectEnd();
  GoTo(call, control, wall_ms);
}

void Next(Call& call, ClockControl& control) {
  call.args.ExpectEnd();
  if (!call.MayGoOnLater()) throw Refusal{kBusyClient};
  control.DepartToNext(call.session.id);
  call.GoOnInNextTurn();
}

void Rate(Call& call, ClockControl& control) {
  const Bytes word = call.args.Next();
  call.args.ExpectEnd();
  const auto rate = ParseDouble(word);
  if (!rate || !(*rate >= MovableClock::kSlowest && *rate <= MovableClock::kFastest)) {
    throw Refusal{"ERR '" + std::string(refusals::ShownPart(word)) + "' is no rate between 0.1 and 100000"};
  }
  control.RunAt(*rate);
  call.reply.Ok();
}

void Auto(Call& call, ClockControl& control) {
  const bool is_auto = OnOrOff(call.args.Next());
  call.args.ExpectEnd();
  control.SetAuto(is_auto);
  call.reply.Ok();
}

void Real(Call& call, ClockControl& control) {
  call.args.ExpectEnd();
  control.FollowMachine();
  call.reply.Ok();
}

struct Change {
  Bytes name;
  size_t least_words;  // behind the name
  void (*run)(Call&, ClockControl&);
};
constexpr std::array kChanges = {Change{"freeze", 0, Freeze}, Change{"advance", 1, Advance}, Change{"set", 1, Set},
                                 Change{"next", 0, Next},     Change{"rate", 1, Rate},       Change{"auto", 1, Auto},
                                 Change{"real", 0, Real}};

}  // namespace

void TestClock::Run(Call& call) {
  ClockControl& control = call.services.lab.clock;
  if (control.IsUnderWay(call.session.id)) return Arrive(call, control);
  if (call.args.AtEnd()) return Show(call, control);
  const Bytes name = call.args.Next();
  for (const Change& change : kChanges) {
    if (EqualsIgnoreCase(name, change.name) && call.args.Left() >= change.least_words) return change.run(call, control);
  }
  throw refusals::SubcommandSyntax(call.services.dialect, "TEST", name);
}

}  // namespace respite
