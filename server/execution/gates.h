// Gates: every reason to refuse a command before it runs, in Redis' order. gate_rules.h says which gates apply to
// requests that do not come from a client.
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
// Returns the error that other clients get while a script exceeds busy-reply-threshold. Requires: `kind` is not kNone.
Refusal Busy(ServerPhase::BusyScriptKind kind, const DialectTraits& traits);
Refusal SnapshotFailed(const DialectTraits& traits);  // the error of writes after a failed snapshot
inline constexpr char kNoReplicas[] = "NOREPLICAS Not enough good replicas to write.";

}  // namespace refusals

class Durability;
class Eviction;
class Permissions;
class ServerPhase;
struct Services;
class Users;

// Returns the CommandFlag bits of the request: those of its command, unless its card computes them (flags_of).
inline uint32_t EffectiveFlags(const Services& services, const Session& session,  // CommandFlag bits of this request
                               const Command& command, std::span<const Bytes> arguments) {
  const FlagsHook hook = command.Spec().flags_of;
  return hook == nullptr ? command.flags : hook(services, session, arguments, command.flags);
}

// Returns whether a stream or file may contain the command. Allowed are commands that change data or scripts, send
// messages, begin or execute a transaction, or may be called by scripts. Protected commands and other administrative
// ones (kAdmin) are not allowed. The card of a command may decide otherwise (in_streams).
bool IsAllowedInStreams(const Command& command);  // a primary's stream, an append-only file or a fixture

class Gates {  // the reasons to refuse a command before it runs
 public:
  struct Parts {  // the objects that Gates uses; its constructor gets them
    const Env& env;
    const Eviction& eviction;                       // frees memory above maxmemory
    const Users& users;                             // all ACL users
    Permissions& permissions;                       // ACL checks
    const LateBound<const Durability>& durability;  // says whether writes can be persisted
    const Role& role;
    const LateBound<const SlotRouter>& router;  // attached on a cluster node
  };
  explicit Gates(const Parts& parts) : parts_(parts) {}

  // Checks all gates of a client's request, and throws the first refusal. Cost: a few comparisons if no gate refuses.
  void Pass(const Request& request) const;  // throws the refusal
  // Checks the gates that gate_rules.h lists for `path`, and throws the first refusal.
  void Pass(RequestPath path, const Request& request) const;  // throws the refusal

  enum class DiskUser : uint8_t { kCommand, kScript };
  // Returns the error of a write or a script if changes cannot be persisted at present, or nullopt if they can. Cost:
  // one or two comparisons.
  std::optional<Refusal> FindDiskTrouble(DiskUser user) const;  // why writes must be refused, or nullopt
  bool LacksReplicas() const;                                   // true: fewer good replicas than min-replicas-to-write
  bool IsReadOnly() const { return parts_.role.IsReadOnly(parts_.env.settings); }  // clients may not write
  // Returns the redirection to the primary for a client of a replica. Returns nullopt if the client does not follow
  // redirections, or if this server is no replica. Cluster nodes redirect by slot instead.
  std::optional<Refusal> RedirectionToPrimary(const Session& session) const;  // nullopt: do not redirect
  bool IsStale() const { return parts_.role.IsStale(parts_.env.settings); }   // its data must not be read

 private:
  using GateMember = void (Gates::*)(const Request& request) const;
  template <RequestPath kPath, Gate kGate, GateMember kMember>
  void Ask(const Request& request) const;  // calls kMember unless the rule of kGate and kPath is to skip it
  template <RequestPath kPath>
  void PassOn(const Request& request) const;              // checks the gates of kPath, in order
  void CheckContent(const Request& request) const;        // throws unless streams and files may contain it
  void CheckArity(const Request& request) const;          // throws if the number of arguments does not fit
  void CheckArityOfRecord(const Request& request) const;  // like CheckArity, but allows the arities of other versions
  void CheckProtectedCommand(const Request& request) const;  // throws unless enable-debug-command or the like allows it
  void CheckAuthentication(const Request& request) const;    // throws unless the client has logged in or need not
  void CheckTransactions(const Request& request) const;      // throws if it may not be sent after MULTI
  void CheckUserPermissions(const Request& request) const;   // throws if ACL rules forbid it
  void CheckOtherNode(const Request& request) const;         // throws a redirection by slot, in a cluster
  void CheckOtherServer(const Request& request) const;       // throws a redirection to the primary
  void CheckMemory(const Request& request) const;            // throws if it may need memory above maxmemory
  void CheckDiskError(const Request& request) const;         // throws for writes while they cannot be persisted
  void CheckReplicas(const Request& request) const;          // throws for writes: min-replicas-to-write
  void CheckReadOnlyReplica(const Request& request) const;   // throws for writes to a read-only replica
  void CheckStaleReplica(const Request& request) const;      // throws for most commands if the data may not be read
  void CheckSubscribedMode(const Request& request) const;    // throws for most commands of a RESP2 subscriber
  void CheckLoading(const Request& request) const;           // throws for most commands while data is loaded
  void CheckBusyScript(const Request& request) const;        // throws for most commands while a slow script runs
  void CheckFollowerKeyAccess(const Request& request) const;  // throws if a replica or monitor uses keys

  const DialectTraits& Traits() const;  // properties of the emulated version
  DialectTraits Named() const;          // like Traits, with product names for errors

  const Parts parts_;  // the objects that the constructor got
};

}  // namespace respite
