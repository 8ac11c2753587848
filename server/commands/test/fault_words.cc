#include "server/commands/test/fault_words.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/number_text.h"
#include "server/catalogue/command_table.h"
#include "server/commands/test/test_words.h"
#include "server/execution/gates.h"

namespace respite {

namespace {

constexpr char kConditions[] = "COMMAND, CATEGORY, KEY, CLIENT, ID, USER, ADDR, DB, LIB, SCRIPT and TRANSACTION";
constexpr char kClientConditions[] = "CLIENT, ID, USER, ADDR, DB and LIB";
constexpr char kActions[] =
    "ERROR, REPLY, DELAY, DELAY-REPLY, CLOSE, CLOSE-AFTER, CUT, TRICKLE, SILENCE, REFUSE and DISK";
constexpr int64_t kLongestMs = int64_t{36'500} * 86'400'000;
constexpr int64_t kMostOctets = int64_t{1} << 40;
constexpr int64_t kMostPerSecond = 1'000'000'000;
constexpr int64_t kSlots = 16'384;

std::string Shown(Bytes word) { return "'" + std::string(refusals::ShownPart(word)) + "'"; }

[[noreturn]] void RefuseWord(Bytes word, const std::string& what, const std::string& instead) {
  throw Refusal{"ERR " + Shown(word) + " is no " + what + ". Write " + instead};
}

// The value of a word like COMMAND or TIMES.
Bytes ValueOf(Args& args, Bytes word) {
  if (args.AtEnd()) throw Refusal{"ERR " + ToUpper(word) + " needs a value behind it"};
  return args.Next();
}

struct Range {
  int64_t least;
  int64_t most;
};
int64_t NumberIn(Bytes word, const std::string& what, Range range) {
  const auto number = ParseInteger(word);
  if (number && *number >= range.least && *number <= range.most) return *number;
  RefuseWord(word, what, "a number from " + std::to_string(range.least) + " to " + std::to_string(range.most));
}

bool YesOrNo(Bytes word) {
  if (EqualsIgnoreCase(word, "yes")) return true;
  if (EqualsIgnoreCase(word, "no")) return false;
  throw Refusal{"ERR " + Shown(word) + " is neither YES nor NO"};
}

// --- WHEN

template <class Value>
void SetOnce(std::optional<Value>& place, Bytes word, Value value) {
  if (place) throw Refusal{"ERR " + ToUpper(word) + " is given twice"};
  place = std::move(value);
}

bool TakeClientCondition(Args& args, Bytes word, ClientFilter& filter) {
  const auto is = [word](Bytes name) { return EqualsIgnoreCase(word, name); };
  const auto text = [&] { return TextPattern(ValueOf(args, word)); };
  if (is("client")) {
    SetOnce(filter.name, word, text());
  } else if (is("user")) {
    SetOnce(filter.user, word, text());
  } else if (is("addr")) {
    SetOnce(filter.address, word, text());
  } else if (is("lib")) {
    SetOnce(filter.library, word, text());
  } else if (is("id")) {
    const int64_t id = NumberIn(ValueOf(args, word), "client id", {1, INT64_MAX});
    SetOnce(filter.id, word, static_cast<uint64_t>(id));
  } else if (is("db")) {
    SetOnce(filter.db, word, static_cast<int>(NumberIn(ValueOf(args, word), "database", {0, INT32_MAX})));
  } else {
    return false;
  }
  return true;
}

uint32_t Category(Bytes word) {
  const uint32_t category = AclCategoryByName(word.starts_with('@') ? word.substr(1) : word);
  if (category != 0) return category;
  RefuseWord(word, "category of commands", "@write or another that ACL CAT shows");
}

// A pattern that no command fits is a slip of the pen.
TextPattern CommandFilter(Bytes pattern, const CommandTable& commands) {
  RequestFilter filter;
  filter.command = TextPattern(pattern, CaseMode::kIgnore);
  bool has_any = false;
  commands.ForEach([&](const Command& command) { has_any = has_any || filter.MayMatch(command); });
  if (has_any) return *filter.command;
  RefuseWord(pattern, "command of this server", "a name or a glob, a subcommand as CLIENT|LIST");
}

void TakeCondition(Args& args, const CommandTable& commands, RequestFilter& filter) {
  const Bytes word = args.Next();
  const auto is = [word](Bytes name) { return EqualsIgnoreCase(word, name); };
  if (is("command")) {
    SetOnce(filter.command, word, CommandFilter(ValueOf(args, word), commands));
  } else if (is("category")) {
    if (filter.category != 0) throw Refusal{"ERR CATEGORY is given twice"};
    filter.category = Category(ValueOf(args, word));
  } else if (is("key")) {
    SetOnce(filter.key, word, TextPattern(ValueOf(args, word)));
  } else if (is("script")) {
    SetOnce(filter.is_in_script, word, YesOrNo(ValueOf(args, word)));
  } else if (is("transaction")) {
    SetOnce(filter.is_in_transaction, word, YesOrNo(ValueOf(args, word)));
  } else if (!TakeClientCondition(args, word, filter.client)) {
    throw Refusal{"ERR " + Shown(word) + " is no condition. There are " + kConditions + "; DO ends them"};
  }
}

RequestFilter TakeRequestFilter(Args& args, const CommandTable& commands) {
  RequestFilter filter;
  if (!args.TakeToken("WHEN")) return filter;
  do {
    if (args.AtEnd()) break;
    TakeCondition(args, commands, filter);
  } while (!args.AtEnd() && !EqualsIgnoreCase(args.Rest()[0], "do"));
  return filter;
}

// --- DO

struct KnownError {
  Bytes name;
  const char* text;
};
constexpr std::array kKnownErrors = {
    KnownError{"loading", refusals::kIsLoading},        KnownError{"oom", refusals::kOutOfMemory},
    KnownError{"readonly", refusals::kReadOnlyReplica}, KnownError{"masterdown", refusals::kPrimaryDown},
    KnownError{"busy", refusals::kBusyScript},          KnownError{"noreplicas", refusals::kNoReplicas},
    KnownError{"misconf", refusals::kSnapshotFailed},   KnownError{"noscript", refusals::kNoScript},
    KnownError{"clusterdown", refusals::kClusterDown},  KnownError{"tryagain", refusals::kTryAgain}};

// MOVED and ASK: a slot, and who has it.
std::string TakeRedirect(Args& args, Bytes word) {
  const int64_t slot = NumberIn(ValueOf(args, word), "slot", {0, kSlots - 1});
  const Bytes node = ValueOf(args, word);
  const size_t colon = node.rfind(':');
  const auto port = colon == Bytes::npos ? std::nullopt : ParseInteger(node.substr(colon + 1));
  const bool is_line = node.find_first_of("\r\n ") == Bytes::npos;
  if (!port || *port < 1 || *port > 65'535 || !is_line) RefuseWord(node, "address of a node", "host:port");
  return ToUpper(word) + " " + std::to_string(slot) + " " + std::string(node);
}

FaultOrder::Action TakeError(Args& args, Bytes action) {
  const Bytes text = ValueOf(args, action);
  const auto error = [](std::string line) {
    return RequestFault{.kind = RequestFault::Kind::kError, .text = std::move(line)};
  };
  for (const KnownError& known : kKnownErrors) {
    if (EqualsIgnoreCase(text, known.name)) return error(known.text);
  }
  if (EqualsIgnoreCase(text, "moved") || EqualsIgnoreCase(text, "ask")) return error(TakeRedirect(args, text));
  const bool is_line = !text.empty() && text.find_first_of("\r\n") == Bytes::npos;
  if (!is_line) throw Refusal{"ERR an error is one line that is not empty. DO REPLY sends any octets"};
  return error(std::string(text));
}

FaultOrder::Action TakeDiskFault(Args& args, Bytes action) {
  const Bytes word = ValueOf(args, action);
  if (EqualsIgnoreCase(word, "full")) return DiskFault{.kind = DiskFault::Kind::kFull};
  if (EqualsIgnoreCase(word, "error")) return DiskFault{.kind = DiskFault::Kind::kError};
  if (!EqualsIgnoreCase(word, "slow")) RefuseWord(word, "fault of a disk", "FULL, ERROR, or SLOW with a duration");
  const Bytes duration = ValueOf(args, word);
  const int64_t slow_ms = DurationMs(duration);
  if (slow_ms <= DiskFault::kSlowestMs) return DiskFault{.kind = DiskFault::Kind::kSlow, .slow_ms = slow_ms};
  throw Refusal{"ERR " + Shown(duration) + " is too long. Write 1m at most, since the server waits for its disk"};
}

FaultOrder::Action TakeRefusal(Args& args, Bytes) {
  return args.TakeToken("LISTEN") ? RefusedConnections::kNotAccepted : RefusedConnections::kClosed;
}

template <RequestFault::Kind kKind>
FaultOrder::Action Plain(Args&, Bytes) {
  return RequestFault{.kind = kKind};
}

template <RequestFault::Kind kKind>
FaultOrder::Action WithDuration(Args& args, Bytes action) {
  return RequestFault{.kind = kKind, .amount = DelayMs(ValueOf(args, action))};
}

using Kind = RequestFault::Kind;
struct KnownAction {
  Bytes name;
  FaultOrder::Action (*take)(Args& args, Bytes action);
};
constexpr std::array kKnownActions = {
    KnownAction{"error", TakeError},
    KnownAction{"reply",
                [](Args& args, Bytes action) -> FaultOrder::Action {
                  return RequestFault{.kind = Kind::kReply, .text = std::string(ValueOf(args, action))};
                }},
    KnownAction{"delay", WithDuration<Kind::kDelay>},
    KnownAction{"delay-reply", WithDuration<Kind::kDelayReply>},
    KnownAction{"close", Plain<Kind::kClose>},
    KnownAction{"close-after", Plain<Kind::kCut>},  // nothing of the reply
    KnownAction{
        "cut",
        [](Args& args, Bytes action) -> FaultOrder::Action {
          const Bytes octets = ValueOf(args, action);
          return RequestFault{.kind = Kind::kCut, .amount = NumberIn(octets, "number of octets", {0, kMostOctets})};
        }},
    KnownAction{"trickle",
                [](Args& args, Bytes action) -> FaultOrder::Action {
                  const Bytes rate = ValueOf(args, action);
                  return RequestFault{.kind = Kind::kTrickle,
                                      .amount = NumberIn(rate, "number of octets a second", {1, kMostPerSecond})};
                }},
    KnownAction{"silence", Plain<Kind::kSilence>},
    KnownAction{"refuse", TakeRefusal},
    KnownAction{"disk", TakeDiskFault},
};

FaultOrder::Action TakeAction(Args& args) {
  if (!args.TakeToken("DO")) throw Refusal{std::string("ERR DO is missing. There are ") + kActions};
  const Bytes word = ValueOf(args, "DO");
  for (const KnownAction& known : kKnownActions) {
    if (EqualsIgnoreCase(word, known.name)) return known.take(args, word);
  }
  throw Refusal{"ERR " + Shown(word) + " is no fault. There are " + kActions};
}

// --- TIMES, AFTER, PERCENT, FOR

uint64_t Chance(Bytes word) {
  const auto percent = ParseDouble(word);
  if (!percent || !(*percent >= 0 && *percent <= 100)) RefuseWord(word, "share", "a number from 0 to 100");
  const double share = std::ldexp(*percent / 100, 64);
  return share >= std::ldexp(1.0, 64) ? Turns::kAlways : static_cast<uint64_t>(share);
}

void TakeOptions(Args& args, FaultOrder& order) {
  std::optional<uint64_t> times, after, chance;
  while (!args.AtEnd()) {
    const Bytes word = args.Next();
    const auto is = [word](Bytes name) { return EqualsIgnoreCase(word, name); };
    if (is("times")) {
      SetOnce(times, word, static_cast<uint64_t>(NumberIn(ValueOf(args, word), "number of times", {1, INT64_MAX})));
    } else if (is("after")) {
      SetOnce(after, word, static_cast<uint64_t>(NumberIn(ValueOf(args, word), "number of times", {0, INT64_MAX})));
    } else if (is("percent")) {
      SetOnce(chance, word, Chance(ValueOf(args, word)));
    } else if (is("for")) {
      SetOnce(order.for_ms, word, DelayMs(ValueOf(args, word)));
    } else {
      throw Refusal{"ERR " + Shown(word) + " is not understood. Behind a fault stand TIMES, AFTER, PERCENT and FOR"};
    }
  }
  order.turns = {
      .times = times.value_or(Turns::kAlways), .after = after.value_or(0), .chance = chance.value_or(Turns::kAlways)};
}

// Connections have an address only, the disk has no clients.
void CheckFilter(const FaultOrder& order, Bytes conditions) {
  const auto* const refused = std::get_if<RefusedConnections>(&order.action);
  if (refused == nullptr && std::get_if<DiskFault>(&order.action) == nullptr) return;
  if (conditions.empty()) return;
  if (refused == nullptr) throw Refusal{"ERR a fault of the disk has no WHEN"};
  if (*refused == RefusedConnections::kNotAccepted)
    throw Refusal{"ERR REFUSE LISTEN has no WHEN, since nobody is heard"};
  if (conditions != "addr") throw Refusal{"ERR a connection that is refused has no condition but ADDR"};
}

}  // namespace

int64_t DelayMs(Bytes word) {
  const int64_t duration_ms = DurationMs(word);
  if (duration_ms <= kLongestMs) return duration_ms;
  throw Refusal{"ERR " + Shown(word) + " is too long. Write 36500d at most"};
}

FaultOrder TakeFaultOrder(Args& args, const CommandTable& commands) {
  FaultOrder order;
  order.name = args.Next();
  order.words.assign(args.Rest().begin(), args.Rest().end());
  const size_t before = args.Left();
  const Bytes first = before > 1 ? args.Rest()[1] : Bytes();
  order.filter = TakeRequestFilter(args, commands);
  const size_t taken = before - args.Left();
  const bool is_address = taken == 3 && EqualsIgnoreCase(first, "addr");
  order.action = TakeAction(args);
  TakeOptions(args, order);
  CheckFilter(order, taken == 0 ? "" : is_address ? "addr" : "others");
  const auto* const refused = std::get_if<RefusedConnections>(&order.action);
  const bool has_turns =
      order.turns.times != Turns::kAlways || order.turns.after != 0 || order.turns.chance != Turns::kAlways;
  if (has_turns && refused != nullptr && *refused == RefusedConnections::kNotAccepted) {
    throw Refusal{"ERR REFUSE LISTEN counts nothing, since nobody is heard. FOR says how long"};
  }
  return order;
}

ClientFilter TakeClientFilter(Args& args) {
  ClientFilter filter;
  while (!args.AtEnd()) {
    const Bytes word = args.Next();
    if (TakeClientCondition(args, word, filter)) continue;
    throw Refusal{"ERR " + Shown(word) + " is no condition for clients. There are " + kClientConditions};
  }
  return filter;
}

}  // namespace respite
