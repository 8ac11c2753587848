#include "server/gates.h"

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
  bool module = context.command.full_name.starts_with("module");
  Permission permission = module ? settings.enable_module_command : settings.enable_debug_command;
  bool local = context.session.loopback || context.session.unix_socket;
  if (permission == Permission::kAlways || (permission == Permission::kLocalConnections && local)) return;
  throw Refusal{module ? refusals::kModuleNotAllowed : refusals::kDebugNotAllowed};
}

void Authentication(const GateContext& context) {
  if (context.session.authenticated || context.command.Is(kNoAuth)) return;
  if (context.server.auth().Required()) throw Refusal{refusals::kNoAuth};  // else it was taken away meanwhile
}

// Nothing is evicted yet: a policy that would make room lets the write pass.
void Memory(const GateContext& context) {
  if (!context.command.Is(kDenyOom)) return;
  const Settings& settings = context.server.settings();
  if (settings.maxmemory == 0 || settings.maxmemory_policy != EvictionPolicy::kNoEviction) return;
  if (context.server.UsedMemory() > settings.maxmemory) throw Refusal{refusals::kOutOfMemory};
}

// Under RESP2 replies and messages look alike: a client that waits for messages gets no other replies.
void SubscribedMode(const GateContext& context) {
  if (!InSubscribedMode(context.session)) return;
  const Command& command = context.command;
  const std::string& name = command.full_name;
  if (command.Is(kPubSub) && command.Is(kNoScript)) return;  // SUBSCRIBE and its kin
  if (name == "ping" || name == "quit" || name == "reset") return;
  throw refusals::InSubscribedMode(name);
}

// Redis: a monitor counts as a replica here, and is told so.
void MonitorWithoutKeys(const GateContext& context) {
  if (!context.session.monitor || (context.command.flags & (kWrite | kReadOnly | kMayReplicate)) == 0) return;
  throw Refusal{refusals::kReplicaWithoutKeys};
}

// One call each, inlined in this order.
template <Gate... kGates>
void PassAll(const GateContext& context) {
  (kGates(context), ...);
}

}  // namespace

void PassGates(const GateContext& context) {
  PassAll<Arity, ProtectedCommand, Authentication, Memory, SubscribedMode, MonitorWithoutKeys>(context);
}

}  // namespace respite
