#include "server/execution/gates.h"

#include "base/str_cat.h"
#include "server/catalogue/dialect.h"
#include "server/catalogue/key_finder.h"
#include "server/catalogue/refusals.h"
#include "server/clients/acl/permissions.h"
#include "server/clients/acl/users.h"
#include "server/config/named_traits.h"
#include "server/config/settings.h"
#include "server/dataset/eviction.h"
#include "server/execution/durability.h"
#include "server/runtime/server_phase.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kNotOfStreams[] =
    "ERR This command is not allowed in a replication stream, an append-only file or a fixture";
constexpr char kReplicaWithoutKeys[] = "ERR Replica can't interact with the keyspace";
constexpr char kNotInTransaction[] = "ERR Command not allowed inside a transaction";
constexpr char kDebugNotAllowed[] =
    "ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", you can run it from a "
    "local connection, otherwise you need to set this option in the configuration file, and then restart the server.";
constexpr char kModuleNotAllowed[] =
    "ERR MODULE command not allowed. If the enable-module-command option is set to \"local\", you can run it from a "
    "local connection, otherwise you need to set this option in the configuration file, and then restart the server.";
constexpr char kTestCommandsOff[] =
    "ERR TEST commands are off. Start the server with --test, or with --test-commands local";
Refusal SnapshotFailedForScripts(const DialectTraits& traits) {
  return {"MISCONF " + std::string(traits.title) +
          " is configured to save RDB snapshots, but it's currently unable to persist to disk. Writable scripts are "
          "blocked. Use 'no-writes' flag for read only scripts."};
}
Refusal AofFailed(Bytes why) { return {"MISCONF Errors writing to the AOF file: " + std::string(why)}; }
Refusal AofFailedForScripts(Bytes why, const DialectTraits& traits) {
  return {"MISCONF " + std::string(traits.title) +
          " is configured to persist data to AOF, but it's currently unable to persist to disk. Writable scripts are "
          "blocked. Use 'no-writes' flag for read only scripts. AOF error: " +
          std::string(why)};
}
Refusal InSubscribedMode(Bytes command, const DialectTraits& traits) {
  return {"ERR Can't execute '" + std::string(command) + "': only " + std::string(traits.commands_for_subscribers) +
          " / PING / QUIT / RESET are allowed in this context"};
}

}  // namespace

Refusal Busy(ServerPhase::BusyScriptKind kind, const DialectTraits& traits) {
  const char* const killer = kind == ServerPhase::BusyScriptKind::kFunction ? "FUNCTION KILL" : "SCRIPT KILL";
  return {"BUSY " + std::string(traits.title) + " is busy running a script. You can only call " + killer +
          " or SHUTDOWN NOSAVE."};
}
Refusal SnapshotFailed(const DialectTraits& traits) {
  const std::string title(traits.title);
  return {"MISCONF " + title +
          " is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands that may "
          "modify the data set are disabled, because this instance is configured to report errors during writes if RDB "
          "snapshotting fails (stop-writes-on-bgsave-error option). Please check the " +
          title + " logs for details about the RDB error."};
}

}  // namespace refusals

namespace {

// Returns whether the request has this flag, and so passes a gate. An EXEC must have the flag itself, and so must all
// its queued commands.
bool AllHave(const Request& request, CommandFlag flag) {
  if ((request.flags & flag) == 0) return false;
  bool all = true;
  if (request.command->Spec().transaction == TransactionRole::kExecutes && request.session.InTransaction()) {
    request.session.transaction->ForEach([&](const Command& queued, auto) { all = all && queued.Is(flag); });
  }
  return all;
}

// How a protected command is guarded: the directive that may allow the command, and the error if the directive does
// not.
struct Guard {
  Permission Settings::*permission;
  const char* refusal;
};

Guard GuardOf(Protection protection) {
  switch (protection) {
    case Protection::kModuleCommand:
      return {&Settings::enable_module_command, refusals::kModuleNotAllowed};
    case Protection::kTestCommands:
      return {&Settings::test_commands, refusals::kTestCommandsOff};
    case Protection::kDebugCommand:
      break;
  }
  return {&Settings::enable_debug_command, refusals::kDebugNotAllowed};
}

}  // namespace

bool IsAllowedInStreams(const Command& command) {
  const InStreams given = command.Spec().in_streams;
  if (given != InStreams::kByFlags) return given == InStreams::kYes;
  if (command.Is(kProtected)) return false;
  const bool has_effect = command.Is(kWrite) || command.Is(kMayReplicate);
  const TransactionRole role = command.Spec().transaction;
  const bool groups = role == TransactionRole::kBegins || role == TransactionRole::kExecutes;
  // Allows commands for scripts, such as SCRIPT LOAD and SCRIPT FLUSH, although they write no keys: the append-only
  // files of Redis before version 7 contain them.
  const bool is_for_scripts = (command.categories & kAclScripting) != 0 && !command.Is(kAllowBusy);
  return has_effect || groups || is_for_scripts || (!command.Is(kNoScript) && !command.Is(kAdmin));
}

bool IsSentBySlotSource(const Command& command) {
  if (!IsAllowedInStreams(command)) return false;
  const bool changes_data = command.Is(kWrite) || command.Is(kMayReplicate);
  const bool changes_named_keys = changes_data && MayHaveKeys(command.Spec()) && !command.Is(kNoMandatoryKeys);
  return changes_named_keys || command.Spec().sent_by_slot_source;
}

[[gnu::always_inline]] inline void Gates::CheckContent(const Request& request) const {
  if (!IsAllowedInStreams(*request.command)) throw Refusal{refusals::kNotOfStreams};
}

[[gnu::always_inline]] inline void Gates::CheckArity(const Request& request) const {
  if (!request.command->FitsArity(request.words.size())) throw refusals::WrongArity(*request.command, request.words);
}

[[gnu::always_inline]] inline void Gates::CheckArityInStream(const Request& request) const {
  if (!request.command->FitsEmulatedOrNewestArity(request.words.size()))
    throw refusals::WrongArity(*request.command, request.words);
}

[[gnu::always_inline]] inline void Gates::CheckProtectedCommand(const Request& request) const {
  if (!request.command->Is(kProtected)) return;
  const auto guard = GuardOf(request.command->Spec().protection);
  const Permission permission = parts_.env.settings.*guard.permission;
  const bool is_local = request.session.addresses.IsLocal();
  if (permission == Permission::kAlways || (permission == Permission::kLocalConnections && is_local)) return;
  throw Refusal{guard.refusal};
}

[[gnu::always_inline]] inline void Gates::CheckAuthentication(const Request& request) const {
  if (request.session.authenticated || request.command->Is(kNoAuth)) return;
  if (parts_.users.IsLoginRequired()) throw Refusal{refusals::kNotAuthenticated};  // else no login is needed any more
}

[[gnu::always_inline]] inline void Gates::CheckTransactions(const Request& request) const {
  if (!request.command->Is(kNoMulti) || !request.session.InTransaction()) return;
  if (!Traits().transaction_errors_name_command) throw Refusal{refusals::kNotInTransaction};
  throw Refusal{"ERR Command '" + request.command->full_name + "' not allowed inside a transaction"};
}

[[gnu::always_inline]] inline void Gates::CheckUserPermissions(const Request& request) const {
  if (request.session.user->IsUnlimited()) return;
  AclRequest wanted(*request.command, request.words, {request.session.db, parts_.env.settings.DatabaseCount()});
  const auto place = request.session.InTransaction() ? AclLogEntry::Context::kMulti : AclLogEntry::Context::kTopLevel;
  const AclVerdict verdict = parts_.permissions.Check(request.session, wanted, place);
  if (verdict.IsAllowed()) return;
  const DialectTraits& traits = Traits();
  throw Refusal{"NOPERM " + DenialText(*request.session.user, wanted, verdict, DenialDetail::kBrief, traits)};
}

[[gnu::always_inline]] inline void Gates::CheckOtherNode(const Request& request) const {
  if (parts_.router) parts_.router->Check(request);
}

// Redirects a client of a replica to the primary, if the client follows redirections and the command accesses keys. As
// in Valkey, reads after READONLY are not redirected.
[[gnu::always_inline]] inline void Gates::CheckOtherServer(const Request& request) const {
  if (!parts_.role.is_replica || !request.session.identity.follows_redirects) return;
  const uint32_t sent_on = request.session.cluster_options.reads_from_replica ? kWrite : kWrite | kReadOnly;
  if ((request.flags & sent_on) == 0) return;
  if (auto redirection = RedirectionToPrimary(request.session)) throw Refusal{std::move(*redirection)};
}

// Refuses requests with the flag kDenyOom (they may need memory) while maxmemory is exceeded. After MULTI, also refuses
// commands without this flag, as Redis does, because queueing a command needs memory. Exceptions are EXEC, DISCARD,
// QUIT and RESET.
[[gnu::always_inline]] inline void Gates::CheckMemory(const Request& request) const {
  if (parts_.env.settings.maxmemory == 0 || !parts_.eviction.LacksMemory()) return;
  const TransactionRole role = request.command->Spec().transaction;
  const bool leaves = role == TransactionRole::kLeaves || role == TransactionRole::kExecutes;
  const bool queued = request.session.InTransaction() && !leaves;
  if ((request.flags & kDenyOom) != 0 || queued) throw Refusal{refusals::kOutOfMemory};
}

// Refuses writes after a failed snapshot (stop-writes-on-bgsave-error) or a failed write to the AOF. As in Redis, PING
// is also refused.
[[gnu::always_inline]] inline void Gates::CheckDiskError(const Request& request) const {
  if ((request.flags & kWrite) == 0 && !request.command->Spec().reports_disk_trouble) return;
  if (auto trouble = FindDiskTrouble(DiskUser::kCommand)) throw Refusal{std::move(*trouble)};
}

// Refuses most commands of a subscribed RESP2 client. In RESP2, replies and messages look alike, so the client could
// not tell other replies from messages.
[[gnu::always_inline]] inline void Gates::CheckSubscribedMode(const Request& request) const {
  if (!InSubscribedMode(request.session)) return;
  const Command& command = *request.command;
  if (command.Is(kPubSub) && command.Is(kNoScript)) return;  // SUBSCRIBE and similar commands
  if (command.Spec().runs_when_subscribed) return;
  const DialectTraits& traits = Traits();
  const bool is_part = command.parent != nullptr && !traits.errors_name_subcommands;
  throw refusals::InSubscribedMode(is_part ? command.parent->full_name : command.full_name, traits);
}

[[gnu::always_inline]] inline void Gates::CheckReplicas(const Request& request) const {
  if ((request.flags & kWrite) != 0 && LacksReplicas()) throw Refusal{refusals::kNoReplicas};
}

[[gnu::always_inline]] inline void Gates::CheckReadOnlyReplica(const Request& request) const {
  if ((request.flags & kWrite) != 0 && IsReadOnly()) throw Refusal{refusals::kReadOnlyReplica};
}

[[gnu::always_inline]] inline void Gates::CheckStaleReplica(const Request& request) const {
  if (IsStale() && !AllHave(request, kStale)) throw Refusal{refusals::kPrimaryDown};
}

[[gnu::always_inline]] inline void Gates::CheckLoading(const Request& request) const {
  const bool is_refused = parts_.env.phase.IsLoading() ? !AllHave(request, kLoading)
                                                       : parts_.env.phase.load() == ServerPhase::Load::kAsync &&
                                                             (request.flags & kNoAsyncLoading) != 0;
  if (!is_refused) return;
  if (parts_.env.phase.HasBusyScript() && request.command->Is(kAllowBusy))
    return;  // the command may kill a slow script of the file
  throw refusals::LoadingDataset(TraitsWithProductNames());
}

// Refuses requests while a slow script runs, except commands that may end the script and others with kAllowBusy.
[[gnu::always_inline]] inline void Gates::CheckBusyScript(const Request& request) const {
  if (!parts_.env.phase.HasBusyScript() || request.command->Is(kAllowBusy)) return;
  throw refusals::Busy(parts_.env.phase.busy_script(), TraitsWithProductNames());
}

// Refuses commands that access keys, or that are propagated (PUBLISH), on the connection of a replica or of a client in
// MONITOR mode. As in Redis, the error text speaks of a replica even in MONITOR mode.
[[gnu::always_inline]] inline void Gates::CheckFollowerKeyAccess(const Request& request) const {
  const bool follows = request.session.monitor || request.session.kind == SessionKind::kReplica;
  if (!follows || (request.flags & (kWrite | kReadOnly | kMayReplicate)) == 0) return;
  throw Refusal{refusals::kReplicaWithoutKeys};
}

const DialectTraits& Gates::Traits() const { return DialectOf(parts_.env.settings.emulate).traits; }

DialectTraits Gates::TraitsWithProductNames() const { return respite::TraitsWithProductNames(parts_.env.settings); }

std::optional<Refusal> Gates::FindDiskTrouble(DiskUser user) const {
  const auto trouble = parts_.durability->FindPersistenceTrouble();
  if (!trouble) return std::nullopt;
  const bool is_script = user == DiskUser::kScript;
  if (trouble->place == Durability::Trouble::Place::kSnapshot) {
    return is_script ? refusals::SnapshotFailedForScripts(TraitsWithProductNames())
                     : refusals::SnapshotFailed(TraitsWithProductNames());
  }
  const std::string reason = trouble->place == Durability::Trouble::Place::kJournalOff
                                 ? "it could not be turned on again after a synchronization"
                                 : IoErrorText(trouble->error);
  return is_script ? refusals::AofFailedForScripts(reason, TraitsWithProductNames()) : refusals::AofFailed(reason);
}

std::optional<Refusal> Gates::RedirectionToPrimary(const Session& session) const {
  const auto& primary = parts_.env.settings.replicaof;
  if (!session.identity.follows_redirects || !primary || parts_.router) return std::nullopt;
  return Refusal{.text = StrCat("REDIRECT ", primary->host, ":", primary->port), .is_redirect = true};
}

bool Gates::LacksReplicas() const {
  const Settings& settings = parts_.env.settings;
  return settings.min_replicas_to_write != 0 && settings.min_replicas_max_lag != 0 && !parts_.role.is_replica &&
         parts_.role.good_replicas < settings.min_replicas_to_write;
}

template <RequestPath kPath, Gate kGate, Gates::GateMember kMember>
[[gnu::always_inline]] inline void Gates::CheckGate(const Request& request) const {
  if constexpr (RuleOf(kGate, kPath).answer == GateRule::Answer::kHere) (this->*kMember)(request);
}

// Checks, in order, the gates that apply on kPath. The compiler inlines all checks.
template <RequestPath kPath>
inline void Gates::PassOn(const Request& request) const {
  constexpr bool kIsReplayed =
      kPath == RequestPath::kFile || kPath == RequestPath::kPrimary || kPath == RequestPath::kImport;
  CheckGate<kPath, Gate::kArity, kIsReplayed ? &Gates::CheckArityInStream : &Gates::CheckArity>(request);
  CheckGate<kPath, Gate::kProtected, &Gates::CheckProtectedCommand>(request);
  CheckGate<kPath, Gate::kContent, &Gates::CheckContent>(request);
  CheckGate<kPath, Gate::kAuthentication, &Gates::CheckAuthentication>(request);
  CheckGate<kPath, Gate::kTransactions, &Gates::CheckTransactions>(request);
  CheckGate<kPath, Gate::kPermissions, &Gates::CheckUserPermissions>(request);
  CheckGate<kPath, Gate::kOtherNode, &Gates::CheckOtherNode>(request);
  CheckGate<kPath, Gate::kOtherServer, &Gates::CheckOtherServer>(request);
  CheckGate<kPath, Gate::kMemory, &Gates::CheckMemory>(request);
  CheckGate<kPath, Gate::kDiskError, &Gates::CheckDiskError>(request);
  CheckGate<kPath, Gate::kReplicas, &Gates::CheckReplicas>(request);
  CheckGate<kPath, Gate::kReadOnlyReplica, &Gates::CheckReadOnlyReplica>(request);
  CheckGate<kPath, Gate::kSubscribedMode, &Gates::CheckSubscribedMode>(request);
  CheckGate<kPath, Gate::kStale, &Gates::CheckStaleReplica>(request);
  CheckGate<kPath, Gate::kLoading, &Gates::CheckLoading>(request);
  CheckGate<kPath, Gate::kBusyScript, &Gates::CheckBusyScript>(request);
  CheckGate<kPath, Gate::kFollower, &Gates::CheckFollowerKeyAccess>(request);
}

void Gates::Pass(const Request& request) const { PassOn<RequestPath::kClient>(request); }

void Gates::Pass(RequestPath path, const Request& request) const {
  switch (path) {
    case RequestPath::kClient:
      return PassOn<RequestPath::kClient>(request);
    case RequestPath::kImport:
      return PassOn<RequestPath::kImport>(request);
    case RequestPath::kPrimary:
      return PassOn<RequestPath::kPrimary>(request);
    case RequestPath::kFile:
      return PassOn<RequestPath::kFile>(request);
    case RequestPath::kFixture:
      return PassOn<RequestPath::kFixture>(request);
    case RequestPath::kQueued:
      return PassOn<RequestPath::kQueued>(request);
    case RequestPath::kScript:
      return PassOn<RequestPath::kScript>(request);
    case RequestPath::kReplayedScript:
      return PassOn<RequestPath::kReplayedScript>(request);
  }
}

}  // namespace respite
