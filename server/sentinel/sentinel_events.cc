#include "server/sentinel/sentinel_events.h"

namespace respite {

namespace {

const char* TypeName(InstanceKind kind) {
  switch (kind) {
    case InstanceKind::kPrimary:
      return "master";
    case InstanceKind::kReplica:
      return "slave";
    case InstanceKind::kSentinel:
      return "sentinel";
  }
  return "unknown";
}

}  // namespace

std::string SentinelEvents::Describe(const Instance& instance) const {
  std::string text = std::string(TypeName(instance.kind)) + " " + instance.name + " " +
                     core_.state.HostAndPortToAnnounce(instance.address);
  if (instance.kind == InstanceKind::kPrimary) return text;
  return text + " @ " + instance.primary.name + " " + core_.state.HostAndPortToAnnounce(instance.primary.address);
}

void SentinelEvents::Tell(LogLevel level, const char* event, const Instance& instance, const std::string& more) {
  ReportPrimaryEvent(level, event, instance.primary, Describe(instance) + more);
}

void SentinelEvents::ReportPrimaryEvent(LogLevel level, const char* event, const Primary& primary,
                                        const std::string& text) {
  core_.Say(level, event, text);
  if (level == LogLevel::kWarning && !primary.notification_script.empty()) {
    scripts_.Add({primary.notification_script, event, text});
  }
}

void SentinelEvents::RunReconfigurationScript(const Primary& primary, FailoverPart part, const SentinelAddress& from,
                                              const SentinelAddress& to) {
  if (primary.reconfiguration_script.empty()) return;
  scripts_.Add({primary.reconfiguration_script, primary.name, part == FailoverPart::kLeader ? "leader" : "observer",
                "start", core_.state.HostToAnnounce(from), std::to_string(from.port), core_.state.HostToAnnounce(to),
                std::to_string(to.port)});
}

}  // namespace respite
