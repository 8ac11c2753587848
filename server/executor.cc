#include "server/executor.h"

#include <algorithm>
#include <utility>

#include "server/client_text.h"
#include "server/gates.h"
#include "server/refusals.h"
#include "server/server.h"

namespace respite {

namespace {

bool IsHttp(Bytes word) { return EqualsIgnoreCase(word, "post") || EqualsIgnoreCase(word, "host:"); }

}  // namespace

void Executor::StartRun() {
  last_us_ = server_.clock().MonotonicUs();
  wall_base_us_ = server_.clock().WallUs() - last_us_;
}

void Executor::LetTimePass() {
  StartRun();
  unit_wall_us_ = wall_base_us_ + last_us_;
}

const Command* Executor::Resolve(std::span<const Bytes> words) const {
  const Command* command = server_.commands().Find(words[0]);
  if (command == nullptr || command->subcommands.empty() || words.size() < 2) return command;
  return server_.commands().FindSub(*command, words[1]);
}

Executor::Outcome Executor::Execute(Session& session, const Request& request, Pass pass) {
  const Command* const command = request.command;
  const std::span<const Bytes> words = request.words;
  session.last_command = command;
  uint32_t flags = 0;
  try {
    if (command == nullptr && IsHttp(words[0])) {
      AbortAttack(session);
      return Outcome::kDone;
    }
    if (command == nullptr) throw UnknownCommand(words);
    if (!server_.tracking().Empty()) server_.tracking().KeepWithinLimit();
    if (server_.client_memory().IsOver()) server_.client_memory().EvictClients(&session);
    if (server_.settings().maxmemory != 0) server_.eviction().BeforeCommand();
    if (session.closing) return Outcome::kDone;  // evicted, or those messages were too much for it
    flags = EffectiveFlags(server_, session, *command, words);
    PassGates({server_, session, *command, flags, words});
    // While a script is late no pause ends: what may end the script must not wait for it.
    const bool is_paused = server_.pause().Holds(flags) && !server_.scripts().Busy();
    if (!session.monitor && is_paused) return Outcome::kPostponed;
  } catch (const Refusal& refusal) {
    Reject(session, command, refusal);
    // Redis: so that monitors see where the transaction ends.
    const bool ends = command != nullptr && command->Spec().transaction == TransactionRole::kExecutes;
    if (ends && !server_.clients().Monitors().empty()) FeedMonitors({session, *command, words, {}, pass});
    return Outcome::kDone;
  }

  const Run run{session, *command, words, request.blobs, pass, request.key};
  int64_t started_us = last_us_;
  size_t reply_start = session.out.Size();
  if (session.InTransaction() && command->Spec().transaction == TransactionRole::kQueued) {
    Queue(session, *command, words, flags);
    if (session.reply_mode != ReplyMode::kOn) ApplyReplyMode(session, reply_start);
    return Outcome::kDone;
  }
  current_session_ = &session;
  current_words_ = words;
  current_ = command;
  settled_size_ = 0;
  bool succeeded = RunHandler(run);
  current_ = nullptr;
  if (session.waiter != nullptr) {
    SendDeferredPushes(session);
    if (pass == Pass::kFirst && !server_.clients().Monitors().empty()) FeedMonitors(run);
    return Outcome::kWaiting;
  }
  if (std::exchange(session.has_more_to_do, false)) {
    last_us_ = server_.clock().MonotonicUs();
    server_.clients().QueueFlush(session);
    if (pass == Pass::kFirst && !server_.clients().Monitors().empty()) FeedMonitors(run);
    return Outcome::kPostponed;
  }
  if (session.reply_mode != ReplyMode::kOn) ApplyReplyMode(session, std::max(reply_start, settled_size_));
  SendDeferredPushes(session);
  last_us_ = server_.clock().MonotonicUs();
  KeepBooks(run, started_us, succeeded);
  if (!server_.scripts().Busy()) server_.waiting().ServeReady();  // else when the script has ended
  return Outcome::kDone;
}

void Executor::SendDeferredPushes(Session& session) {
  if (session.deferred_pushes.empty()) return;
  session.out.Append(std::exchange(session.deferred_pushes, {}));
  server_.clients().QueueFlush(session);
}

void Executor::Queue(Session& session, const Command& command, std::span<const Bytes> words, uint32_t flags) {
  session.transaction->Queue(command, words, flags);
  session.out.Append("+QUEUED\r\n");
}

void Executor::ExecuteWithin(Unit& unit, Session& session, const Command& command, std::span<const Bytes> words) {
  const Run run{session, command, words, {}, Pass::kFirst};
  const Command* const outer_command = std::exchange(current_, &command);
  const auto outer_words = std::exchange(current_words_, words);
  // Between two commands of a script its own code ran, which is none of theirs.
  const int64_t started_us = session.IsScript() ? server_.clock().MonotonicUs() : last_us_;
  const size_t reply_start = session.out.Size();
  ++depth_;
  const bool succeeded = RunHandlerIn(unit, run);
  --depth_;
  if (!session.IsScript()) SettleReply(session, reply_start);
  current_ = outer_command;
  current_words_ = outer_words;
  last_us_ = server_.clock().MonotonicUs();
  KeepBooks(run, started_us, succeeded);
}

void Executor::SettleReply(Session& session, size_t reply_start) {
  if (session.IsSilent()) session.out.RollBack(reply_start);
  settled_size_ = session.out.Size();
}

Result<Done> Executor::Replay(Unit& unit, Session& session, const Command& command, std::span<const Bytes> words) {
  if (!command.FitsArity(words.size())) return Failure(refusals::WrongArity(command.full_name).text);
  // SCRIPT LOAD and SCRIPT FLUSH stand in files of Redis before 7.
  const bool has_effect = command.Is(kWrite) || command.Is(kMayReplicate) || (command.categories & kAclScripting) != 0;
  if (command.Is(kNoScript) && !has_effect) return Failure(std::string(refusals::kNotOfRecord));
  const Aside aside = StandAside();
  current_ = &command;
  current_session_ = &session;
  current_words_ = words;
  depth_ = 1;
  const bool succeeded = RunHandlerIn(unit, {session, command, words, {}, Pass::kAgain});
  std::string error = succeeded ? "" : session.out.Text(1);
  session.out.Rewind();
  GoOn(aside);
  if (succeeded) return Done{};
  return Failure(error.substr(0, error.find('\r')));
}

void Executor::CountRejected(const Command* command, Bytes error) {
  if (command != nullptr) ++server_.commands().StatsOf(*command).rejected_calls;
  server_.stats().CountError(error);
}

Executor::Aside Executor::StandAside() {
  return {std::exchange(current_, nullptr), std::exchange(current_session_, nullptr), current_words_,
          std::exchange(depth_, 0)};
}

void Executor::GoOn(const Aside& aside) {
  current_ = aside.command;
  current_session_ = aside.session;
  current_words_ = aside.words;
  depth_ = aside.depth;
}

void Executor::AnswerWaiter(const Waiter& waiter, WaitEnd end) {
  Session& session = *waiter.session;
  const size_t reply_start = session.out.Size();
  Reply reply(session.out, session.resp);
  if (end == WaitEnd::kTimeout) {
    waiter.answer(reply, server_, session);
  } else {
    reply.Error(refusals::kUnblocked);
    server_.stats().CountError(refusals::kUnblocked);
  }
  if (session.reply_mode != ReplyMode::kOn) ApplyReplyMode(session, reply_start);
  const std::vector<Bytes> words(waiter.words.begin(), waiter.words.end());
  KeepBooks({session, *waiter.command, words, {}, Pass::kAgain}, last_us_, end == WaitEnd::kTimeout);
}

bool Executor::RunHandler(const Run& run) {
  unit_wall_us_ = wall_base_us_ + last_us_;
  Unit unit(server_.data(), WallMs(), server_.expiry_rule());
  const bool succeeded = RunHandlerIn(unit, run);
  // A walk must not tie keys together that nobody named together. Redis: a transaction or a script with it does.
  unit.Close(run.command.Is(kTouchesArbitraryKeys) ? Unit::Bond::kApart : Unit::Bond::kTogether);
  if (unit.Changes() != 0 && unit.Recorded()) run.session.journaled_octets = server_.aof().writer().Appended();
  return succeeded;
}

bool Executor::RunHandlerIn(Unit& unit, const Run& run) {
  const uint64_t changes_before = unit.Changes();
  size_t reply_start = run.session.out.Size();
  size_t first_argument = run.command.parent == nullptr ? 1 : 2;
  Call call{.server = server_,
            .session = run.session,
            .command = run.command,
            .unit = unit,
            .args = Args(run.words, first_argument),
            .db = DbView(unit, run.session.db, !run.session.no_touch, run.key),
            .reply = Reply(run.session.out, run.session.resp, run.session.reply_form),
            .effect = Effect(unit.Recorded()),
            .now_ms = unit.now_ms(),
            .random = server_.data().random,
            .blobs = run.blobs};
  bool succeeded = true;
  try {
    run.command.card->run(call);
    succeeded = !call.failed;
    if (unit.Changes() != changes_before) Record(call, run);
    if (run.session.tracking != nullptr) NoteReads(run);
  } catch (const Refusal& refusal) {
    succeeded = false;
    run.session.out.RollBack(reply_start);
    call.reply.Error(refusal.text);
    if (!refusal.is_counted) server_.stats().CountError(refusal.text);
  }
  return succeeded;
}

// By the name that the command has everywhere, whatever rename-command makes of it here.
void Executor::Record(Call& call, const Run& run) {
  if (!server_.commands().HasRenamed()) return call.unit.Record(call.db.Index(), call.effect, run.words);
  const Command& named = run.command.parent == nullptr ? run.command : *run.command.parent;
  std::vector<Bytes> words(run.words.begin(), run.words.end());
  if (server_.commands().Renamed(named.full_name) == &named) words[0] = named.full_name;
  call.unit.Record(call.db.Index(), call.effect, words);
}

void Executor::NoteReads(const Run& run) {
  // A script has noted what its commands read.
  const bool is_script = run.command.Is(kNoMandatoryKeys);
  if (run.command.Is(kReadOnly) && !is_script) server_.tracking().Remember(run.session, run.command, run.words);
  // CLIENT CACHING is for one command, or one transaction. Redis: any CLIENT command leaves it in force.
  const Command& named = run.command.parent == nullptr ? run.command : *run.command.parent;
  const bool keeps = run.session.InTransaction() || named.Spec().keeps_caching_choice;
  if (!keeps) run.session.tracking->caching_given = false;
}

void Executor::Reject(Session& session, const Command* command, const Refusal& refusal) {
  // Redis: an EXEC that is refused ends its transaction, and says why.
  const bool ends = command != nullptr && command->Spec().transaction == TransactionRole::kExecutes;
  const Refusal told = ends ? refusals::ExecAborted(refusal.text) : refusal;
  if (ends) server_.DropTransaction(session);
  if (session.transaction != nullptr) session.transaction->Break();
  CountRejected(command, told.text);
  size_t reply_start = session.out.Size();
  Reply(session.out, session.resp).Error(told.text);
  if (session.reply_mode != ReplyMode::kOn) ApplyReplyMode(session, reply_start);
}

Refusal Executor::UnknownCommand(std::span<const Bytes> words) const {
  const Command* container = server_.commands().Find(words[0]);
  if (container != nullptr) return refusals::UnknownSubcommand(container->full_name, words[1]);
  std::string shown;
  for (Bytes word : words.subspan(1)) {
    if (shown.size() >= refusals::kShownMax) break;
    shown += "'" + std::string(refusals::ShownPart(word, refusals::kShownMax - shown.size())) + "' ";
  }
  return refusals::UnknownCommand(words[0], shown);
}

void Executor::KeepBooks(const Run& run, int64_t started_us, bool succeeded) {
  ServerStats& stats = server_.stats();
  const Settings& settings = server_.settings();
  int64_t duration_us = last_us_ - started_us;
  ++stats.commands;
  ++run.session.commands;
  CommandStats& own = server_.commands().StatsOf(run.command);
  ++own.calls;
  own.usec += static_cast<uint64_t>(duration_us);
  stats.command_us += static_cast<uint64_t>(duration_us);
  if (!succeeded) ++own.failed_calls;
  if (settings.latency_tracking) {
    if (!own.latency) own.latency = std::make_unique<LatencyHistogram>();
    own.latency->Record(static_cast<uint64_t>(duration_us) * 1000);
  }

  if (settings.latency_monitor_threshold != 0 && duration_us >= settings.latency_monitor_threshold * 1000) {
    server_.latency().Add(run.command.flags & kFast ? "fast-command" : "command", duration_us / 1000, WallMs() / 1000);
  }
  bool slow = settings.slowlog_log_slower_than >= 0 && duration_us >= settings.slowlog_log_slower_than;
  if (slow || !server_.clients().Monitors().empty()) Publish(run, duration_us);
  run.session.redacted_words.clear();
}

std::vector<Bytes> Executor::ShownWords(const Run& run) {
  std::vector<Bytes> shown(run.words.begin(), run.words.end());
  for (size_t index : run.session.redacted_words) shown[index] = "(redacted)";
  return shown;
}

void Executor::Publish(const Run& run, int64_t duration_us) {
  const Settings& settings = server_.settings();
  bool slow = settings.slowlog_log_slower_than >= 0 && duration_us >= settings.slowlog_log_slower_than;
  if (slow && (run.command.flags & kSkipSlowlog) == 0) {
    server_.slowlog().Add({.id = 0,
                           .unix_time_s = WallMs() / 1000,
                           .duration_us = duration_us,
                           .words = SlowLog::Shorten(ShownWords(run)),
                           .peer = run.session.address,
                           .client_name = run.session.name},
                          static_cast<size_t>(std::max<int64_t>(settings.slowlog_max_len, 0)));
  }
  // Redis: a request that had to wait for the end of CLIENT PAUSE is never shown to monitors.
  if (!server_.clients().Monitors().empty() && run.pass == Pass::kFirst) FeedMonitors(run);
}

void Executor::ShowToMonitors(Session& session) {
  if (!server_.clients().Monitors().empty()) ShowRun({session, *current_, current_words_, {}, Pass::kFirst});
}

void Executor::FeedMonitors(const Run& run) {
  if ((run.command.flags & (kSkipMonitor | kAdmin)) == 0) ShowRun(run);
}

void Executor::ShowRun(const Run& run) {
  int64_t wall_us = wall_base_us_ + last_us_;
  std::string micros = std::to_string(wall_us % 1000000);
  std::string line = std::to_string(wall_us / 1000000) + "." + std::string(6 - micros.size(), '0') + micros + " [" +
                     std::to_string(run.session.db) + " " + MonitoredPeer(run.session) + "]";
  for (Bytes word : ShownWords(run)) {
    line += ' ';
    AppendQuoted(line, word);
  }
  std::vector<Session*> monitors = server_.clients().Monitors();  // who overruns its limit leaves the list
  for (Session* monitor : monitors) {
    if (monitor->reply_mode == ReplyMode::kOff || monitor->close_after_reply) continue;
    Reply(monitor->out, monitor->resp).Simple(line);
    server_.clients().QueueFlush(*monitor);
    server_.limits().CheckOutput(*monitor, last_us_ / 1000, ClientLimits::Moment::kReply);
  }
}

std::string Executor::MonitoredPeer(const Session& session) const {
  if (session.IsScript()) return "lua";
  return session.unix_socket ? "unix:" + server_.settings().unixsocket : session.address;
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
  int64_t now_ms = server_.clock().MonotonicMs();
  if (attack_logged_ms_ < 0 || now_ms - attack_logged_ms_ > kQuietMs) {
    attack_logged_ms_ = now_ms;
    // Redis: every unix socket goes by this name here.
    std::string peer = session.unix_socket ? "/unixsocket:0" : WithoutBrackets(session.address);
    server_.log().Warning(
        "Possible SECURITY ATTACK detected. It looks like somebody is sending POST or Host: commands to Redis. This is "
        "likely due to an attacker attempting to use Cross Protocol Scripting to compromise your Redis instance. "
        "Connection from " +
        peer + " aborted.");
  }
  server_.clients().Close(session);
}

}  // namespace respite
