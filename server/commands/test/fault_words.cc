#include "server/commands/test/fault_words.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/number_text.h"
#include "base/str_cat.h"
#include "server/catalogue/command_table.h"
#include "server/catalogue/dialect.h"
#include "server/commands/test/condition_words.h"
#include "server/commands/test/test_words.h"
#include "server/execution/gates.h"

namespace respite {

namespace {

constexpr char kActionNames[] =
    "ERROR, REPLY, DELAY, DELAY-REPLY, CLOSE, CLOSE-AFTER, CUT, TRICKLE, SILENCE, REFUSE and DISK";
constexpr int64_t kMaxDelayMs = int64_t{36'500} * 86'400'000;
constexpr int64_t kMaxBytes = int64_t{1} << 40;
constexpr int64_t kMaxPerSecond = 1'000'000'000;
constexpr int64_t kSlots = 16'384;

// --- The argument WHEN of TEST FAULT ADD.

RequestFilter TakeRequestFilter(Args& args, const CommandTable& commands) {
  RequestFilter filter;
  if (!args.TakeToken("WHEN")) return filter;
  do {
    if (args.AtEnd()) break;
    const Bytes word = args.Rest()[0];
    if (TakeCondition(args, commands, filter)) continue;
    throw Refusal{"ERR " + QuotedForError(word) + " is no condition. There are " + kConditions + "; DO ends them"};
  } while (!args.AtEnd() && !EqualsIgnoreCase(args.Rest()[0], "do"));
  return filter;
}

// --- The argument DO of TEST FAULT ADD, which says what the fault does.

struct KnownError {
  Bytes name;
  std::string text;
};
std::array<KnownError, 10> KnownErrors() {
  const DialectTraits redis;
  return {{{"loading", refusals::LoadingDataset(redis).text},
           {"oom", refusals::kOutOfMemory},
           {"readonly", refusals::kReadOnlyReplica},
           {"masterdown", refusals::kPrimaryDown},
           {"busy", refusals::Busy(ServerPhase::BusyScriptKind::kScript, redis).text},
           {"noreplicas", refusals::kNoReplicas},
           {"misconf", refusals::SnapshotFailed(redis).text},
           {"noscript", refusals::kNoScript},
           {"clusterdown", refusals::kClusterDown},
           {"tryagain", refusals::kTryAgain}}};
}

// Takes the arguments of the errors MOVED and ASK: a slot and the address of a node. Returns the whole text of the
// error.
std::string TakeRedirect(Args& args, Bytes word) {
  const int64_t slot = ParseNumberInRange(TakeValueOf(args, word), "slot", {0, kSlots - 1});
  const Bytes node = TakeValueOf(args, word);
  const size_t colon = node.rfind(':');
  const auto port = colon == Bytes::npos ? std::nullopt : ParseInteger(node.substr(colon + 1));
  const bool is_line = node.find_first_of("\r\n ") == Bytes::npos;
  if (!port || *port < 1 || *port > 65'535 || !is_line) RefuseArgument(node, "address of a node", "host:port");
  return StrCat(ToUpper(word), " ", slot, " ", node);
}

FaultDefinition::Action TakeError(Args& args, Bytes action) {
  const Bytes text = TakeValueOf(args, action);
  const auto error = [](std::string line) {
    return RequestFault{.kind = RequestFault::Kind::kError, .text = std::move(line)};
  };
  for (const KnownError& known : KnownErrors()) {
    if (EqualsIgnoreCase(text, known.name)) return error(known.text);
  }
  if (EqualsIgnoreCase(text, "moved") || EqualsIgnoreCase(text, "ask")) return error(TakeRedirect(args, text));
  const bool is_line = !text.empty() && text.find_first_of("\r\n") == Bytes::npos;
  if (!is_line) throw Refusal{"ERR an error is one line that is not empty. DO REPLY sends any bytes"};
  return error(std::string(text));
}

FaultDefinition::Action TakeDiskFault(Args& args, Bytes action) {
  const Bytes word = TakeValueOf(args, action);
  if (EqualsIgnoreCase(word, "full")) return DiskFault{.kind = DiskFault::Kind::kFull};
  if (EqualsIgnoreCase(word, "error")) return DiskFault{.kind = DiskFault::Kind::kError};
  if (!EqualsIgnoreCase(word, "slow")) RefuseArgument(word, "fault of a disk", "FULL, ERROR, or SLOW with a duration");
  const Bytes duration = TakeValueOf(args, word);
  const int64_t slow_ms = ParseDurationArgumentMs(duration);
  if (slow_ms <= DiskFault::kMaxSlowMs) return DiskFault{.kind = DiskFault::Kind::kSlow, .slow_ms = slow_ms};
  throw Refusal{"ERR " + QuotedForError(duration) +
                " is too long. Write 1m at most, since the server waits for its disk"};
}

FaultDefinition::Action TakeRefusal(Args& args, Bytes) {
  return args.TakeToken("LISTEN") ? RefusedConnections::kNotAccepted : RefusedConnections::kClosed;
}

template <RequestFault::Kind kKind>
FaultDefinition::Action Plain(Args&, Bytes) {
  return RequestFault{.kind = kKind};
}

template <RequestFault::Kind kKind>
FaultDefinition::Action WithDuration(Args& args, Bytes action) {
  return RequestFault{.kind = kKind, .amount = ParseDelayArgumentMs(TakeValueOf(args, action))};
}

using FaultKind = RequestFault::Kind;
struct KnownAction {
  Bytes name;
  FaultDefinition::Action (*take)(Args& args, Bytes action);
};
constexpr std::array kKnownActions = {
    KnownAction{"error", TakeError},
    KnownAction{"reply",
                [](Args& args, Bytes action) -> FaultDefinition::Action {
                  return RequestFault{.kind = FaultKind::kReply, .text = std::string(TakeValueOf(args, action))};
                }},
    KnownAction{"delay", WithDuration<FaultKind::kDelay>},
    KnownAction{"delay-reply", WithDuration<FaultKind::kDelayReply>},
    KnownAction{"close", Plain<FaultKind::kClose>},
    KnownAction{"close-after", Plain<FaultKind::kCut>},  // sends no byte of the reply
    KnownAction{"cut",
                [](Args& args, Bytes action) -> FaultDefinition::Action {
                  const Bytes bytes = TakeValueOf(args, action);
                  return RequestFault{.kind = FaultKind::kCut,
                                      .amount = ParseNumberInRange(bytes, "number of bytes", {0, kMaxBytes})};
                }},
    KnownAction{"trickle",
                [](Args& args, Bytes action) -> FaultDefinition::Action {
                  const Bytes rate = TakeValueOf(args, action);
                  return RequestFault{
                      .kind = FaultKind::kTrickle,
                      .amount = ParseNumberInRange(rate, "number of bytes a second", {1, kMaxPerSecond})};
                }},
    KnownAction{"silence", Plain<FaultKind::kSilence>},
    KnownAction{"refuse", TakeRefusal},
    KnownAction{"disk", TakeDiskFault},
};

FaultDefinition::Action TakeAction(Args& args) {
  if (!args.TakeToken("DO")) throw Refusal{std::string("ERR DO is missing. There are ") + kActionNames};
  const Bytes word = TakeValueOf(args, "DO");
  for (const KnownAction& known : kKnownActions) {
    if (EqualsIgnoreCase(word, known.name)) return known.take(args, word);
  }
  throw Refusal{"ERR " + QuotedForError(word) + " is no fault. There are " + kActionNames};
}

// --- The arguments TIMES, AFTER, PERCENT and FOR of TEST FAULT ADD.

uint64_t Chance(Bytes word) {
  const auto percent = ParseDouble(word);
  if (!percent || !(*percent >= 0 && *percent <= 100)) RefuseArgument(word, "share", "a number from 0 to 100");
  const double share = std::ldexp(*percent / 100, 64);
  return share >= std::ldexp(1.0, 64) ? HitSchedule::kAlways : static_cast<uint64_t>(share);
}

void TakeOptions(Args& args, FaultDefinition& definition) {
  std::optional<uint64_t> times, after, chance;
  while (!args.AtEnd()) {
    const Bytes word = args.Next();
    const auto is = [word](Bytes name) { return EqualsIgnoreCase(word, name); };
    if (is("times")) {
      SetOnce(times, word,
              static_cast<uint64_t>(ParseNumberInRange(TakeValueOf(args, word), "number of times", {1, INT64_MAX})));
    } else if (is("after")) {
      SetOnce(after, word,
              static_cast<uint64_t>(ParseNumberInRange(TakeValueOf(args, word), "number of times", {0, INT64_MAX})));
    } else if (is("percent")) {
      SetOnce(chance, word, Chance(TakeValueOf(args, word)));
    } else if (is("for")) {
      SetOnce(definition.for_ms, word, ParseDelayArgumentMs(TakeValueOf(args, word)));
    } else {
      throw Refusal{"ERR " + QuotedForError(word) +
                    " is not understood. Behind a fault stand TIMES, AFTER, PERCENT and FOR"};
    }
  }
  definition.schedule = {.times = times.value_or(HitSchedule::kAlways),
                         .after = after.value_or(0),
                         .chance = chance.value_or(HitSchedule::kAlways)};
}

// Throws a Refusal if the conditions after WHEN do not fit the action. REFUSE takes no condition but ADDR, because only
// the address of a new connection is known. With REFUSE LISTEN the server does not listen at all, so there is no
// connection to which a condition could apply: REFUSE LISTEN takes none. Faults of the disk take none either.
void CheckFilter(const FaultDefinition& definition, Bytes conditions) {
  const auto* const refused = std::get_if<RefusedConnections>(&definition.action);
  if (refused == nullptr && std::get_if<DiskFault>(&definition.action) == nullptr) return;
  if (conditions.empty()) return;
  if (refused == nullptr) throw Refusal{"ERR a fault of the disk has no WHEN"};
  if (*refused == RefusedConnections::kNotAccepted)
    throw Refusal{"ERR REFUSE LISTEN has no WHEN, since nobody is heard"};
  if (conditions != "addr") throw Refusal{"ERR a connection that is refused has no condition but ADDR"};
}

}  // namespace

int64_t ParseDelayArgumentMs(Bytes word) {
  const int64_t duration_ms = ParseDurationArgumentMs(word);
  if (duration_ms <= kMaxDelayMs) return duration_ms;
  throw Refusal{"ERR " + QuotedForError(word) + " is too long. Write 36500d at most"};
}

FaultDefinition TakeFaultDefinition(Args& args, const CommandTable& commands) {
  FaultDefinition definition;
  definition.name = args.Next();
  definition.words.assign(args.Rest().begin(), args.Rest().end());
  const size_t before = args.Left();
  const Bytes first = before > 1 ? args.Rest()[1] : Bytes();
  definition.filter = TakeRequestFilter(args, commands);
  const size_t taken = before - args.Left();
  const bool is_address = taken == 3 && EqualsIgnoreCase(first, "addr");
  definition.action = TakeAction(args);
  TakeOptions(args, definition);
  CheckFilter(definition, taken == 0 ? "" : is_address ? "addr" : "others");
  const auto* const refused = std::get_if<RefusedConnections>(&definition.action);
  const bool has_schedule = definition.schedule.times != HitSchedule::kAlways || definition.schedule.after != 0 ||
                            definition.schedule.chance != HitSchedule::kAlways;
  if (has_schedule && refused != nullptr && *refused == RefusedConnections::kNotAccepted) {
    throw Refusal{"ERR REFUSE LISTEN counts nothing, since nobody is heard. FOR says how long"};
  }
  return definition;
}

}  // namespace respite
