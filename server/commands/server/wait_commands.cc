// WAIT and WAITAOF: wait until the writes of this client have reached replicas, or disks.
#include "server/catalogue/refusals.h"
#include "server/clients/client_subsystem.h"
#include "server/commands/common_arguments.h"
#include "server/commands/families.h"
#include "server/execution/call.h"
#include "server/execution/services.h"
#include "server/replication/replication.h"
#include "server/storage/append_only_file.h"
#include "server/storage/storage_subsystem.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kWaitOfReplica[] =
    "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is configured "
    "to be writable (which is not the default) writes to replicas are just local and are not propagated.";
constexpr char kWaitAofOfReplica[] =
    "ERR WAITAOF cannot be used with replica instances. Please also note that writes to replicas are just local and "
    "are not propagated.";
constexpr char kWaitAofDisabled[] = "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.";

}  // namespace
}  // namespace refusals

namespace {

// Returns true if this server has lost the client's latest change, because it loaded the data of another primary since
// then. WAIT and WAITAOF then count no server for this change, whatever the offsets say.
bool HasLostItsChange(const Session& session) { return session.last_change == LastChange::kLost; }

int64_t CountReplicas(const Services& services, const Session& session) {
  if (HasLostItsChange(session)) return 0;
  return services.replication.replicas().AckedReplicaCount(session.wait_offset);
}
void ReplyAckCount(Reply& reply, const Services& services, const Session& session) {
  reply.Integer(CountReplicas(services, session));
}

// Returns whether the writes of this client are on this server's disk (WAITAOF). They are not if this server has lost
// them (HasLostItsChange). Writes are not durable while the first base file of the append-only file is written, and
// never without an append-only file.
bool IsOnDisk(const Services& services, const Session& session) {
  return !HasLostItsChange(session) && services.storage.aof.state() == AppendOnlyFile::State::kOn &&
         services.storage.aof.writer().SyncedBytes() >= session.appended_aof_bytes;
}
int64_t CountDisks(const Services& services, const Session& session) {
  if (HasLostItsChange(session)) return 0;
  return services.replication.replicas().SyncedReplicaCount(session.wait_offset);
}
void ReplyOnDisk(Reply& reply, const Services& services, const Session& session) {
  reply.Array(2);
  reply.Integer(IsOnDisk(services, session) ? 1 : 0);
  reply.Integer(CountDisks(services, session));
}

// Asks the replicas for their offsets, unless the command will not wait for the answers: in a transaction or a script.
void RequestAcks(const Call& call) {
  if (!call.services.clients.current_execution.MayBlock()) return;
  call.services.replication.replicas().RequestAcks(call.session.wait_offset);
}

struct WaitForReplicas {
  static constexpr CommandSpec spec = {.syntax = "WAIT numreplicas:integer timeout:integer",
                                       .summary = "Waits until replicas have received the writes of this client.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kGeneric,
                                       .categories = kAclConnection,
                                       .tips = "request_policy:all_shards response_policy:agg_min"};
  static void Run(Call& call) {
    const int64_t replicas = call.args.NextInteger();
    const int64_t timeout_ms = ParseTimeoutMs(call, call.args.Next());
    if (call.services.replication.role().is_replica) throw Refusal{refusals::kWaitOfReplica};
    if (CountReplicas(call.services, call.session) >= replicas) {
      return ReplyAckCount(call.reply, call.services, call.session);
    }
    RequestAcks(call);
    call.Wait({.timeout_ms = timeout_ms, .answer = ReplyAckCount, .waits_for_acks_or_disk = true});
  }
};

struct WaitAof {
  static constexpr CommandSpec spec = {
      .syntax = "WAITAOF numlocal:integer numreplicas:integer timeout:integer",
      .summary = "Waits until the writes of this client are on disk, here and on replicas.",
      .since = "7.2.0",
      .complexity = "O(1)",
      .group = CommandGroup::kGeneric,
      .flags = kNoScript,
      .categories = kAclConnection,
      .tips = "request_policy:all_shards response_policy:agg_min"};
  static void Run(Call& call) {
    const int64_t local = call.args.NextInteger();
    if (local < 0 || local > 1) throw Refusal{refusals::kNotZeroOrOne};
    const int64_t replicas = call.args.NextInteger(refusals::kMustBePositive);
    if (replicas < 0) throw Refusal{refusals::kMustBePositive};
    const int64_t timeout_ms = ParseTimeoutMs(call, call.args.Next());
    if (call.services.replication.role().is_replica) throw Refusal{refusals::kWaitAofOfReplica};
    if (local != 0 && !call.services.storage.aof.IsOn()) throw Refusal{refusals::kWaitAofDisabled};
    const bool is_enough =
        CountDisks(call.services, call.session) >= replicas && (local == 0 || IsOnDisk(call.services, call.session));
    if (is_enough) return ReplyOnDisk(call.reply, call.services, call.session);
    if (replicas > 0) RequestAcks(call);
    call.Wait({.timeout_ms = timeout_ms, .answer = ReplyOnDisk, .waits_for_acks_or_disk = true});
  }
};

constexpr auto kWaitCommands = Family<WaitForReplicas, WaitAof>();

}  // namespace

std::span<const CommandCard> WaitCommands() { return kWaitCommands; }

}  // namespace respite
