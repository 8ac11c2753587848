#include "server/sentinel/instance.h"

#include <utility>

namespace respite {

namespace {

InstanceLink::ConnectionKinds WiresOf(InstanceKind kind) {
  return kind == InstanceKind::kSentinel ? InstanceLink::ConnectionKinds::kCommands
                                         : InstanceLink::ConnectionKinds::kCommandsAndHello;
}

ReportedRole RoleOf(InstanceKind kind) {
  return kind == InstanceKind::kPrimary ? ReportedRole::kPrimary : ReportedRole::kReplica;
}

}  // namespace

Instance::Instance(InstanceKind its_kind, std::string its_name, SentinelAddress its_address, Primary& its_primary,
                   int64_t now_ms)
    : kind(its_kind),
      name(std::move(its_name)),
      address(std::move(its_address)),
      primary(its_primary),
      link(std::make_shared<InstanceLink>(WiresOf(its_kind), now_ms)),
      last_publish_ms(now_ms) {}

ServerInstance::ServerInstance(InstanceKind its_kind, std::string its_name, SentinelAddress its_address,
                               Primary& its_primary, int64_t now_ms)
    : Instance(its_kind, std::move(its_name), std::move(its_address), its_primary, now_ms),
      reported_role(RoleOf(its_kind)),
      role_since_ms(now_ms),
      reported_primary_since_ms(now_ms) {}

Bytes CommandOf(const Instance& instance, const char* command) {
  const auto& renamed = instance.primary.renamed_commands;
  const auto found = renamed.find(command);
  return found == renamed.end() ? Bytes(command) : Bytes(found->second);
}

}  // namespace respite
