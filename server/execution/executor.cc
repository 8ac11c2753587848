#include "server/execution/executor.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/real_clock.h"
#include "server/catalogue/command_table.h"
#include "server/catalogue/dialect.h"
#include "server/catalogue/refusals.h"
#include "server/clients/blocked_clients.h"
#include "server/clients/client_limits.h"
#include "server/clients/client_memory.h"
#include "server/clients/client_text.h"
#include "server/clients/clients.h"
#include "server/clients/current_execution.h"
#include "server/clients/migrating_keys.h"
#include "server/clients/pause.h"
#include "server/clients/role.h"
#include "server/clients/tracking.h"
#include "server/clients/watched_keys.h"
#include "server/config/settings.h"
#include "server/dataset/eviction.h"
#include "server/dataset/unit.h"
#include "server/execution/durability.h"
#include "server/execution/gates.h"
#include "server/execution/http_guard.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kUnblockedByRole[] =
    "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)";
constexpr char kUnblocked[] = "UNBLOCKED client unblocked via CLIENT UNBLOCK";
// Returns the error EXECABORT for an EXEC that was refused for `reason`.
Refusal ExecAborted(Bytes reason) {
  if (reason.starts_with("ERR ")) reason.remove_prefix(4);
  return {"EXECABORT Transaction discarded because of: " + std::string(reason)};
}
Refusal UnknownSubcommand(const Command& container, Bytes subcommand) {
  if (!container.dialect->traits.errors_name_subcommands) {
    return SubcommandSyntax(*container.dialect, container.full_name, subcommand);
  }
  return {"ERR unknown subcommand '" + std::string(ShownPart(subcommand)) + "'. Try " + ToUpper(container.full_name) +
          " HELP."};
}
// Returns the error for an unknown command. The text shows the name and the first arguments.
Refusal UnknownCommand(std::span<const Bytes> arguments, const DialectTraits& traits) {
  const std::string opening(1, traits.unknown_word_quotes[0]);
  const std::string closing(traits.unknown_word_quotes.substr(1));
  const std::string name = "ERR unknown command " + opening + std::string(ShownPart(arguments[0])) + opening;
  if (arguments.size() == 1 && !traits.unknown_command_lists_arguments) return {name};
  std::string shown;
  for (Bytes word : arguments.subspan(1)) {
    if (shown.size() >= kShownMax) break;
    shown += opening + std::string(ShownPart(word, kShownMax - shown.size())) + closing;
  }
  return {name + ", with args beginning with: " + shown};
}

}  // namespace
}  // namespace refusals

void Executor::ReadClocks() {
  ReadTime();
  current_execution_.wall_base_us = parts_.env.clock.WallUs() - current_execution_.last_us;
}

void Executor::ReadTime() {
  current_execution_.real_us = lap_.NowUs();
  current_execution_.last_us = parts_.env.clock.MonotonicUsAtRealUs(current_execution_.real_us);
}

void Executor::AdvanceUnitWallTime() {
  ReadClocks();
  unit_wall_us_ = current_execution_.wall_base_us + current_execution_.last_us;
}

const Command* Executor::Resolve(std::span<const Bytes> arguments) const {
  const Command* command = parts_.env.commands.Find(arguments[0]);
  if (command == nullptr || command->subcommands.empty() || arguments.size() < 2) return command;
  if (const Command* const sub = parts_.env.commands.FindSubcommand(*command, arguments[1])) return sub;
  const Command* const optional = parts_.env.commands.FindOptionalSubcommand(*command, arguments[1]);
  return optional != nullptr && parts_.env.settings.*optional->Spec().required_directive ? optional : nullptr;
}

// Returns whether the session's requests come from a server that has already executed them: from the primary, or from a
// cluster node that sends slots to this node.
inline bool SendsPropagatedCommands(const Session& session) {
  return session.kind == SessionKind::kPrimary || session.cluster_options.imports != nullptr;
}

// Returns the command of a propagated request, or null if such a sender (the primary, or a node that sends slots) never
// sends this command. Senders use the original names of commands, and may have any version. So the result may be a
// command that clients cannot call, because the emulated version lacks it or rename-command removed its name. Other
// commands are not returned, because a client could pretend to be a node that sends slots.
const Command* Executor::FindReplicatedCommand(const Session& session, std::span<const Bytes> arguments) const {
  const Command* const command = parts_.env.commands.FindForReplay(arguments);
  if (command == nullptr) return nullptr;
  const bool is_sent =
      session.kind == SessionKind::kPrimary ? IsAllowedInStreams(*command) : IsSentBySlotSource(*command);
  return is_sent ? command : nullptr;
}

Executor::Outcome Executor::Execute(Request& request) {
  Session& session = request.session;
  session.usage.last_command = request.command;
  // Finds a propagated command by its original name, because rename-command may have given that name to another command
  // here. Commands that the sender (a primary, or the source of a slot migration) does not propagate keep the names
  // that clients use.
  if (SendsPropagatedCommands(session) && (request.command == nullptr || parts_.env.commands.HasRenamedCommands())) {
    if (const Command* original = FindReplicatedCommand(session, request.words)) request.command = original;
  }
  try {
    if (session.kind == SessionKind::kPrimary) return ExecuteForPrimary(request);
    return request.progress.stage == Progress::Stage::kBegun ? RunToEnd(request) : ExecuteForClient(request);
  } catch (const Refusal& refusal) {
    Reject(request, refusal);
    return Outcome::kDone;
  }
}

Executor::Outcome Executor::ExecuteForPrimary(Request& request) {
  if (request.command == nullptr) throw UnknownCommand(request.words);
  request.flags = request.command->flags;
  parts_.gates.Pass(RequestPath::kPrimary, request);
  return ExecuteAccepted(request);
}

// Handles a client's request: enforces memory limits, applies a fault of TEST FAULT, and makes the checks that may
// refuse a command (gates). Then runs, queues or pauses the command. The compiler inlines all these steps into this
// function.
inline Executor::Outcome Executor::ExecuteForClient(Request& request) {
  if (request.command == nullptr) {
    if (!HttpGuard::IsHttp(request.words[0])) throw UnknownCommand(request.words);
    parts_.http_guard.Abort(request.session);
    return Outcome::kDone;
  }
  EnforceLimits(request.session);
  if (request.session.closing) return Outcome::kDone;  // evicted, or invalidations exceeded its output limit
  if (parts_.faults) [[unlikely]]
    if (const auto outcome = ApplyFault(request)) return *outcome;
  PassGates(request);
  return ExecuteAccepted(request);
}

[[gnu::always_inline]] inline Executor::Outcome Executor::ExecuteAccepted(Request& request) {
  if (IsPaused(request)) return PauseUntilUnpaused(request);
  if (MustQueue(request)) return Queue(request);
  if (MustWaitForMigration(request)) return PauseForMigration(request);
  return RunToEnd(request);
}

[[gnu::always_inline]] inline Executor::Outcome Executor::RunToEnd(Request& request) {
  Run(request);
  if (request.session.blocked_client != nullptr) return Block(request);
  if (request.continues_later || request.restarts_later) return ContinueLater(request);
  EndRequest(request);
  if (!parts_.env.phase.HasBusyScript()) parts_.blocked_clients.RunReadyRequests();  // if busy, they run later
  return Outcome::kDone;
}

// Returns how commands of this session treat expired keys.
//   kIgnoreDeadlines: expired keys are present. For requests of the primary, of a node that sends slots, and of
//                     an import source in import-mode: the sender decides which keys have expired.
//   kHide:            expired keys are absent, and only writes remove them. For other clients on a replica, in
//                     import-mode, and while commands are paused.
//   kPurge:           expired keys are absent, and removed when found. In all other cases.
inline ExpiryRule Executor::ExpiryRuleFor(const Session& session) const {
  if (SendsPropagatedCommands(session)) return ExpiryRule::kIgnoreDeadlines;
  if (parts_.role.is_replica) return ExpiryRule::kHide;
  if (!parts_.env.settings.import_mode) [[likely]]
    return parts_.pause.Rule();
  return session.import_source ? ExpiryRule::kIgnoreDeadlines : ExpiryRule::kHide;
}

[[gnu::always_inline]] inline void Executor::EnforceLimits(Session& session) {
  if (!parts_.tracking.IsEmpty()) parts_.tracking.EnforceTableLimit();
  if (parts_.client_memory.IsLimitReached()) parts_.client_memory.EvictClients(&session);
  if (parts_.env.settings.maxmemory != 0) parts_.eviction.FreeMemoryBeforeCommand();
}

[[gnu::always_inline]] inline void Executor::PassGates(Request& request) {
  request.flags = FlagsOfRequest(parts_.services, request.session, *request.command, request.words);
  if (request.session.cluster_options.imports == nullptr) [[likely]] {
    parts_.gates.Pass(request);
  } else {
    parts_.gates.Pass(RequestPath::kImport, request);
  }
}

[[gnu::always_inline]] inline bool Executor::IsPaused(const Request& request) const {
  // A session that imports slots into this node ignores kSlotMigration, the pause of writes while this node hands other
  // slots over.
  const uint8_t ignored = request.session.cluster_options.imports != nullptr ? Pause::kSlotMigration : 0;
  // Pauses no request while a slow script runs: the pause could not end before the script, and the request may be the
  // SCRIPT KILL.
  if (!parts_.pause.PausesCommand(request.flags, ignored) || parts_.env.phase.HasBusyScript()) return false;
  // As in Redis, requests of MONITOR clients are not paused. TEST is not paused either: if a test has stopped the
  // clock, the pause ends only if TEST moves the clock.
  return !request.session.monitor && request.command->Spec().protection != Protection::kTestCommands;
}

Executor::Outcome Executor::PauseUntilUnpaused(const Request& request) {
  PauseRequest(request.session, request.words, {.stage = Progress::Stage::kAgain});
  parts_.clients.AddPaused(request.session);
  return Outcome::kPaused;
}

[[gnu::always_inline]] inline bool Executor::MustQueue(const Request& request) {
  return request.session.InTransaction() && request.command->Spec().transaction == TransactionRole::kQueued;
}

Executor::Outcome Executor::Queue(const Request& request) {
  Session& session = request.session;
  const size_t reply_start = session.out.Size();
  session.transaction->Queue(*request.command, request.words);
  session.out.Append("+QUEUED\r\n");
  parts_.observers.OnQueued({session, *request.command, request.words});
  FinishReply(session, reply_start);
  ReadTime();
  return Outcome::kDone;
}

[[gnu::always_inline]] inline bool Executor::MustWaitForMigration(const Request& request) const {
  return !parts_.migrating_keys.IsEmpty() &&
         parts_.migrating_keys.MustPause(request.session, *request.command, request.flags, request.words);
}

Executor::Outcome Executor::PauseForMigration(const Request& request) {
  PauseRequest(request.session, request.words, {.stage = Progress::Stage::kAgain});
  parts_.migrating_keys.AddPaused(request.session);
  return Outcome::kPaused;
}

[[gnu::always_inline]] inline void Executor::Run(Request& request) {
  request.started_us = current_execution_.last_us - request.progress.spent_us;
  request.reply_start = request.session.out.Size();
  current_execution_.session = &request.session;
  current_execution_.words = request.words;
  current_execution_.command = request.command;
  kept_output_end_ = 0;
  LimitReply(request.session);
  RunHandler(request);
  request.session.out.SetLimit(ReplyBuffer::kNoLimit);  // messages to the client are checked when they are queued
  current_execution_.command = nullptr;
}

// Limits the reply of the next command by client-output-buffer-limit. Otherwise one command or transaction could use
// any amount of memory before its client is closed. By default ordinary clients have no hard limit, so for them the
// function returns early.
[[gnu::always_inline]] inline void Executor::LimitReply(Session& session) {
  const auto& limits = parts_.env.settings.client_output_buffer_limit;
  if (session.kind == SessionKind::kNormal && limits[kOutputNormal].hard_bytes == 0) [[likely]]
    return;
  session.out.SetLimit(parts_.limits.MaxHeldOutputBytes(session));
}

// Closes the client if its output has exceeded client-output-buffer-limit. Must be called after ApplyReplyMode, which
// removes a reply that CLIENT REPLY suppresses, because such a reply must not close the client.
[[gnu::always_inline]] inline void Executor::CloseIfReplyOverflowed(Session& session) {
  if (session.out.HasOverflowed()) [[unlikely]]
    parts_.limits.EnforceOutputLimit(session, current_execution_.NowMs());
}

Executor::Outcome Executor::Block(const Request& request) {
  SendDeferredPushes(request.session);
  const bool is_new = request.progress.stage == Progress::Stage::kNew;
  if (is_new) parts_.observers.OnWait({request.session, *request.command, request.words});
  return Outcome::kBlocked;
}

Executor::Outcome Executor::ContinueLater(const Request& request) {
  Session& session = request.session;
  if (session.fault_state != nullptr) PauseFaultyReply(session, request.reply_start);
  CloseIfReplyOverflowed(session);
  SendDeferredPushes(session);
  ReadTime();
  PauseRequest(session, request.words,
               {.stage = request.restarts_later ? Progress::Stage::kAgain : Progress::Stage::kBegun,
                .spent_us = current_execution_.last_us - request.started_us,
                .has_met_faults = true,
                .restarts = request.progress.restarts + (request.restarts_later ? 1 : 0)});
  return Outcome::kUnfinished;
}

[[gnu::always_inline]] inline void Executor::FinishReply(Session& session, size_t reply_start, size_t kept_bytes) {
  if (!session.replies.IsOn()) ApplyReplyMode(session, std::max(reply_start, kept_bytes));
  if (session.fault_state != nullptr) EndFaultyReply(session, reply_start);
}

[[gnu::always_inline]] inline void Executor::EndRequest(const Request& request) {
  Session& session = request.session;
  FinishReply(session, request.reply_start, kept_output_end_);
  CloseIfReplyOverflowed(session);
  SendDeferredPushes(session);
  if (session.kind == SessionKind::kReplica) {
    CloseReplicaThatGotReply(session, request.command, ErrorOf(request), request.reply_start);
  }
  ReadTime();
  Tell(FinishedCall{.session = session,
                    .command = *request.command,
                    .words = request.words,
                    .duration_us = current_execution_.last_us - request.started_us,
                    .ending = request.ending,
                    .stage = request.progress.stage,
                    .error = ErrorOf(request),
                    .reply_bytes = ReplyBytesSince(session, request.reply_start)});
}

void Executor::PauseRequest(Session& session, std::span<const Bytes> arguments, Progress progress) {
  session.paused_request = std::make_unique<PausedRequest>(
      PausedRequest{std::vector<std::string>(arguments.begin(), arguments.end()), progress});
}

void Executor::SendDeferredPushes(Session& session) {
  if (session.deferred_pushes.empty()) return;
  session.out.Append(std::exchange(session.deferred_pushes, {}));
  parts_.clients.QueueFlush(session);
}

// Returns the error for a blocked client whose server has become a replica. If possible, the error redirects the client
// to the primary. Otherwise the session closes after the error, because the client meant its further requests for a
// primary.
std::string Executor::RoleChangeError(Session& session) const {
  if (const auto redirection = parts_.gates.RedirectionToPrimary(session)) return redirection->text;
  session.close_after_reply = true;
  return refusals::kUnblockedByRole;
}

void Executor::ReplyToEndedWait(const BlockedClient& blocked, UnblockReason reason) {
  Session& session = *blocked.session;
  const size_t reply_start = session.out.Size();
  Reply reply(session.out, session.resp);
  if (reason == UnblockReason::kTimeout) {
    blocked.answer(reply, parts_.services, session);
  } else {
    const std::string text = reason == UnblockReason::kUnblocked ? refusals::kUnblocked : RoleChangeError(session);
    reply.Error(text);
    parts_.stats_recorder.CountError(text);
  }
  FinishReply(session, reply_start);
  const std::vector<Bytes> words(blocked.words.begin(), blocked.words.end());
  using Ending = FinishedCall::Ending;
  Tell(FinishedCall{.session = session,
                    .command = *blocked.command,
                    .words = words,
                    .ending = reason == UnblockReason::kTimeout ? Ending::kSucceeded : Ending::kFailed,
                    .stage = Progress::Stage::kAgain,
                    .reply_bytes = ReplyBytesSince(session, reply_start)});
}

[[gnu::always_inline]] inline void Executor::RunHandler(Request& request) {
  unit_wall_us_ = current_execution_.wall_base_us + current_execution_.last_us;
  const bool is_propagated = SendsPropagatedCommands(request.session);
  Unit unit(parts_.data, current_execution_.WallMs(), ExpiryRuleFor(request.session),
            is_propagated ? Unit::Origin::kReplayed : Unit::Origin::kClient);
  RunHandlerIn(unit, request);
  // Propagates each removal of an expired key by SCAN, RANDOMKEY and similar commands separately (kApart), because the
  // removals are independent. In a transaction or a script, the removals form one group, as in Redis.
  unit.Close(request.command->Is(kTouchesArbitraryKeys) ? Unit::Grouping::kApart : Unit::Grouping::kTogether);
  if (request.session.blocked_client == nullptr) request.session.wait_offset = parts_.data.history.offset;
  if (unit.ChangeCount() == 0) return;
  request.session.last_change = LastChange::kKept;
  if (unit.IsRecording()) request.session.appended_aof_bytes = parts_.durability->AppendedAofBytes();
}

// Returns the tokens of this command that requests may not use, because the emulated version lacks them. Returns null
// if all tokens are allowed: the version has all, or the command is replayed, and so was accepted before.
static const Args::HiddenTokens* HiddenTokensOf(const Command& command, const Unit& unit) {
  const Args::HiddenTokens* const hidden = command.hidden_tokens.get();
  return hidden == nullptr || unit.IsReplaying() ? nullptr : hidden;
}

void Executor::RunHandlerIn(Unit& unit, Request& request) {
  Session& session = request.session;
  const Command& command = *request.command;
  const uint64_t changes_before = unit.ChangeCount();
  const size_t reply_start = session.out.Size();
  const size_t first_argument = command.parent == nullptr ? 1 : 2;
  Call call{.services = parts_.services,
            .session = session,
            .command = command,
            .unit = unit,
            .args = Args(request.words, first_argument, HiddenTokensOf(command, unit)),
            .db = DbView(unit, session.db, !session.no_touch, request.key),
            .reply = Reply(session.out, session.resp, session.reply_form),
            .effect = Propagation(unit.IsRecording()),
            .now_ms = unit.now_ms(),
            .random = parts_.data.random,
            .blobs = request.blobs,
            .is_resumed = request.progress.stage == Progress::Stage::kBegun,
            .restarts = request.progress.restarts};
  try {
    command.card->run(call);
    if (parts_.reply_editor && !session.out.HasOverflowed()) [[unlikely]]
      parts_.reply_editor->Edit(command, request.words, session, reply_start);
    if (unit.ChangeCount() != changes_before) {
      if (parts_.role.is_replica && command.Is(kWrite) && !unit.IsReplaying()) [[unlikely]]
        parts_.data.history.has_local_writes = true;
      Record(call, request);
    }
    request.continues_later = call.continues_later;
    request.restarts_later = call.restarts_later;
    if (session.tracking != nullptr) TrackReads(request);
    if (call.failed) {
      request.ending = FinishedCall::Ending::kFailed;
      last_error_.clear();  // the error is inside the reply
    }
  } catch (const Refusal& refusal) {
    // A refused command has changed nothing. The exception is a script that fails: the changes of its commands stay.
    assert((unit.ChangeCount() == changes_before || command.Is(kNoMandatoryKeys)) && "a refused command had an effect");
    session.out.RollBack(reply_start);
    call.reply.Error(refusal.text);
    if (!refusal.is_counted) parts_.stats_recorder.CountError(refusal.text);
    last_error_ = refusal.text;
    request.ending = FinishedCall::Ending::kFailed;
  }
  if (session.tracking != nullptr) EndCachingChoice(request);
}

// Records the command for replicas and the append-only file, under the name that the command had before rename-command.
void Executor::Record(Call& call, const Request& request) {
  if (!parts_.env.commands.HasRenamedCommands()) return call.unit.Record(call.db.Index(), call.effect, request.words);
  const Command& named = call.command.parent == nullptr ? call.command : *call.command.parent;
  std::vector<Bytes> words(request.words.begin(), request.words.end());
  if (parts_.env.commands.FindRenamed(named.full_name) == &named) words[0] = named.full_name;
  call.unit.Record(call.db.Index(), call.effect, words);
}

void Executor::TrackReads(const Request& request) {
  Session& session = request.session;
  const Command& command = *request.command;
  // EVAL, FCALL and similar commands need not remember the keys that their script reads, because each command that the
  // script calls has remembered its keys.
  const bool is_script = command.Is(kNoMandatoryKeys);
  if (command.Is(kReadOnly) && !is_script) parts_.tracking.RememberReadKeys(session, command, request.words);
}

// CLIENT CACHING applies to the next command that is not a CLIENT command, or to the next transaction, as in Redis.
void Executor::EndCachingChoice(const Request& request) {
  const Session& session = request.session;
  if (session.tracking == nullptr || session.InTransaction() || request.continues_later || request.restarts_later)
    return;
  const Command* const named =
      request.command == nullptr || request.command->parent == nullptr ? request.command : request.command->parent;
  if (named == nullptr || !named->Spec().keeps_caching_choice) session.tracking->has_caching_choice = false;
}

void Executor::Tell(const RefusedCall& call) {
  parts_.stats_recorder.OnRefusal(call);
  parts_.observers.OnRefusal(call);
}

void Executor::Reject(const Request& request, const Refusal& refusal) {
  Session& session = request.session;
  // A refused EXEC ends its transaction, and its error EXECABORT gives the reason, as in Redis. A redirected EXEC gets
  // only the redirection.
  const bool ends = request.command != nullptr && request.command->Spec().transaction == TransactionRole::kExecutes;
  const Refusal told = ends && !refusal.is_redirect ? refusals::ExecAborted(refusal.text) : refusal;
  if (ends) EndTransaction(parts_.watched_keys, session);
  if (session.transaction != nullptr) session.transaction->NoteRefusedCommand();
  EndCachingChoice(request);
  const size_t reply_start = session.out.Size();
  Reply(session.out, session.resp).Error(told.text);
  FinishReply(session, reply_start);
  if (session.kind == SessionKind::kReplica) {
    CloseReplicaThatGotReply(session, request.command, told.text, reply_start);
  }
  ReadTime();  // the Pump limits the time of a pipeline, which may consist of refused requests
  Tell(RefusedCall{session, request.command, request.words, told.text});
}

void Executor::CloseReplicaThatGotReply(Session& session, const Command* command, Bytes error, size_t reply_start) {
  if (std::exchange(session.replica->output_is_stream, false) || session.out.Size() <= reply_start) return;
  Logger& log = parts_.services.env.log;
  const std::string name(command == nullptr ? Bytes("<unknown>") : Bytes(command->full_name));
  if (!error.empty()) {
    log.Warning("== CRITICAL == This master is sending an error to its replica: '" + std::string(error) +
                "' after processing the command '" + name + "'");
  }
  log.Warning("Replica generated a reply to command '" + name +
              "', disconnecting it: " + ClientText(session, current_execution_.NowMs()));
  session.out.RollBack(reply_start);
  parts_.clients.Close(session);
}

Refusal Executor::UnknownCommand(std::span<const Bytes> arguments) const {
  const Command* container = parts_.env.commands.Find(arguments[0]);
  if (container != nullptr) return refusals::UnknownSubcommand(*container, arguments[1]);
  return refusals::UnknownCommand(arguments, parts_.env.commands.dialect().traits);
}

void Executor::ApplyReplyMode(Session& session, size_t reply_start) {
  if (session.replies.EndCommand() == ReplyState::Fate::kDropped) session.out.RollBack(reply_start);
}

}  // namespace respite
