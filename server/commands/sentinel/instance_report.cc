#include "server/commands/sentinel/instance_report.h"

namespace respite {

namespace {

Bytes FailoverStateName(FailoverState state) {
  switch (state) {
    case FailoverState::kNone:
      return "none";
    case FailoverState::kWaitStart:
      return "wait_start";
    case FailoverState::kSelectReplica:
      return "select_slave";
    case FailoverState::kSendReplicaofNoOne:
      return "send_slaveof_noone";
    case FailoverState::kWaitPromotion:
      return "wait_promotion";
    case FailoverState::kReconfigureReplicas:
      return "reconf_slaves";
    case FailoverState::kUpdateConfig:
      return "update_config";
  }
  return "unknown";
}

// Builds a list of words, separated by commas.
class FlagText {
 public:
  FlagText& Add(Bytes flag, bool is_set) {  // NOLINT: the value itself
    if (!is_set) return *this;
    if (!text_.empty()) text_ += ',';
    text_ += flag;
    return *this;
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

InstanceReport::Fields InstanceReport::Of(const SentinelCore& core, const Primary& primary) {
  InstanceReport report(core, primary);
  report.AddCommon();
  report.AddServer(primary);
  report.AddPrimary(primary);
  return std::move(report.fields_);
}

InstanceReport::Fields InstanceReport::Of(const SentinelCore& core, const WatchedReplica& replica) {
  InstanceReport report(core, replica);
  report.AddCommon();
  report.AddServer(replica);
  report.AddReplica(replica);
  return std::move(report.fields_);
}

InstanceReport::Fields InstanceReport::Of(const SentinelCore& core, const PeerSentinel& sentinel) {
  InstanceReport report(core, sentinel);
  report.AddCommon();
  report.AddSentinel(sentinel);
  return std::move(report.fields_);
}

std::string InstanceReport::Flags() const {
  const Primary* const primary = instance_.kind == InstanceKind::kPrimary ? &instance_.primary : nullptr;
  const auto* const replica =
      instance_.kind == InstanceKind::kReplica ? static_cast<const WatchedReplica*>(&instance_) : nullptr;
  const auto* const sentinel =
      instance_.kind == InstanceKind::kSentinel ? static_cast<const PeerSentinel*>(&instance_) : nullptr;
  const auto is_at = [&](Reconfiguration state) { return replica != nullptr && replica->reconfiguration == state; };
  return FlagText()
      .Add("s_down", instance_.is_down)
      .Add("o_down", primary != nullptr && primary->is_objectively_down)
      .Add("master", primary != nullptr)
      .Add("slave", replica != nullptr)
      .Add("sentinel", sentinel != nullptr)
      .Add("disconnected", instance_.link->IsDisconnected())
      .Add("master_down", sentinel != nullptr && sentinel->says_primary_is_down)
      .Add("failover_in_progress", primary != nullptr && primary->is_failing_over)
      .Add("promoted", replica != nullptr && replica->is_chosen_for_promotion)
      .Add("reconf_sent", is_at(Reconfiguration::kSent))
      .Add("reconf_inprog", is_at(Reconfiguration::kInProgress))
      .Add("reconf_done", is_at(Reconfiguration::kDone))
      .Add("force_failover", primary != nullptr && primary->is_failover_forced)
      .Add("script_kill_sent", instance_.has_killed_script)
      .Add("master_reboot", primary != nullptr && primary->has_rebooted)
      .Take();
}

void InstanceReport::AddCommon() {
  const InstanceLink& link = *instance_.link;
  const Primary& primary = instance_.primary;
  Add("name", instance_.name);
  Add("ip", core_.state.HostToAnnounce(instance_.address));
  Add("port", instance_.address.port);
  Add("runid", instance_.run_id);
  Add("flags", Flags());
  Add("link-pending-commands", static_cast<int64_t>(link.PendingCount()));
  Add("link-refcount", instance_.link.use_count());
  if (instance_.kind == InstanceKind::kPrimary && primary.is_failing_over) {
    Add("failover-state", std::string(FailoverStateName(primary.failover_state)));
  }
  AddAgeFields();
}

void InstanceReport::AddAgeFields() {
  const InstanceLink& link = *instance_.link;
  const Primary& primary = instance_.primary;
  const int64_t now_ms = core_.NowMs();
  Add("last-ping-sent", link.ping_waits_since_ms == 0 ? 0 : now_ms - link.ping_waits_since_ms);
  AddMsSince("last-ok-ping-reply", link.last_available_ms);
  AddMsSince("last-ping-reply", link.last_ping_answer_ms);
  if (instance_.is_down) AddMsSince("s-down-time", instance_.down_since_ms);
  if (instance_.kind == InstanceKind::kPrimary && primary.is_objectively_down) {
    AddMsSince("o-down-time", primary.objectively_down_since_ms);
  }
  Add("down-after-milliseconds", primary.down_after_ms);
}

void InstanceReport::AddServer(const ServerInstance& server) {
  Add("info-refresh", server.info_ms == kLongAgo ? 0 : core_.NowMs() - server.info_ms);
  Add("role-reported", std::string(server.reported_role == ReportedRole::kPrimary ? "master" : "slave"));
  AddMsSince("role-reported-time", server.role_since_ms);
}

void InstanceReport::AddPrimary(const Primary& primary) {
  Add("config-epoch", std::to_string(primary.config_epoch));
  Add("num-slaves", static_cast<int64_t>(primary.replicas.size()));
  Add("num-other-sentinels", static_cast<int64_t>(primary.sentinels.size()));
  Add("quorum", primary.quorum);
  Add("failover-timeout", primary.failover_timeout_ms);
  Add("parallel-syncs", primary.parallel_syncs);
  if (!primary.notification_script.empty()) Add("notification-script", primary.notification_script);
  if (!primary.reconfiguration_script.empty()) Add("client-reconfig-script", primary.reconfiguration_script);
}

void InstanceReport::AddReplica(const WatchedReplica& replica) {
  Add("master-link-down-time", replica.primary_link_down_ms);
  Add("master-link-status", std::string(replica.primary_link_is_up ? "ok" : "err"));
  Add("master-host", replica.reported_primary_host.empty() ? std::string("?") : replica.reported_primary_host);
  Add("master-port", replica.reported_primary_port);
  Add("slave-priority", replica.priority);
  Add("slave-repl-offset", std::to_string(replica.offset));
  Add("replica-announced", replica.is_announced ? 1 : 0);
}

void InstanceReport::AddSentinel(const PeerSentinel& sentinel) {
  AddMsSince("last-hello-message", sentinel.last_hello_ms);
  Add("voted-leader", sentinel.voted_for.empty() ? std::string("?") : sentinel.voted_for);
  Add("voted-leader-epoch", std::to_string(sentinel.voted_in_epoch));
}

}  // namespace respite
