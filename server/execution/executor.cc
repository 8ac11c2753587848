#include "server/execution/executor.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/pace.h"
#include "server/catalogue/command_table.h"
#include "server/catalogue/refusals.h"
#include "server/clients/client_limits.h"
#include "server/clients/client_memory.h"
#include "server/clients/client_text.h"
#include "server/clients/clients.h"
#include "server/clients/pause.h"
#include "server/clients/running.h"
#include "server/clients/tracking.h"
#include "server/clients/waiting.h"
#include "server/clients/watched_keys.h"
#include "server/config/settings.h"
#include "server/dataset/eviction.h"
#include "server/dataset/latency.h"
#include "server/dataset/stats.h"
#include "server/dataset/unit.h"
#include "server/execution/durability.h"
#include "server/execution/gates.h"
#include "server/execution/script_runner.h"
#include "server/execution/services.h"
#include "server/execution/slowlog.h"

namespace respite {

namespace {

bool IsHttp(Bytes word) { return EqualsIgnoreCase(word, "post") || EqualsIgnoreCase(word, "host:"); }

}  // namespace

void Executor::StartRun() {
  ReadTime();
  running_.wall_base_us = parts_.clock.WallUs() - running_.last_us;
}

void Executor::ReadTime() {
  running_.pace_us = parts_.pace.NowUs();
  running_.last_us = parts_.clock.MonotonicUsAt(running_.pace_us);
}

void Executor::LetTimePass() {
  StartRun();
  unit_wall_us_ = running_.wall_base_us + running_.last_us;
}

const Command* Executor::Resolve(std::span<const Bytes> words) const {
  const Command* command = parts_.commands.Find(words[0]);
  if (command == nullptr || command->subcommands.empty() || words.size() < 2) return command;
  return parts_.commands.FindSub(*command, words[1]);
}

Executor::Outcome Executor::Execute(Session& session, const Request& request) {
  const Command* const command = request.command;
  const std::span<const Bytes> words = request.words;
  session.last_command = command;
  if (request.progress.stage == Progress::Stage::kBegun) return Perform(RunOf(session, request));
  uint32_t flags = 0;
  try {
    if (command == nullptr && IsHttp(words[0])) {
      AbortAttack(session);
      return Outcome::kDone;
    }
    if (command == nullptr) throw UnknownCommand(words);
    if (!parts_.tracking.Empty()) parts_.tracking.KeepWithinLimit();
    if (parts_.client_memory.IsOver()) parts_.client_memory.EvictClients(&session);
    if (parts_.settings.maxmemory != 0) parts_.eviction.BeforeCommand();
    if (session.closing) return Outcome::kDone;  // evicted, or those messages were too much for it
    flags = EffectiveFlags(parts_.services, session, *command, words);
    parts_.gates.Pass({session, *command, flags, words});
    // While a script is late no pause ends: what may end the script must not wait for it.
    const bool is_paused = parts_.pause.Holds(flags) && !parts_.scripts.Busy();
    if (!session.monitor && is_paused) {
      Hold(session, words, {.stage = Progress::Stage::kAgain});
      parts_.clients.AddPostponed(session);
      return Outcome::kPostponed;
    }
  } catch (const Refusal& refusal) {
    Reject(session, command, refusal);
    // Redis: so that monitors see where the transaction ends.
    const bool ends = command != nullptr && command->Spec().transaction == TransactionRole::kExecutes;
    if (ends && !parts_.clients.Monitors().empty()) FeedMonitors(RunOf(session, request));
    return Outcome::kDone;
  }
  const bool is_queued = session.InTransaction() && command->Spec().transaction == TransactionRole::kQueued;
  if (!is_queued) return Perform(RunOf(session, request));
  const size_t reply_start = session.out.Size();
  Queue(session, *command, words, flags);
  if (session.reply_mode != ReplyMode::kOn) ApplyReplyMode(session, reply_start);
  return Outcome::kDone;
}

Executor::Outcome Executor::Perform(const Run& run) {
  Session& session = run.session;
  const int64_t started_us = running_.last_us - run.progress.spent_us;
  const size_t reply_start = session.out.Size();
  running_.session = &session;
  running_.words = run.words;
  running_.command = &run.command;
  settled_size_ = 0;
  const Ending ending = RunHandler(run);
  running_.command = nullptr;
  if (session.waiter != nullptr) {
    SendDeferredPushes(session);
    const bool is_new = run.progress.stage == Progress::Stage::kNew;
    if (is_new && !parts_.clients.Monitors().empty()) FeedMonitors(run);
    return Outcome::kWaiting;
  }
  if (ending == Ending::kUnfinished) {
    SendDeferredPushes(session);
    ReadTime();
    Hold(session, run.words, {.stage = Progress::Stage::kBegun, .spent_us = running_.last_us - started_us});
    return Outcome::kUnfinished;
  }
  if (session.reply_mode != ReplyMode::kOn) ApplyReplyMode(session, std::max(reply_start, settled_size_));
  SendDeferredPushes(session);
  ReadTime();
  KeepBooks(run, started_us, ending);
  if (!parts_.scripts.Busy()) parts_.waiting.ServeReady();  // else when the script has ended
  return Outcome::kDone;
}

void Executor::Hold(Session& session, std::span<const Bytes> words, Progress progress) {
  session.held =
      std::make_unique<HeldRequest>(HeldRequest{std::vector<std::string>(words.begin(), words.end()), progress});
}

void Executor::SendDeferredPushes(Session& session) {
  if (session.deferred_pushes.empty()) return;
  session.out.Append(std::exchange(session.deferred_pushes, {}));
  parts_.clients.QueueFlush(session);
}

void Executor::Queue(Session& session, const Command& command, std::span<const Bytes> words, uint32_t flags) {
  session.transaction->Queue(command, words, flags);
  session.out.Append("+QUEUED\r\n");
}

void Executor::ExecuteWithin(Unit& unit, Session& session, const Command& command, std::span<const Bytes> words) {
  const Run run{session, command, words};
  const Command* const outer_command = std::exchange(running_.command, &command);
  const auto outer_words = std::exchange(running_.words, words);
  // Between two commands of a script its own code ran, which is none of theirs.
  const int64_t started_us = session.IsScript() ? parts_.clock.MonotonicUs() : running_.last_us;
  const size_t reply_start = session.out.Size();
  ++depth_;
  const Ending ending = RunHandlerIn(unit, run);
  --depth_;
  if (!session.IsScript()) SettleReply(session, reply_start);
  running_.command = outer_command;
  running_.words = outer_words;
  ReadTime();
  KeepBooks(run, started_us, ending);
}

void Executor::SettleReply(Session& session, size_t reply_start) {
  if (session.IsSilent()) session.out.RollBack(std::max(reply_start, settled_size_));
  settled_size_ = session.out.Size();
}

Result<Done> Executor::Replay(Unit& unit, Session& session, const Command& command, std::span<const Bytes> words) {
  if (!command.FitsArity(words.size())) return Failure(refusals::WrongArity(command.full_name).text);
  // SCRIPT LOAD and SCRIPT FLUSH stand in files of Redis before 7.
  const bool has_effect = command.Is(kWrite) || command.Is(kMayReplicate) || (command.categories & kAclScripting) != 0;
  if (command.Is(kNoScript) && !has_effect) return Failure(std::string(refusals::kNotOfRecord));
  const Aside aside = StandAside();
  running_.command = &command;
  running_.session = &session;
  running_.words = words;
  depth_ = 1;
  const bool succeeded = RunHandlerIn(unit, {session, command, words}) == Ending::kSucceeded;
  std::string error = succeeded ? "" : session.out.Text(1);
  session.out.Rewind();
  GoOn(aside);
  if (succeeded) return Done{};
  return Failure(error.substr(0, error.find('\r')));
}

void Executor::CountRejected(const Command* command, Bytes error) {
  if (command != nullptr) ++parts_.commands.StatsOf(*command).rejected_calls;
  parts_.stats.CountError(error);
}

Executor::Aside Executor::StandAside() {
  return {std::exchange(running_.command, nullptr), std::exchange(running_.session, nullptr), running_.words,
          std::exchange(depth_, 0), settled_size_};
}

void Executor::GoOn(const Aside& aside) {
  running_.command = aside.command;
  running_.session = aside.session;
  running_.words = aside.words;
  depth_ = aside.depth;
  settled_size_ = aside.settled_size;
}

void Executor::AnswerWaiter(const Waiter& waiter, WaitEnd end) {
  Session& session = *waiter.session;
  const size_t reply_start = session.out.Size();
  Reply reply(session.out, session.resp);
  if (end == WaitEnd::kTimeout) {
    waiter.answer(reply, parts_.services, session);
  } else {
    reply.Error(refusals::kUnblocked);
    parts_.stats.CountError(refusals::kUnblocked);
  }
  if (session.reply_mode != ReplyMode::kOn) ApplyReplyMode(session, reply_start);
  const std::vector<Bytes> words(waiter.words.begin(), waiter.words.end());
  const Run run{session, *waiter.command, words, {}, {}, {.stage = Progress::Stage::kAgain}};
  KeepBooks(run, running_.last_us, end == WaitEnd::kTimeout ? Ending::kSucceeded : Ending::kFailed);
}

Executor::Ending Executor::RunHandler(const Run& run) {
  unit_wall_us_ = running_.wall_base_us + running_.last_us;
  Unit unit(parts_.data, running_.WallMs(), parts_.pause.Rule());
  const Ending ending = RunHandlerIn(unit, run);
  // A walk must not tie keys together that nobody named together. Redis: a transaction or a script with it does.
  unit.Close(run.command.Is(kTouchesArbitraryKeys) ? Unit::Bond::kApart : Unit::Bond::kTogether);
  if (unit.Changes() != 0 && unit.Recorded()) run.session.journaled_octets = parts_.durability.JournaledOctets();
  return ending;
}

Executor::Ending Executor::RunHandlerIn(Unit& unit, const Run& run) {
  const uint64_t changes_before = unit.Changes();
  size_t reply_start = run.session.out.Size();
  size_t first_argument = run.command.parent == nullptr ? 1 : 2;
  Call call{.services = parts_.services,
            .session = run.session,
            .command = run.command,
            .unit = unit,
            .args = Args(run.words, first_argument),
            .db = DbView(unit, run.session.db, !run.session.no_touch, run.key),
            .reply = Reply(run.session.out, run.session.resp, run.session.reply_form),
            .effect = Effect(unit.Recorded()),
            .now_ms = unit.now_ms(),
            .random = parts_.data.random,
            .blobs = run.blobs};
  try {
    run.command.card->run(call);
    if (unit.Changes() != changes_before) Record(call, run);
    if (run.session.tracking != nullptr) NoteReads(run);
    if (call.goes_on) return Ending::kUnfinished;
    return call.failed ? Ending::kFailed : Ending::kSucceeded;
  } catch (const Refusal& refusal) {
    // A script keeps what its commands did before it failed.
    assert((unit.Changes() == changes_before || run.command.Is(kNoMandatoryKeys)) && "a refused command had an effect");
    run.session.out.RollBack(reply_start);
    call.reply.Error(refusal.text);
    if (!refusal.is_counted) parts_.stats.CountError(refusal.text);
    return Ending::kFailed;
  }
}

// By the name that the command has everywhere, whatever rename-command makes of it here.
void Executor::Record(Call& call, const Run& run) {
  if (!parts_.commands.HasRenamed()) return call.unit.Record(call.db.Index(), call.effect, run.words);
  const Command& named = run.command.parent == nullptr ? run.command : *run.command.parent;
  std::vector<Bytes> words(run.words.begin(), run.words.end());
  if (parts_.commands.Renamed(named.full_name) == &named) words[0] = named.full_name;
  call.unit.Record(call.db.Index(), call.effect, words);
}

void Executor::NoteReads(const Run& run) {
  // A script has noted what its commands read.
  const bool is_script = run.command.Is(kNoMandatoryKeys);
  if (run.command.Is(kReadOnly) && !is_script) parts_.tracking.Remember(run.session, run.command, run.words);
  // CLIENT CACHING is for one command, or one transaction. Redis: any CLIENT command leaves it in force.
  const Command& named = run.command.parent == nullptr ? run.command : *run.command.parent;
  const bool keeps = run.session.InTransaction() || named.Spec().keeps_caching_choice;
  if (!keeps) run.session.tracking->caching_given = false;
}

void Executor::Reject(Session& session, const Command* command, const Refusal& refusal) {
  // Redis: an EXEC that is refused ends its transaction, and says why.
  const bool ends = command != nullptr && command->Spec().transaction == TransactionRole::kExecutes;
  const Refusal told = ends ? refusals::ExecAborted(refusal.text) : refusal;
  if (ends) EndTransaction(parts_.watched_keys, session);
  if (session.transaction != nullptr) session.transaction->Break();
  CountRejected(command, told.text);
  size_t reply_start = session.out.Size();
  Reply(session.out, session.resp).Error(told.text);
  if (session.reply_mode != ReplyMode::kOn) ApplyReplyMode(session, reply_start);
}

Refusal Executor::UnknownCommand(std::span<const Bytes> words) const {
  const Command* container = parts_.commands.Find(words[0]);
  if (container != nullptr) return refusals::UnknownSubcommand(container->full_name, words[1]);
  std::string shown;
  for (Bytes word : words.subspan(1)) {
    if (shown.size() >= refusals::kShownMax) break;
    shown += "'" + std::string(refusals::ShownPart(word, refusals::kShownMax - shown.size())) + "' ";
  }
  return refusals::UnknownCommand(words[0], shown);
}

void Executor::KeepBooks(const Run& run, int64_t started_us, Ending ending) {
  ServerStats& stats = parts_.stats;
  const Settings& settings = parts_.settings;
  int64_t duration_us = running_.last_us - started_us;
  ++stats.commands;
  ++run.session.commands;
  CommandStats& own = parts_.commands.StatsOf(run.command);
  ++own.calls;
  own.usec += static_cast<uint64_t>(duration_us);
  stats.command_us += static_cast<uint64_t>(duration_us);
  if (ending == Ending::kFailed) ++own.failed_calls;
  if (settings.latency_tracking) {
    if (!own.latency) own.latency = std::make_unique<LatencyHistogram>();
    own.latency->Record(static_cast<uint64_t>(duration_us) * 1000);
  }

  if (parts_.latency.IsOn()) parts_.latency.Note(run.command.flags & kFast ? "fast-command" : "command", duration_us);
  bool slow = settings.slowlog_log_slower_than >= 0 && duration_us >= settings.slowlog_log_slower_than;
  if (slow || !parts_.clients.Monitors().empty()) Publish(run, duration_us);
  run.session.redacted_words.clear();
}

std::vector<Bytes> Executor::ShownWords(const Run& run) {
  std::vector<Bytes> shown(run.words.begin(), run.words.end());
  for (size_t index : run.session.redacted_words) shown[index] = "(redacted)";
  return shown;
}

void Executor::Publish(const Run& run, int64_t duration_us) {
  const Settings& settings = parts_.settings;
  bool slow = settings.slowlog_log_slower_than >= 0 && duration_us >= settings.slowlog_log_slower_than;
  if (slow && (run.command.flags & kSkipSlowlog) == 0) {
    parts_.slowlog.Add({.id = 0,
                        .unix_time_s = running_.WallMs() / 1000,
                        .duration_us = duration_us,
                        .words = SlowLog::Shorten(ShownWords(run)),
                        .peer = run.session.address,
                        .client_name = run.session.name},
                       static_cast<size_t>(std::max<int64_t>(settings.slowlog_max_len, 0)));
  }
  // Redis: a request that had to wait for the end of CLIENT PAUSE is never shown to monitors.
  const bool was_postponed = run.progress.stage == Progress::Stage::kAgain;
  if (!parts_.clients.Monitors().empty() && !was_postponed) FeedMonitors(run);
}

void Executor::ShowToMonitors(Session& session) {
  if (!parts_.clients.Monitors().empty()) ShowRun({session, *running_.command, running_.words});
}

void Executor::FeedMonitors(const Run& run) {
  if ((run.command.flags & (kSkipMonitor | kAdmin)) == 0) ShowRun(run);
}

void Executor::ShowRun(const Run& run) {
  int64_t wall_us = running_.wall_base_us + running_.last_us;
  std::string micros = std::to_string(wall_us % 1000000);
  std::string line = std::to_string(wall_us / 1000000) + "." + std::string(6 - micros.size(), '0') + micros + " [" +
                     std::to_string(run.session.db) + " " + MonitoredPeer(run.session) + "]";
  for (Bytes word : ShownWords(run)) {
    line += ' ';
    AppendQuoted(line, word);
  }
  std::vector<Session*> monitors = parts_.clients.Monitors();  // who overruns its limit leaves the list
  for (Session* monitor : monitors) {
    if (monitor->reply_mode == ReplyMode::kOff || monitor->close_after_reply) continue;
    Reply(monitor->out, monitor->resp).Simple(line);
    parts_.clients.QueueFlush(*monitor);
    parts_.limits.CheckOutput(*monitor, running_.last_us / 1000, ClientLimits::Moment::kReply);
  }
}

std::string Executor::MonitoredPeer(const Session& session) const {
  if (session.IsScript()) return "lua";
  return session.unix_socket ? "unix:" + parts_.settings.unixsocket : session.address;
}

void Executor::ApplyReplyMode(Session& session, size_t reply_start) {
  if (session.reply_mode == ReplyMode::kSkipNext) {
    session.reply_mode = ReplyMode::kSkip;
    return;
  }
  session.out.RollBack(reply_start);
  if (session.reply_mode == ReplyMode::kSkip) session.reply_mode = ReplyMode::kOn;
}

void Executor::AbortAttack(Session& session) {
  constexpr int64_t kQuietMs = 60'000;  // the log must not become a way to fill the disk
  int64_t now_ms = parts_.pace.NowMs();
  if (attack_logged_ms_ < 0 || now_ms - attack_logged_ms_ > kQuietMs) {
    attack_logged_ms_ = now_ms;
    // Redis: every unix socket goes by this name here.
    std::string peer = session.unix_socket ? "/unixsocket:0" : WithoutBrackets(session.address);
    parts_.log.Warning(
        "Possible SECURITY ATTACK detected. It looks like somebody is sending POST or Host: commands to Redis. This is "
        "likely due to an attacker attempting to use Cross Protocol Scripting to compromise your Redis instance. "
        "Connection from " +
        peer + " aborted.");
  }
  parts_.clients.Close(session);
}

}  // namespace respite
