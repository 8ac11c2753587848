// Gates: the checks (gates) that may refuse a command before it runs, in Redis' order. gate_rules.h says which gates
// apply to requests from clients, from the primary, from files and from scripts. EXEC and ScriptRunner make some checks
// themselves.
#pragma once

#include <optional>
#include <span>

#include "base/late_bound.h"
#include "base/refusal.h"
#include "server/catalogue/command_table.h"
#include "server/clients/role.h"
#include "server/clients/session.h"
#include "server/execution/gate_rules.h"
#include "server/execution/slot_router.h"
#include "server/runtime/env.h"

namespace respite {

struct DialectTraits;

// Errors of the gates, which scripts and TEST FAULT also use.
namespace refusals {

inline constexpr char kReadOnlyReplica[] = "READONLY You can't write against a read only replica.";
inline constexpr char kPrimaryDown[] =
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";
inline constexpr char kOutOfMemory[] = "OOM command not allowed when used memory > 'maxmemory'.";
// Returns the error BUSY, which other clients get while a script exceeds busy-reply-threshold. Requires: `kind` is not
// kNone.
Refusal Busy(ServerPhase::BusyScriptKind kind, const DialectTraits& traits);
Refusal SnapshotFailed(const DialectTraits& traits);  // the error MISCONF of writes after a failed snapshot
inline constexpr char kNoReplicas[] = "NOREPLICAS Not enough good replicas to write.";

}  // namespace refusals

class Durability;
class Eviction;
class Permissions;
class ServerPhase;
struct Services;
class Users;

// Returns the flags of the command, or of this request if the command has the hook `flags_of`: EXEC also has the flags
// of the queued commands, and EVAL, EVALSHA and FCALL those that the script or function declares.
inline uint32_t FlagsOfRequest(const Services& services, const Session& session,  // CommandFlag bits of a request
                               const Command& command, std::span<const Bytes> arguments) {
  const FlagsHook hook = command.Spec().flags_of;
  return hook == nullptr ? command.flags : hook(services, session, arguments, command.flags);
}

// Returns whether a replication stream, an append-only file or a fixture may contain the command.
// CommandSpec::in_streams decides, if it is set. Otherwise protected commands (DEBUG, TEST …) are not allowed. Commands
// that change data, send messages, or begin or execute a transaction are allowed, and so are all commands for scripts
// and functions that lack the flag kAllowBusy (which SCRIPT KILL has). Other commands are allowed if scripts may call
// them and they lack the flag kAdmin.
bool IsAllowedInStreams(const Command& command);  // whether the AOF, replication or a fixture may contain the command
// Returns whether a node that sends slots to this one may send the command: commands that change keys which they name,
// and those with CommandSpec::sent_by_slot_source, such as SELECT. Scripts are sent as the commands that they have run.
bool IsSentBySlotSource(const Command& command);  // true: a node that sends slots may send this command

class Gates {  // the checks that may refuse a command before it runs
 public:
  struct Parts {  // the objects that Gates uses; its constructor gets them
    const Env& env;
    const Eviction& eviction;                       // knows whether memory is exhausted (maxmemory)
    const Users& users;                             // all ACL users
    Permissions& permissions;                       // ACL checks
    const LateBound<const Durability>& durability;  // says whether disk errors forbid writes
    const Role& role;
    const LateBound<const SlotRouter>& router;  // decides which cluster node serves a request; unset: no cluster
  };
  explicit Gates(const Parts& parts) : parts_(parts) {}

  // Checks all gates of a client's request, and throws the first refusal. Cost: a few comparisons if no gate refuses.
  void Pass(const Request& request) const;  // throws the first refusal, for a client's request
  // Checks the gates that gate_rules.h lists for `path`, and throws the first refusal.
  void Pass(RequestPath path, const Request& request) const;  // throws the first refusal

  enum class DiskUser : uint8_t { kCommand, kScript };  // what wants to write: a command, or a script
  // Returns the error MISCONF for a write command or a writing script while a failed snapshot or a failed write to the
  // AOF forbids writes. Otherwise returns nullopt. Cost: one or two comparisons.
  std::optional<Refusal> FindDiskTrouble(DiskUser user) const;  // error MISCONF; nullopt: no disk error forbids writes
  bool LacksReplicas() const;  // true: a primary with too few good replicas (min-replicas-to-write)
  bool IsReadOnly() const { return parts_.role.IsReadOnly(parts_.env.settings); }  // replica that refuses client writes
  // Returns the error REDIRECT, which sends a client of this replica to the primary. Returns nullopt if the client does
  // not follow redirections (CLIENT CAPA redirect), or if this server is no replica. Returns nullopt also in a cluster,
  // where nodes redirect by slot.
  std::optional<Refusal> RedirectionToPrimary(const Session& session) const;  // error REDIRECT; nullopt: none is needed
  // Returns true on a replica that has no link to its primary, while replica-serve-stale-data is `no`.
  bool IsStale() const { return parts_.role.IsStale(parts_.env.settings); }  // true: replica, may not serve old data

 private:
  using GateMember = void (Gates::*)(const Request& request) const;
  template <RequestPath kPath, Gate kGate, GateMember kMember>
  void CheckGate(const Request& request) const;  // calls kMember if gate_rules.h says that kPath checks kGate here
  template <RequestPath kPath>
  void PassOn(const Request& request) const;                 // makes the checks for requests of kPath, in order
  void CheckContent(const Request& request) const;           // throws if an AOF or a stream may not contain the command
  void CheckArity(const Request& request) const;             // throws if the number of arguments does not fit
  void CheckArityInStream(const Request& request) const;     // like CheckArity; the newest version's arity is also fine
  void CheckProtectedCommand(const Request& request) const;  // throws unless enable-debug-command or the like allows it
  void CheckAuthentication(const Request& request) const;    // throws NOAUTH if the client must log in first
  void CheckTransactions(const Request& request) const;      // throws if the command is not allowed after MULTI
  void CheckUserPermissions(const Request& request) const;   // throws if ACL rules forbid the command
  void CheckOtherNode(const Request& request) const;         // in a cluster: throws unless this node serves the keys
  void CheckOtherServer(const Request& request) const;  // throws REDIRECT for a replica's client with CAPA redirect
  void CheckMemory(const Request& request) const;       // above maxmemory: OOM for kDenyOom, or if MULTI would queue it
  void CheckDiskError(const Request& request) const;    // for writes and PING: throws while disk errors forbid writes
  void CheckReplicas(const Request& request) const;     // for writes: throws if a primary lacks min-replicas-to-write
  void CheckReadOnlyReplica(const Request& request) const;    // throws for writes to a read-only replica
  void CheckStaleReplica(const Request& request) const;       // throws for most commands if a replica's data is stale
  void CheckSubscribedMode(const Request& request) const;     // throws for most commands of a RESP2 subscriber
  void CheckLoading(const Request& request) const;            // throws for most commands while data is loaded
  void CheckBusyScript(const Request& request) const;         // throws for most commands while a slow script runs
  void CheckFollowerKeyAccess(const Request& request) const;  // throws if a replica or MONITOR client accesses keys

  const DialectTraits& Traits() const;           // properties of the emulated version
  DialectTraits TraitsWithProductNames() const;  // like Traits; extended-redis-compatibility: Valkey is named Redis

  const Parts parts_;  // the objects that the constructor got
};

}  // namespace respite
