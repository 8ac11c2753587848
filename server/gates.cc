#include "server/gates.h"

#include <array>
#include <optional>

#include "server/refusals.h"
#include "server/server.h"

namespace respite {

namespace {

using Gate = std::optional<std::string> (*)(const GateContext&);

std::optional<std::string> Arity(const GateContext& context) {
  int words = static_cast<int>(context.words.size());
  int arity = context.command.arity;
  if (arity >= 0 ? words == arity : words >= -arity) return std::nullopt;
  return refusals::WrongArity(context.command.full_name).text;
}

std::optional<std::string> ProtectedCommand(const GateContext& context) {
  if ((context.command.flags & kProtected) == 0) return std::nullopt;
  const Settings& settings = context.server.settings();
  bool module = context.command.full_name.starts_with("module");
  Permission permission = module ? settings.enable_module_command : settings.enable_debug_command;
  bool local = context.session.loopback || context.session.unix_socket;
  if (permission == Permission::kAlways || (permission == Permission::kLocalConnections && local)) return std::nullopt;
  return module ? refusals::kModuleNotAllowed : refusals::kDebugNotAllowed;
}

std::optional<std::string> Authentication(const GateContext& context) {
  if (context.session.authenticated || (context.command.flags & kNoAuth) != 0) return std::nullopt;
  if (!context.server.auth().Required()) return std::nullopt;  // the password was taken away meanwhile
  return refusals::kNoAuth;
}

// Redis: a monitor counts as a replica here, and is told so.
std::optional<std::string> MonitorWithoutKeys(const GateContext& context) {
  if (!context.session.monitor || (context.command.flags & (kWrite | kReadOnly | kMayReplicate)) == 0) return std::nullopt;
  return refusals::kReplicaWithoutKeys;
}

constexpr std::array<Gate, 4> kGates = {Arity, ProtectedCommand, Authentication, MonitorWithoutKeys};

}  // namespace

std::string FirstRefusal(const GateContext& context) {
  for (Gate gate : kGates)
    if (auto refusal = gate(context)) return *std::move(refusal);
  return {};
}

}  // namespace respite
