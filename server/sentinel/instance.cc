#include "server/sentinel/instance.h"

#include <utility>

namespace respite {

namespace {

InstanceLink::Wires WiresOf(InstanceKind kind) {
  return kind == InstanceKind::kSentinel ? InstanceLink::Wires::kCommands : InstanceLink::Wires::kCommandsAndHello;
}

ReportedRole RoleOf(InstanceKind kind) {
  return kind == InstanceKind::kPrimary ? ReportedRole::kPrimary : ReportedRole::kReplica;
}

}  // namespace

Instance::Instance(InstanceKind kind, std::string name, SentinelAddress address, Primary& primary, int64_t now_ms)
    : kind(kind),
      name(std::move(name)),
      address(std::move(address)),
      primary(primary),
      link(std::make_shared<InstanceLink>(WiresOf(kind), now_ms)),
      last_publish_ms(now_ms) {}

ServerInstance::ServerInstance(InstanceKind kind, std::string name, SentinelAddress address, Primary& primary,
                               int64_t now_ms)
    : Instance(kind, std::move(name), std::move(address), primary, now_ms),
      reported_role(RoleOf(kind)),
      role_since_ms(now_ms),
      reported_since_ms(now_ms) {}

Bytes CommandOf(const Instance& instance, const char* command) {
  const auto& renamed = instance.primary.renamed_commands;
  const auto found = renamed.find(command);
  return found == renamed.end() ? Bytes(command) : Bytes(found->second);
}

}  // namespace respite
