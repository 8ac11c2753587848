// TEST AWAIT: waits until the server is in a given state, or replies with an error after a timeout in real time.
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/duration_text.h"
#include "base/real_clock.h"
#include "base/str_cat.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/clients.h"
#include "server/clients/current_execution.h"
#include "server/clients/pubsub.h"
#include "server/clients/replica.h"
#include "server/clients/waiting_requests.h"
#include "server/commands/families.h"
#include "server/commands/test/condition_words.h"
#include "server/commands/test/test_words.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/value_names.h"
#include "server/execution/call.h"
#include "server/execution/services.h"
#include "server/lab/awaits.h"
#include "server/lab/journal_match_counter.h"
#include "server/lab/lab.h"
#include "server/lab/request_text.h"

namespace respite {

namespace {

using ConditionState = Awaits::ConditionState;

constexpr char kWhat[] = "BLOCKED, SUBSCRIBERS, CLIENTS, COMMAND, KEY, REPLICAS and QUIET";
constexpr int64_t kUsualTimeoutMs = 5000;
constexpr int64_t kMaxAwaitMs = int64_t{24} * 3'600'000;

// The state for which TEST AWAIT waits: `wanted` describes it in errors, and `look` returns whether it is reached.
struct AwaitGoal {
  std::string wanted;
  Awaits::Condition look;
};

// Parses a duration of real time. Throws a Refusal if it is longer than a day.
int64_t RealMs(Bytes word) {
  const int64_t duration_ms = ParseDurationArgumentMs(word);
  if (duration_ms <= kMaxAwaitMs) return duration_ms;
  throw Refusal{"ERR " + QuotedForError(word) + " is too long. Write 24h at most, since this is real time"};
}

// The number, for example of clients, that TEST AWAIT waits for. The condition is met at `wanted` or above. If `wanted`
// is 0, the condition is met only at 0.
struct AwaitedNumber {
  uint64_t wanted;

  bool IsMet(uint64_t seen) const { return wanted == 0 ? seen == 0 : seen >= wanted; }
  std::string Text() const { return wanted == 0 ? "no" : StrCat("at least ", wanted); }
};

AwaitedNumber TakeAwaitedNumber(Args& args, Bytes word) {
  return {static_cast<uint64_t>(ParseNumberInRange(TakeValueOf(args, word), "number", {0, INT64_MAX}))};
}

AwaitGoal Counted(AwaitedNumber number, const std::string& what, std::function<uint64_t()> count) {
  return {.wanted = number.Text() + " " + what, .look = [number, count = std::move(count)] {
            const uint64_t seen = count();
            return ConditionState{.is_met = number.IsMet(seen), .state_text = std::to_string(seen)};
          }};
}

// Returns whether the session is blocked by a command other than TEST AWAIT (`await`), and is not closing.
bool IsBlockedElsewhere(const Session& session, const Command& await) {
  return !session.closing && session.blocked_client != nullptr && session.blocked_client->command != &await;
}

bool WaitsForKey(const BlockedClient& blocked, const KeyName& wanted) {
  return std::ranges::any_of(blocked.places, [&](const auto& place) { return place.Name() == wanted; });
}

AwaitGoal TakeBlocked(Call& call) {
  const AwaitedNumber number = TakeAwaitedNumber(call.args, "BLOCKED");
  std::optional<KeyName> key;
  if (call.args.TakeToken("KEY")) key = KeyName{call.session.db, std::string(TakeValueOf(call.args, "KEY"))};
  const std::string at = key ? " at " + Quoted(key->key) : "";
  return Counted(number, "blocked clients" + at, [&services = call.services, &command = call.command, key] {
    uint64_t count = 0;
    services.clients.registry.ForEach([&](const Session& session) {
      if (!IsBlockedElsewhere(session, command)) return;
      if (!key || WaitsForKey(*session.blocked_client, *key)) ++count;
    });
    return count;
  });
}

AwaitGoal TakeSubscribers(Call& call) {
  const std::string channel(TakeValueOf(call.args, "SUBSCRIBERS"));
  const AwaitedNumber number = TakeAwaitedNumber(call.args, "SUBSCRIBERS");
  return Counted(number, "subscribers of " + Quoted(channel), [&services = call.services, channel] {
    const PubSub& pubsub = services.clients.pubsub;
    return pubsub.SubscriberCount(PubSubKind::kChannel, channel) +
           pubsub.SubscriberCount(PubSubKind::kShardChannel, channel);
  });
}

AwaitGoal TakeClients(Call& call) {
  const AwaitedNumber number = TakeAwaitedNumber(call.args, "CLIENTS");
  std::optional<TextPattern> name;
  std::string named;
  if (call.args.TakeToken("NAME")) {
    const Bytes pattern = TakeValueOf(call.args, "NAME");
    name = TextPattern(pattern);
    named = " named " + Quoted(pattern);
  }
  return Counted(number, "other clients" + named, [&services = call.services, own = call.session.id, name] {
    uint64_t count = 0;
    services.clients.registry.ForEach([&](const Session& session) {
      const bool is_other = session.id != own && !session.closing && !IsServerLink(session);
      if (is_other && (!name || name->Matches(session.identity.name))) ++count;
    });
    return count;
  });
}

AwaitGoal TakeReplicas(Call& call) {
  const AwaitedNumber number = TakeAwaitedNumber(call.args, "REPLICAS");
  return Counted(number, "replicas that are online", [&services = call.services] {
    uint64_t count = 0;
    services.clients.registry.ForEach([&count](const Session& session) {
      const bool is_online = session.replica != nullptr && session.replica->state == Replica::State::kOnline;
      if (is_online && !session.closing) ++count;
    });
    return count;
  });
}

AwaitGoal TakeCommand(Call& call) {
  JournalFilter filter;
  const auto before = call.args.Rest();
  while (TakeCondition(call.args, call.services.env.commands, filter)) {
  }
  const size_t taken = before.size() - call.args.Left();
  if (!call.args.TakeToken("TIMES")) {
    throw Refusal{std::string("ERR TIMES n is missing. Before it stand ") + kConditions + ", OUTCOME and SINCE"};
  }
  const AwaitedNumber number = TakeAwaitedNumber(call.args, "TIMES");
  if (!call.services.lab.journal.HasBegun()) {
    throw Refusal{"ERR commands are counted in the journal. TEST JOURNAL START begins it"};
  }
  const RequestJournal& journal = call.services.lab.journal;
  if (number.wanted == 0) RequireCompleteJournal(journal, filter);
  const auto counter = std::make_shared<JournalMatchCounter>(journal, std::move(filter));
  return Counted(number, "of [" + ConditionText(before.first(taken)) + "]", [counter] { return counter->Count(); });
}

// Returns the name of the type of a key's value, or an empty text if the key is absent or has expired.
std::string TypeOf(const Services& services, const KeyName& name) {
  const Entry* const entry = services.data.dataset.keyspace[name.db].Find(name.key);
  const bool is_there = entry != nullptr && !entry->IsExpired(services.clients.current_execution.WallMs());
  return is_there ? std::string(TypeName(entry->Type())) : std::string();
}

// Returns the real time (in µs) at which TEST AWAIT must check the key again: when the key expires if the server's
// clock runs at normal speed, but at least 5 ms from now. Returns Awaits::kNever if the key does not exist, has no
// deadline, or expires in more than a day.
int64_t ExpiryUs(const Services& services, const KeyName& name) {
  const Entry* const entry = services.data.dataset.keyspace[name.db].Find(name.key);
  if (entry == nullptr || entry->Deadline() == kNoDeadline) return Awaits::kNever;
  constexpr int64_t kMinMs = 5;  // the clock may be frozen
  const int64_t left_ms = entry->Deadline() - services.clients.current_execution.WallMs();
  return left_ms > kMaxAwaitMs ? Awaits::kNever
                               : services.env.real_clock.NowUs() + std::max(left_ms + 1, kMinMs) * 1000;
}

AwaitGoal TakeKey(Call& call) {
  const KeyName name{call.session.db, std::string(TakeValueOf(call.args, "KEY"))};
  const Bytes state = TakeValueOf(call.args, "KEY");
  const std::string key = "key " + Quoted(name.key);
  const auto make = [&](const std::string& wanted, std::function<bool(const std::string&)> fits) {
    return AwaitGoal{.wanted = key + " " + wanted, .look = [&services = call.services, name, fits = std::move(fits)] {
                       const std::string type = TypeOf(services, name);
                       return ConditionState{.is_met = fits(type),
                                             .state_text = type.empty() ? "no such key" : "a " + type,
                                             .check_again_us = ExpiryUs(services, name)};
                     }};
  };
  if (EqualsIgnoreCase(state, "exists")) return make("to exist", [](const std::string& type) { return !type.empty(); });
  if (EqualsIgnoreCase(state, "absent")) {
    return make("to be absent", [](const std::string& type) { return type.empty(); });
  }
  if (!EqualsIgnoreCase(state, "type")) RefuseArgument(state, "state of a key", "EXISTS, ABSENT or TYPE");
  const std::string wanted(TakeValueOf(call.args, "TYPE"));
  constexpr std::array<Bytes, 8> kTypes = {"string", "list", "set", "zset", "hash", "stream", "array", "ReJSON-RL"};
  if (std::ranges::find(kTypes, Bytes(wanted)) == kTypes.end()) {
    RefuseArgument(wanted, "type", "string, list, set, zset, hash, stream, array or ReJSON-RL");
  }
  return make("to be a " + wanted, [wanted](const std::string& type) { return type == wanted; });
}

AwaitGoal TakeQuiet(Call& call) {
  struct Activity {
    uint64_t requests;
    int64_t since_us;
  };
  const Bytes word = TakeValueOf(call.args, "QUIET");
  const int64_t quiet_us = RealMs(word) * 1000;
  const auto requests = call.services.lab.awaits.GetOrMakeRequestCounter();
  const auto activity = std::make_shared<Activity>(Activity{requests->Count(), call.services.env.real_clock.NowUs()});
  return {.wanted = DurationText(quiet_us / 1000) + " without a request",
          .look = [&services = call.services, requests, activity, quiet_us] {
            const int64_t now_us = services.env.real_clock.NowUs();
            if (activity->requests != requests->Count()) *activity = {requests->Count(), now_us};
            const int64_t quiet_for_us = now_us - activity->since_us;
            return ConditionState{.is_met = quiet_for_us >= quiet_us,
                                  .state_text = DurationText(quiet_for_us / 1000),
                                  .check_again_us = activity->since_us + quiet_us};
          }};
}

AwaitGoal TakeAwaited(Call& call) {
  struct Kind {
    Bytes name;
    AwaitGoal (*take)(Call& call);
  };
  constexpr std::array kKinds = {Kind{"blocked", TakeBlocked},   Kind{"subscribers", TakeSubscribers},
                                 Kind{"clients", TakeClients},   Kind{"key", TakeKey},
                                 Kind{"replicas", TakeReplicas}, Kind{"quiet", TakeQuiet}};
  const Bytes word = call.args.Rest()[0];
  if (EqualsIgnoreCase(word, "command")) return TakeCommand(call);
  for (const Kind& kind : kKinds) {
    if (call.args.TakeToken(kind.name)) return kind.take(call);
  }
  throw Refusal{"ERR " + QuotedForError(word) + " cannot be awaited. There are " + kWhat};
}

void FailAwait(Call& call, const AwaitGoal& awaited, const ConditionState& state, int64_t timeout_ms) {
  std::string text = "AWAIT wanted " + awaited.wanted + ", saw " + state.state_text;
  if (timeout_ms != 0) text += " after " + DurationText(timeout_ms);
  std::ranges::replace_if(
      text, [](char c) { return c == '\r' || c == '\n'; }, ' ');
  call.reply.Error(text);
}

struct TestAwait {
  static constexpr CommandSpec spec = TestSpec(
      "TEST|AWAIT condition(blocked{BLOCKED blocked:integer [KEY blocked-key<key>:string]}|subscribers{SUBSCRIBERS "
      "channel:string subscribers:integer}|clients{CLIENTS clients:integer [NAME "
      "client-name:pattern]}|commands{COMMAND "
      "command:pattern [filter:string...] TIMES times:integer}|key{KEY awaited-key<key>:string "
      "state(EXISTS|ABSENT|TYPE "
      "type:string)}|REPLICAS replicas:integer|QUIET quiet-for<duration>:string) [TIMEOUT timeout<duration>:string]",
      "Waits until the server is in that state, in real time; five seconds by default.");
  static void Run(Call& call) {
    const AwaitGoal awaited = TakeAwaited(call);
    int64_t timeout_ms = kUsualTimeoutMs;
    if (call.args.TakeToken("TIMEOUT")) timeout_ms = RealMs(TakeValueOf(call.args, "TIMEOUT"));
    if (!call.args.AtEnd()) {
      throw Refusal{"ERR " + QuotedForError(call.args.Rest()[0]) +
                    " is not understood here. TIMEOUT may stand at the end"};
    }
    Awaits& awaits = call.services.lab.awaits;
    std::optional<ConditionState> end = call.is_resumed ? awaits.Take(call.session) : std::nullopt;
    const ConditionState state = end ? *std::move(end) : awaited.look();
    if (state.is_met) return call.reply.Ok();
    if (call.is_resumed || timeout_ms == 0 || !call.MayContinueLater())
      return FailAwait(call, awaited, state, timeout_ms);
    awaits.RegisterWait(call.session, call.command, awaited.look, timeout_ms);
    call.Wait({.can_be_unblocked = false});
  }
};

constexpr auto kTestAwaitCommands = Family<TestAwait>();

}  // namespace

std::span<const CommandCard> TestAwaitCommands() { return kTestAwaitCommands; }

}  // namespace respite
