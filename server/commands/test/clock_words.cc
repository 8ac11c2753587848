#include "server/commands/test/clock_words.h"

#include <array>

#include "base/number_text.h"
#include "server/commands/test/test_words.h"
#include "server/execution/services.h"

namespace respite {

namespace {

using MoveKind = ClockMove::Kind;

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

double RateIn(Bytes word) {
  const auto rate = ParseDouble(word);
  if (rate && *rate >= MovableClock::kMinRate && *rate <= MovableClock::kMaxRate) return *rate;
  throw Refusal{"ERR '" + std::string(refusals::ShownPart(word)) + "' is no rate between 0.1 and 100000"};
}

struct NamedMove {
  Bytes name;
  size_t least_words;  // number of arguments after the name
  MoveKind kind;
};
constexpr std::array kNamedMoves = {
    NamedMove{"freeze", 0, MoveKind::kFreeze}, NamedMove{"advance", 1, MoveKind::kAdvance},
    NamedMove{"set", 1, MoveKind::kSet},       NamedMove{"next", 0, MoveKind::kNext},
    NamedMove{"rate", 1, MoveKind::kRate},     NamedMove{"auto", 1, MoveKind::kAuto},
    NamedMove{"real", 0, MoveKind::kReal}};

MoveKind TakeMoveKind(Call& call) {
  Args& args = call.args;
  const Bytes name = args.Next();
  for (const NamedMove& row : kNamedMoves) {
    if (EqualsIgnoreCase(name, row.name) && args.Left() >= row.least_words) return row.kind;
  }
  throw refusals::SubcommandSyntax(call.services.env.dialect, "TEST", name);
}

}  // namespace

ClockMove ParseClockMove(Call& call) {
  Args& args = call.args;
  ClockMove move{.kind = TakeMoveKind(call)};
  if (move.kind == MoveKind::kRate) {
    move.rate = RateIn(args.Next());
  } else if (move.kind == MoveKind::kAuto) {
    move.is_auto_jump = ParseOnOff(args.Next());
  } else if (move.kind == MoveKind::kAdvance) {
    move.ms = ParseDurationArgumentMs(args.Next());
  } else if (move.kind == MoveKind::kSet || (move.kind == MoveKind::kFreeze && !args.AtEnd())) {
    move.ms = ParseTimeArgumentMs(args.Next());
  }
  args.ExpectEnd();
  return move;
}

void ReplyEvent(Reply& reply, const std::optional<ClockControl::Due>& event) {
  if (!event) return reply.Null();
  reply.Map(3);
  reply.Bulk("at");
  reply.Integer(event->wall_ms);
  reply.Bulk("in");
  reply.Integer(event->in_ms);
  reply.Bulk("what");
  reply.Bulk(event->what);
}

void ReplyClock(Reply& reply, const ClockControl& control) {
  const MovableClock& clock = control.clock();
  const int64_t now_ms = clock.WallMs();
  reply.Bulk("mode");
  reply.Bulk(ModeName(clock.mode()));
  reply.Bulk("now");
  reply.Integer(now_ms);
  reply.Bulk("offset");
  reply.Integer(clock.OffsetUs() / 1000);
  reply.Bulk("rate");
  reply.Double(clock.rate());
  reply.Bulk("auto");
  reply.Bool(control.is_auto_jump());
  reply.Bulk("next");
  ReplyEvent(reply, control.Next());
}

}  // namespace respite
