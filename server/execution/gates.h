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

// Also used by scripts and TEST FAULT.
namespace refusals {

inline constexpr char kReadOnlyReplica[] = "READONLY You can't write against a read only replica.";
inline constexpr char kPrimaryDown[] =
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";
inline constexpr char kOutOfMemory[] = "OOM command not allowed when used memory > 'maxmemory'.";
// Returns the error of other clients during a late script. Requires: not kNone.
Refusal Busy(ServerPhase::LateScript kind, const DialectTraits& traits);
Refusal SnapshotFailed(const DialectTraits& traits);
inline constexpr char kNoReplicas[] = "NOREPLICAS Not enough good replicas to write.";

}  // namespace refusals

class Durability;
class Eviction;
class Permissions;
class ServerPhase;
struct Services;
class Users;

// Returns the CommandFlag bits of the request: those of its command, unless its card computes them (flags_of).
inline uint32_t EffectiveFlags(const Services& services, const Session& session, const Command& command,
                               std::span<const Bytes> words) {
  const FlagsHook hook = command.Spec().flags_of;
  return hook == nullptr ? command.flags : hook(services, session, words, command.flags);
}

// Returns whether a primary's stream, an append-only file or a fixture may contain the command. Allowed are commands
// that change data or scripts, send messages, or may be called by scripts. Protected and administrative (kAdmin)
// commands and commands to other servers are not allowed.
bool BelongsIntoStreams(const Command& command);

class Gates {
 public:
  struct Parts {
    const Env& env;
    const Eviction& eviction;
    const Users& users;
    Permissions& permissions;
    const LateBound<const Durability>& durability;
    const Role& role;
    const LateBound<const SlotRouter>& router;
  };
  explicit Gates(const Parts& parts) : parts_(parts) {}

  // Throws the refusal of the first gate that refuses a client's request. Cost: a few comparisons if none does.
  void Pass(const Request& request) const;
  // Checks the gates that gate_rules.h lists for `path`.
  void Pass(RequestPath path, const Request& request) const;

  // Returns why a write or a script must be refused because its changes could not be persisted, or nullopt. Cost: one
  // or two comparisons.
  enum class DiskUser : uint8_t { kCommand, kScript };
  std::optional<Refusal> DiskTrouble(DiskUser user) const;
  // Returns whether there are too few replicas for writes (min-replicas-to-write).
  bool LacksReplicas() const;
  // Returns whether this is a replica on which clients may only read.
  bool IsReadOnly() const { return parts_.role.IsReadOnly(parts_.env.settings); }
  // On a replica, returns the redirection to the primary if the client follows redirections. Returns nullopt on cluster
  // nodes, which redirect by slot.
  std::optional<Refusal> ToPrimary(const Session& session) const;
  // Returns whether the data may be stale and replica-serve-stale-data forbids serving it.
  bool IsStale() const { return parts_.role.IsStale(parts_.env.settings); }

 private:
  using GateMember = void (Gates::*)(const Request& request) const;
  template <RequestPath kPath, Gate kGate, GateMember kMember>
  void Ask(const Request& request) const;
  template <RequestPath kPath>
  void PassOn(const Request& request) const;
  void Content(const Request& request) const;
  void Arity(const Request& request) const;
  void ArityOfRecord(const Request& request) const;
  void ProtectedCommand(const Request& request) const;
  void Authentication(const Request& request) const;
  void Transactions(const Request& request) const;
  void UserPermissions(const Request& request) const;
  void OtherNode(const Request& request) const;
  void OtherServer(const Request& request) const;
  void Memory(const Request& request) const;
  void DiskError(const Request& request) const;
  void Replicas(const Request& request) const;
  void ReadOnlyReplica(const Request& request) const;
  void StaleReplica(const Request& request) const;
  void SubscribedMode(const Request& request) const;
  void StillLoading(const Request& request) const;
  void BusyScript(const Request& request) const;
  void FollowerWithoutKeys(const Request& request) const;

  const DialectTraits& Traits() const;
  DialectTraits Named() const;

  const Parts parts_;
};

}  // namespace respite
