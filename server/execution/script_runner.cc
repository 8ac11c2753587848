#include "server/execution/script_runner.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/real_clock.h"
#include "base/str_cat.h"
#include "scripting/lib_support.h"
#include "server/catalogue/dialect.h"
#include "server/catalogue/refusals.h"
#include "server/clients/acl/permissions.h"
#include "server/clients/client_limits.h"
#include "server/clients/clients.h"
#include "server/clients/current_execution.h"
#include "server/clients/tracking.h"
#include "server/config/debug_switches.h"
#include "server/config/named_traits.h"
#include "server/config/settings.h"
#include "server/dataset/eviction.h"
#include "server/execution/executor.h"
#include "server/execution/gates.h"
#include "server/execution/slot_router.h"
#include "server/runtime/host.h"
#include "server/runtime/server_phase.h"
#include "server/runtime/stats.h"

namespace respite {

constexpr size_t kMaxKeptReplyBytes = 64 * 1024;

namespace refusals {
namespace {

Refusal UnknownInScript(const DialectTraits& traits) {
  return {"ERR Unknown " + std::string(traits.command_in_script_errors) + " called from script"};
}
Refusal WrongArityInScript(const DialectTraits& traits) {
  return {"ERR Wrong number of args calling " + std::string(traits.command_in_script_errors) + " from script"};
}
Refusal NotInScript(const DialectTraits& traits) {
  return {"ERR This " + std::string(traits.refused_in_scripts) + " command is not allowed from script"};
}
constexpr char kWriteInReadOnlyScript[] = "ERR Write commands are not allowed from read-only scripts.";
constexpr char kWritingScriptOnReplica[] = "READONLY Can not run script with write flag on readonly replica.";
constexpr char kReplyTooLong[] = "ERR The reply of the command is too long for a script";
constexpr char kPropagatesTooMuch[] = "OOM The script's writes and messages are too long together";
constexpr char kStaleInScript[] = "ERR Can not execute the command on a stale replica";
constexpr char kWritingScriptReadOnly[] = "ERR Can not execute a script with write flag using *_ro command.";
constexpr char kScriptOutOfMemory[] =
    "OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'";
constexpr char kScriptNotInCluster[] = "ERR Can not run script on cluster, 'no-cluster' flag is set.";
constexpr char kCrossSlotInScript[] = "ERR Script attempted to access keys that do not hash to the same slot";
constexpr char kNoScriptRuns[] = "NOTBUSY No scripts in execution right now.";
constexpr char kStreamedScript[] =
    "UNKILLABLE The busy script was sent by a master instance in the context of replication and cannot be killed.";
constexpr char kScriptHasWritten[] =
    "UNKILLABLE Sorry the script already executed write commands against the dataset. You can either wait the script "
    "termination or kill the server in a hard way using the SHUTDOWN NOSAVE command.";

}  // namespace
}  // namespace refusals

// JournalEntry::Target (who gets a propagated command) has the same bits for AOF and replicas as redis.set_repl, so no
// conversion is needed.
static_assert(int{kReplicateAof} == int{JournalEntry::kFile} &&
              int{kReplicateReplicas} == int{JournalEntry::kReplicas});

ScriptRunner::ScriptRunner(const Parts& parts) : parts_(parts), session_(parts.clients.CreateDetached()) {
  session_->reply_form = ReplyForm::kBinary;
}

ScriptRunner::~ScriptRunner() = default;

namespace {

// The longest time in µs for which a slow script serves no other clients. So a SCRIPT KILL is read soon, even if the
// last service took long, because another server on the event loop had a slow command.
constexpr int64_t kMostUsBetweenServices = 50'000;

ServerPhase::BusyScriptKind PhaseOf(ScriptRunner::Kind kind) {
  return kind == ScriptRunner::Kind::kScript ? ServerPhase::BusyScriptKind::kScript
                                             : ServerPhase::BusyScriptKind::kFunction;
}

RequestPath PathOfCommands(const Call& call) {
  const bool is_clients = !call.unit.IsReplaying() && !call.session.runs_fixture;
  return is_clients ? RequestPath::kScript : RequestPath::kReplayedScript;
}

// Returns the maximum size in bytes of the reply of a command that a script calls. A larger reply is dropped while the
// command writes it, because the script needs a copy of the reply in the memory that it may still allocate. The maximum
// is 4/5 of this memory, because jemalloc needs 20 KB for each block of 16 KB, and at least kAlwaysKept, because Lua
// may free garbage before it copies the reply.
size_t MaxReplyBytes(const ScriptEngine& engine) {
  constexpr size_t kAlwaysKept = size_t{64} << 20;
  return std::max(engine.UnusedBytes() / 5 * 4, kAlwaysKept);
}

}  // namespace

void ScriptRunner::ThrowIfScriptRuns() const {
  if (IsRunning()) throw refusals::NotInScript(DialectOf(parts_.env.settings.emulate).traits);
}

void ScriptRunner::Begin(Call& call, const Request* request, Kind kind, Bytes name) {
  const bool repeats = call.unit.IsReplaying();
  // The real time when the script begins. The Executor has just read the clock for a script that a client runs, but not
  // for a replayed script, so the clock is read here.
  const int64_t started_ms = repeats ? parts_.env.real_clock.NowMs() : parts_.current_execution.real_us / 1000;
  const bool is_over_memory = respite::Applies(Gate::kMemory, PathOfCommands(call)) && parts_.eviction.LacksMemory();
  current_.emplace(Current{.call = &call,
                           .request = request,
                           .kind = kind,
                           .name = name,
                           .path = PathOfCommands(call),
                           .started_ms = started_ms,
                           .is_over_memory = is_over_memory});
}

void ScriptRunner::End() {
  Session& client = current_->call->session;
  const bool was_late = Busy();
  current_.reset();
  FreeIfLarge(whole_reply_, kMaxKeptReplyBytes);
  if (!was_late) return;
  parts_.env.phase.EndBusyScript();
  parts_.clients.QueueUnblocked(client);
}

namespace {

// While a slow script (longer than busy-reply-threshold) lets other clients be served, another server of this thread
// may run a script inside it. That script may also become slow, and so on. So the native stack grows with each of them.
thread_local int late_scripts_of_thread = 0;  // number of late scripts that now let others be served

// Returns whether the native stack has room for a script that another server of this thread starts while slow scripts
// let it be served. At least 1 MB must be free, twice as much as such a script and what is served inside it may need.
bool HasStackForScript() {
  constexpr uintptr_t kStackOfScript = uintptr_t{1} << 20;
  return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) > StackFloor() + kStackOfScript;
}

}  // namespace

void ScriptRunner::Run(Call& call, const Request& request) {
  ThrowIfScriptRuns();
  if (late_scripts_of_thread > 0 && !HasStackForScript()) {
    throw refusals::Busy(PhaseOf(request.kind), TraitsWithProductNames(parts_.env.settings));
  }
  if (!call.unit.IsReplaying()) {
    if (parts_.gates.IsStale() && (request.flags & kScriptAllowStale) == 0) throw Refusal{refusals::kPrimaryDown};
    if ((request.flags & kScriptUndeclared) == 0) CheckDeclaredFlags(request);
  }
  session_->caller = &call.session;
  session_->db = call.session.db;
  session_->resp = RespVersion::kResp2;
  session_->no_touch = call.session.no_touch;
  session_->user = call.session.user;
  call.effect.SuppressCommandItself();  // the script's changes are propagated command by command
  bool may_change_session = parts_.env.debug.any_command_in_scripts;
  Begin(call, &request, request.kind, request.invocation.name);
  if (parts_.router) current_->slot = parts_.router->SlotOf(call.command, call.args.Words());
  std::optional<ScriptFailure> failure = request.kind == Kind::kScript
                                             ? request.engine.RunScript(request.invocation, call.reply)
                                             : request.engine.RunFunction(request.invocation, call.reply);
  call.unit.SetPropagationTargets(JournalEntry::kEverybody);
  End();
  session_->caller = nullptr;
  session_->out.Rewind();
  may_change_session = may_change_session || parts_.env.debug.any_command_in_scripts;
  if (may_change_session) [[unlikely]]
    ReplaceScriptSession();
  if (failure) throw Refusal{std::move(failure->text), failure->is_counted};
}

// Replaces the session in which the commands of scripts run, so that changes of a script to this session (such as
// SELECT) do not affect the next script.
void ScriptRunner::ReplaceScriptSession() {
  parts_.clients.Close(*session_);
  session_ = parts_.clients.CreateDetached();
  session_->reply_form = ReplyForm::kBinary;
}

// Checks the flags that a script or function declares, before the script or function runs. Throws a Refusal if the
// flags forbid to run now. For example, a script without the flag no-writes does not run on a read-only replica.
void ScriptRunner::CheckDeclaredFlags(const Request& request) const {
  if ((request.flags & kScriptNoCluster) != 0 && parts_.router) throw Refusal{refusals::kScriptNotInCluster};
  const bool writes = (request.flags & kScriptNoWrites) == 0;
  if (writes && parts_.gates.IsReadOnly()) throw Refusal{refusals::kWritingScriptOnReplica};
  auto trouble = writes ? parts_.gates.FindDiskTrouble(Gates::DiskUser::kScript) : std::nullopt;
  if (trouble) throw Refusal{std::move(*trouble)};
  if (writes && parts_.gates.LacksReplicas()) throw Refusal{refusals::kNoReplicas};
  if (writes && request.access == Access::kReadOnly) throw Refusal{refusals::kWritingScriptReadOnly};
  const bool needs_memory = writes && (request.flags & kScriptAllowOom) == 0;
  if (needs_memory && parts_.eviction.LacksMemory()) throw Refusal{refusals::kScriptOutOfMemory};
}

Bytes ScriptRunner::RunCommand(std::span<const Bytes> arguments) noexcept {
  session_->out.Rewind();
  FreeIfLarge(whole_reply_, kMaxKeptReplyBytes);
  const Command* command = parts_.executor.Resolve(arguments);
  try {
    CheckCommand(command, arguments);
  } catch (const Refusal& refusal) {
    parts_.executor.TellObserversOfNestedRefusal(*session_, command, arguments, refusal.text);
    Reply(session_->out, session_->resp, ReplyForm::kBinary).Error(refusal.text);
    return ReplyBytes();
  }
  if (command->Is(kWrite)) current_->has_written = true;
  session_->usage.last_command = command;
  session_->out.SetLimit(MaxReplyBytes(current_->request->engine));
  parts_.executor.ExecuteNested(current_->call->unit, *session_, *command, arguments);
  session_->out.SetLimit(ReplyBuffer::kNoLimit);
  if (current_->call->session.tracking != nullptr) TrackReads(*command, arguments);
  return ReplyBytes();
}

Bytes ScriptRunner::ReplyBytes() {
  if (session_->out.HasOverflowed()) {
    session_->out.Clear();
    Reply(session_->out, session_->resp, ReplyForm::kBinary).Error(refusals::kReplyTooLong);
  }
  if (session_->out.SegmentCount() == 1) {
    Bytes whole;
    session_->out.VisitFront(1, [&](Bytes piece) { whole = piece; });
    return whole;
  }
  whole_reply_ = session_->out.TakeText();
  return whole_reply_;
}

void ScriptRunner::CheckCommand(const Command* command, std::span<const Bytes> arguments) {
  const DialectTraits& traits = DialectOf(parts_.env.settings.emulate).traits;
  if (command == nullptr) {
    const bool names_subcommand = traits.scripts_name_unknown_subcommands && arguments.size() > 1 &&
                                  parts_.env.commands.Find(arguments[0]) != nullptr;
    throw names_subcommand ? parts_.executor.UnknownCommand(arguments) : refusals::UnknownInScript(traits);
  }
  const bool lacks_subcommand = command->IsContainer() && arguments.size() < 2;
  if (lacks_subcommand || !command->FitsArity(arguments.size())) throw refusals::WrongArityInScript(traits);
  CheckMayBeCalled(*command);
  parts_.gates.Pass(current_->path, {current_->call->session, command, arguments, command->flags});
  if (Applies(Gate::kPermissions)) CheckAcl(*command, arguments);
  if (Applies(Gate::kStale) && !command->Is(kStale) && parts_.gates.IsStale()) throw Refusal{refusals::kStaleInScript};
  if (command->Is(kWrite) || command->Is(kMayReplicate)) CheckWrite(*command);
  const bool may_use_memory = (current_->request->flags & kScriptAllowOom) != 0 || current_->has_written;
  if (command->Is(kDenyOom) && current_->is_over_memory && !may_use_memory) throw Refusal{refusals::kOutOfMemory};
  if (parts_.router && Applies(Gate::kOtherNode)) CheckNode(*command, arguments);
  parts_.executor.ApplyFaultInScript(current_->call->session, session_->db, *command, arguments);
}

// Refuses commands that scripts may not call (kNoScript). DEBUG SET-DISABLE-DENY-SCRIPTS allows these commands, except
// the scripting commands and TEST (TEST RESET SCRIPTS), which may remove the script that is running.
void ScriptRunner::CheckMayBeCalled(const Command& command) const {
  if (!command.Is(kNoScript)) return;
  const bool is_of_scripts = (command.categories & kAclScripting) != 0;
  const bool is_test = command.Is(kProtected) && command.Spec().protection == Protection::kTestCommands;
  if (!parts_.env.debug.any_command_in_scripts || is_of_scripts || is_test)
    throw refusals::NotInScript(DialectOf(parts_.env.settings.emulate).traits);
}

// Refuses a command whose keys are in slots of other nodes. Also refuses a command whose slot differs from the slot of
// the script's KEYS and of its earlier commands. A script that declares allow-cross-slot-keys, or declares no flags,
// may use several slots of this node.
void ScriptRunner::CheckNode(const Command& command, std::span<const Bytes> arguments) {
  Session& caller = current_->call->session;
  const std::optional<int> slot = parts_.router->CheckInScript({caller, &command, arguments, command.flags});
  const bool may_cross = (current_->request->flags & (kScriptAllowCrossSlotKeys | kScriptUndeclared)) != 0;
  if (!slot || may_cross) return;
  if (current_->slot && *current_->slot != *slot) throw Refusal{refusals::kCrossSlotInScript};
  current_->slot = slot;
}

void ScriptRunner::CheckAcl(const Command& command, std::span<const Bytes> arguments) const {
  AclRequest request(command, arguments, {session_->db, parts_.env.settings.DatabaseCount()});
  const Session& caller = current_->call->session;
  const AclVerdict verdict = parts_.permissions.Check(*session_, request, AclLogEntry::Context::kLua, caller);
  if (verdict.IsAllowed()) return;
  const DialectTraits& traits = DialectOf(parts_.env.settings.emulate).traits;
  throw Refusal{"ERR " + DenialText(*session_->user, request, verdict, DenialDetail::kInScript, traits)};
}

void ScriptRunner::CheckWrite(const Command& command) const {
  const Request& request = *current_->request;
  const bool declared = (request.flags & kScriptUndeclared) == 0;
  if (request.access == Access::kReadOnly || (declared && (request.flags & kScriptNoWrites) != 0)) {
    throw Refusal{refusals::kWriteInReadOnlyScript};
  }
  // Limits what one script may propagate: these commands are kept until the script ends, and do not count for
  // maxmemory.
  const size_t propagated_bytes = current_->call->unit.data().propagated_commands.HeldBytes();
  if (propagated_bytes > 4 * parts_.env.settings.script_memory_limit) throw Refusal{refusals::kPropagatesTooMuch};
  // After the first write of a script, the remaining checks are skipped. Later writes run even if disk errors or
  // missing replicas forbid writes by then, so that the script's changes are not left half done.
  if (current_->has_written || !command.Is(kWrite)) return;
  if (Applies(Gate::kReadOnlyReplica) && parts_.gates.IsReadOnly()) throw Refusal{refusals::kReadOnlyReplica};
  auto trouble = Applies(Gate::kDiskError) ? parts_.gates.FindDiskTrouble(Gates::DiskUser::kCommand) : std::nullopt;
  if (trouble) throw Refusal{std::move(*trouble)};
  if (Applies(Gate::kReplicas) && parts_.gates.LacksReplicas()) throw Refusal{refusals::kNoReplicas};
}

void ScriptRunner::TrackReads(const Command& command, std::span<const Bytes> arguments) {
  if (command.Is(kReadOnly)) parts_.tracking.RememberReadKeys(current_->call->session, command, arguments);
}

void ScriptRunner::SetReplication(uint8_t targets) noexcept {
  current_->replication = targets;
  current_->call->unit.SetPropagationTargets(targets);
}

std::optional<bool> ScriptRunner::MayRun(std::span<const Bytes> arguments) noexcept {
  const Command* command = parts_.executor.Resolve(arguments);
  if (command == nullptr) return std::nullopt;
  AclRequest request(*command, arguments, {session_->db, parts_.env.settings.DatabaseCount()});
  return session_->user->IsUnlimited() || session_->user->Check(request).IsAllowed();
}

void ScriptRunner::Log(LogLevel level, Bytes text) noexcept {
  if (parts_.env.log.IsLevelEnabled(level)) parts_.env.log.Log(level, text);
}

void ScriptRunner::CountError(Bytes text) noexcept {
  parts_.env.stats.CountError(text);
  current_->call->failed = true;
}

std::span<const Bytes> ScriptRunner::RunningArguments() const { return current_->call->args.Words(); }

int64_t ScriptRunner::CpuMs() const noexcept { return parts_.env.real_clock.ThreadCpuMs(); }

int64_t ScriptRunner::RunningMs() const { return parts_.env.real_clock.NowMs() - current_->started_ms; }

// Closes the client if its output exceeds client-output-buffer-limit. Returns true if the client is closed, so that no
// more of the reply is written. As in Redis, called while the reply is being written. A script that is replayed, or run
// with CLIENT REPLY OFF, sends no reply, so its output is not limited.
bool ScriptRunner::EnforceReplyLimit() noexcept {
  Session& client = current_->call->session;
  if (client.closing) return true;
  if (current_->call->unit.IsReplaying() || !client.replies.IsOn()) return false;
  return parts_.limits.EnforceOutputLimit(client, parts_.current_execution.NowMs());
}

bool ScriptRunner::PollStopRequest() noexcept {
  if (!current_) return false;  // nothing runs that a client could ask to end
  if (parts_.env.phase.HasStopped()) return true;
  const int64_t threshold_ms = parts_.env.settings.busy_reply_threshold;
  if (threshold_ms <= 0) return false;
  if (!Busy()) {
    const int64_t elapsed_ms = RunningMs();
    if (elapsed_ms < threshold_ms) return false;
    parts_.env.phase.BeginBusyScript(PhaseOf(RunningKind()), parts_.current_execution.session);
    parts_.env.log.Warning(StrCat("Slow script detected: still in execution after ", elapsed_ms,
                                  " milliseconds. You can try killing the script using the ",
                                  RunningKind() == Kind::kScript ? "SCRIPT KILL" : "FUNCTION KILL",
                                  " command. Script name is: ", RunningName(), "."));
  }
  ServeOthers();
  return current_->is_killed;
}

void ScriptRunner::ServeOthers() {
  const int64_t began_us = parts_.env.real_clock.NowUs();
  if (!parts_.env.host || began_us < current_->serves_again_us) return;
  const Executor::SavedExecution saved = parts_.executor.SaveExecution();
  ++late_scripts_of_thread;
  if (!parts_.env.host->ServeDuringLongTask()) {
    current_->is_killed = true;
    current_->call->unit.DropRecordedCommands();
  }
  --late_scripts_of_thread;
  const int64_t ended_us = parts_.env.real_clock.NowUs();
  current_->serves_again_us = ended_us + std::min(ended_us - began_us, kMostUsBetweenServices);
  parts_.executor.RestoreExecution(saved);
  parts_.executor.AdvanceUnitWallTime();
}

Refusal ScriptRunner::BusyRefusal() const {
  return refusals::Busy(PhaseOf(RunningKind()), TraitsWithProductNames(parts_.env.settings));
}

void ScriptRunner::Kill(Kind kind) {
  if (!IsRunning()) throw Refusal{refusals::kNoScriptRuns};
  // A script that comes from the primary, or from a node that sends slots, cannot be killed. A script that is replayed
  // from an append-only file can be killed, because an endless script would prevent this server from starting.
  const Session& caller = current_->call->session;
  const bool is_streamed = caller.kind == SessionKind::kPrimary || caller.cluster_options.imports != nullptr;
  if (is_streamed) throw Refusal{refusals::kStreamedScript};
  if (current_->has_written) throw Refusal{refusals::kScriptHasWritten};
  if (kind != RunningKind()) throw BusyRefusal();
  if (!current_->is_killed) parts_.env.log.Notice("Lua script killed by user with SCRIPT KILL.");
  current_->is_killed = true;
}

ScriptDialect ScriptRunner::Dialect() const noexcept {
  const respite::Dialect& dialect = DialectOf(parts_.env.settings.emulate);
  const DialectTraits& traits = dialect.traits;
  return {.redis_version = traits.redis_version,
          .redis_version_number = traits.version_number,
          .knows_redis_version = traits.scripts_know_version,
          .has_server_table = !dialect.EmulatesVersion() || traits.valkey_version_number != 0,
          .valkey_version = traits.valkey_version,
          .valkey_version_number = traits.valkey_version_number,
          .call = traits.call_in_script_errors,
          .command = traits.caller_in_argument_errors,
          .table = traits.table_in_script_errors,
          .log_level = traits.log_level_in_script_errors,
          .has_headers = traits.scripts_have_headers,
          .knows_engines = traits.knows_other_engines,
          .has_clock = traits.scripts_have_clock,
          .has_json_arrays = traits.scripts_have_json_arrays,
          .has_environments = traits.scripts_have_environments,
          .names_script_in_errors = traits.script_errors_name_script,
          .errors_begin_with_call = traits.script_errors_begin_with_call};
}

}  // namespace respite
