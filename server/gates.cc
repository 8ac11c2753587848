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
  PassAll<Arity, ProtectedCommand, Authentication, MonitorWithoutKeys>(context);
}

}  // namespace respite
