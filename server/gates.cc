#include "server/gates.h"

#include "server/acl/permissions.h"
#include "server/refusals.h"
#include "server/server.h"

namespace respite {

namespace {

using Gate = void (*)(const GateContext&);

void Arity(const GateContext& context) {
  if (!context.command.FitsArity(context.words.size())) throw refusals::WrongArity(context.command.full_name);
}

void ProtectedCommand(const GateContext& context) {
  if (!context.command.Is(kProtected)) return;
  const Settings& settings = context.server.settings();
  const bool module = context.command.Spec().protection == Protection::kModuleCommand;
  Permission permission = module ? settings.enable_module_command : settings.enable_debug_command;
  bool local = context.session.loopback || context.session.unix_socket;
  if (permission == Permission::kAlways || (permission == Permission::kLocalConnections && local)) return;
  throw Refusal{module ? refusals::kModuleNotAllowed : refusals::kDebugNotAllowed};
}

void Authentication(const GateContext& context) {
  if (context.session.authenticated || context.command.Is(kNoAuth)) return;
  if (context.server.users().LoginRequired()) throw Refusal{refusals::kNoAuth};  // else it was taken away meanwhile
}

void Transactions(const GateContext& context) {
  if (context.command.Is(kNoMulti) && context.session.InTransaction()) throw Refusal{refusals::kNotInTransaction};
}

void Permissions(const GateContext& context) {
  if (context.session.user->IsUnlimited()) return;
  AclRequest request(context.command, context.words);
  const auto place = context.session.InTransaction() ? AclLogEntry::Context::kMulti : AclLogEntry::Context::kTopLevel;
  const AclVerdict verdict = CheckPermission(context.server, context.session, request, place);
  if (verdict.IsAllowed()) return;
  throw Refusal{"NOPERM " + DenialText(*context.session.user, request, verdict, DenialDetail::kBrief)};
}

// What a transaction queues takes memory, too. Redis: of what is not queued only EXEC, DISCARD, QUIT and RESET pass.
void Memory(const GateContext& context) {
  if (context.server.settings().maxmemory == 0 || !context.server.eviction().LacksMemory()) return;
  const TransactionRole role = context.command.Spec().transaction;
  const bool leaves = role == TransactionRole::kLeaves || role == TransactionRole::kExecutes;
  const bool queued = context.session.InTransaction() && !leaves;
  if ((context.flags & kDenyOom) != 0 || queued) throw Refusal{refusals::kOutOfMemory};
}

// A snapshot failed, and its owner would rather hear of it than go on. Redis: PING tells, too.
void DiskError(const GateContext& context) {
  const auto trouble = DiskTrouble(context.server, DiskUser::kCommand);
  if (!trouble) return;
  if ((context.flags & kWrite) != 0 || context.command.Spec().reports_disk_trouble) throw Refusal{*trouble};
}

// Under RESP2 replies and messages look alike: a client that waits for messages gets no other replies.
void SubscribedMode(const GateContext& context) {
  if (!InSubscribedMode(context.session)) return;
  const Command& command = context.command;
  if (command.Is(kPubSub) && command.Is(kNoScript)) return;  // SUBSCRIBE and its kin
  if (command.Spec().runs_when_subscribed) return;
  throw refusals::InSubscribedMode(command.full_name);
}

void Replicas(const GateContext& context) {
  if ((context.flags & kWrite) != 0 && LacksReplicas(context.server)) throw Refusal{refusals::kNoReplicas};
}

bool RunsWhileLoading(const GateContext& context) {
  if (!context.command.Is(kLoading)) return false;
  bool runs = true;
  if (context.command.Spec().transaction == TransactionRole::kExecutes && context.session.InTransaction()) {
    context.session.transaction->ForEach([&](const Command& queued, auto) { runs = runs && queued.Is(kLoading); });
  }
  return runs;
}

void StillLoading(const GateContext& context) {
  if (context.server.loading().Active() && !RunsWhileLoading(context)) throw Refusal{refusals::kIsLoading};
}

// A script has been running for long: others may do little but end it.
void BusyScript(const GateContext& context) {
  if (!context.server.scripts().Busy() || context.command.Is(kAllowBusy)) return;
  throw context.server.scripts().BusyRefusal();
}

// Redis: a monitor counts as a replica here, and is told so.
void MonitorWithoutKeys(const GateContext& context) {
  if (!context.session.monitor || (context.flags & (kWrite | kReadOnly | kMayReplicate)) == 0) return;
  throw Refusal{refusals::kReplicaWithoutKeys};
}

// One call each, inlined in this order.
template <Gate... kGates>
void PassAll(const GateContext& context) {
  (kGates(context), ...);
}

}  // namespace

std::optional<Refusal> DiskTrouble(const Server& server, DiskUser user) {
  const bool is_script = user == DiskUser::kScript;
  if (server.snapshots().StopsWrites()) {
    return Refusal{is_script ? refusals::kSnapshotFailedForScripts : refusals::kSnapshotFailed};
  }
  const auto trouble = server.aof().writer().Trouble();
  if (!trouble) return std::nullopt;
  return is_script ? refusals::AofFailedForScripts(IoErrorText(*trouble)) : refusals::AofFailed(IoErrorText(*trouble));
}

bool LacksReplicas(const Server& server) {
  const Settings& settings = server.settings();
  return settings.min_replicas_to_write != 0 && settings.min_replicas_max_lag != 0;
}

void PassGates(const GateContext& context) {
  PassAll<Arity, ProtectedCommand, Authentication, Transactions, Permissions, Memory, DiskError, Replicas,
          SubscribedMode, StillLoading, BusyScript, MonitorWithoutKeys>(context);
}

}  // namespace respite
