#include "server/sentinel/info_reader.h"

#include <algorithm>
#include <cstdlib>

#include "server/sentinel/primary_failover.h"

namespace respite {

namespace {

constexpr size_t kRunIdLength = 40;
// A reply to INFO is cut after this many bytes. INFO of a primary with a thousand replicas has about 100 KB.
constexpr size_t kMaxInfoBytes = size_t{1} << 20;
constexpr size_t kLongestHost = 255;
// Replicas are told to follow a primary only if the primary's last INFO reply is at most this many INFO periods old.
constexpr int64_t kFreshInfoPeriods = 2;
// A replica that reports role:master is sent REPLICAOF after this many publish periods. If another Sentinel had
// promoted the replica, hello messages would have told this Sentinel in that time.
constexpr int64_t kRolePublishPeriods = 4;

int64_t NumberOf(Bytes text) { return std::strtoll(std::string(text).c_str(), nullptr, 10); }

// Returns whether the name of the field is "slave0", "slave1" and so on.
bool NamesReplica(Bytes field) { return field.size() > 5 && field.starts_with("slave") && IsDigit(field[5]); }

// Returns the value after `name`, for example after "ip=" in "ip=127.0.0.1,port=6380,state=online". Returns an empty
// text if the line does not contain `name`.
Bytes PartOf(Bytes line, Bytes name) {
  for (const Bytes part : SplitOn(line, ',')) {
    if (part.starts_with(name)) return part.substr(name.size());
  }
  return {};
}

}  // namespace

void InfoReader::Receive(ServerInstance& server, const ReplyTree& reply) {
  server.info_is_awaited = server.info_is_urgent = false;
  if (reply.kind == ReplyKind::kBulk || reply.kind == ReplyKind::kVerbatim) {
    Read(server, reply.text.substr(0, kMaxInfoBytes));
  }
  if (on_info_) on_info_(server.primary);
}

void InfoReader::Read(ServerInstance& server, std::string info) {
  listed_replica_count_ = 0;
  server.info_ms = core_.NowMs();
  server.primary_link_down_ms = 0;
  ReportedRole role = ReportedRole::kNone;
  for (Bytes line : SplitOn(info, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    const size_t colon = line.find(':');
    if (colon == Bytes::npos) continue;
    const Field field = {line.substr(0, colon), line.substr(colon + 1)};
    if (field.name == "role") {
      if (field.value == "master") role = ReportedRole::kPrimary;
      if (field.value == "slave") role = ReportedRole::kReplica;
    }
    ReadField(server, field);
    if (role == ReportedRole::kReplica) ReadReplicaField(server, field);
  }
  server.info = std::move(info);
  RecordRole(server, role);
  if (core_.state.is_in_tilt || server.kind != InstanceKind::kReplica) return;
  CorrectReplica(static_cast<WatchedReplica&>(server));
}

void InfoReader::ReadField(ServerInstance& server, const Field& field) {
  if (field.name == "run_id" && field.value.size() >= kRunIdLength) {
    ReadRunId(server, field.value.substr(0, kRunIdLength));
  } else if (field.name == "master_link_down_since_seconds") {
    server.primary_link_down_ms = NumberOf(field.value) * 1000;
  } else if (server.kind == InstanceKind::kPrimary && NamesReplica(field.name)) {
    ReadReplicaLine(server.primary, field.value);
  }
}

void InfoReader::ReadRunId(ServerInstance& server, Bytes id) {
  if (server.run_id == id) return;
  if (!server.run_id.empty()) {
    events_.Tell(LogLevel::kNotice, "+reboot", server);
    if (server.kind == InstanceKind::kPrimary && server.primary.reboot_down_after_ms != 0) {
      server.primary.has_rebooted = true;
      server.primary.rebooted_ms = core_.NowMs();
    }
  }
  server.run_id = id;
}

void InfoReader::ReadReplicaLine(Primary& primary, Bytes line) {
  const std::string host(PartOf(line, "ip="));
  const Bytes port_text = PartOf(line, "port=");
  if (host.empty() || port_text.empty() || ++listed_replica_count_ > kMaxReplicas) return;
  const int port = static_cast<int>(NumberOf(port_text));
  if (InstanceList::FindReplicaAt(primary, host, port) != nullptr) return;
  const auto added = list_.AddReportedReplica(primary, host, port);
  if (!added.ok()) return;
  events_.Tell(LogLevel::kNotice, "+slave", *added.value());
  core_.SaveSoon();
}

void InfoReader::ReadReplicaField(ServerInstance& server, const Field& field) {
  const int64_t now_ms = core_.NowMs();
  if (field.name == "master_host" && field.value.size() <= kLongestHost &&
      !EqualsIgnoreCase(field.value, server.reported_primary_host)) {
    server.reported_primary_host = field.value;
    server.reported_primary_since_ms = now_ms;
  } else if (field.name == "master_port" && NumberOf(field.value) != server.reported_primary_port) {
    server.reported_primary_port = static_cast<int>(NumberOf(field.value));
    server.reported_primary_since_ms = now_ms;
  } else if (field.name == "master_link_status") {
    server.primary_link_is_up = EqualsIgnoreCase(field.value, "up");
  }
  if (server.kind == InstanceKind::kReplica) ReadWatchedReplicaField(static_cast<WatchedReplica&>(server), field);
}

void InfoReader::ReadWatchedReplicaField(WatchedReplica& replica, const Field& field) {
  if (field.name == "slave_priority") {
    replica.priority = static_cast<int>(NumberOf(field.value));
  } else if (field.name == "slave_repl_offset") {
    replica.offset = std::strtoull(std::string(field.value).c_str(), nullptr, 10);
  } else if (field.name == "replica_announced") {
    replica.is_announced = NumberOf(field.value) != 0;
  }
}

void InfoReader::RecordRole(ServerInstance& server, ReportedRole role) {
  if (role == server.reported_role) return;
  server.role_since_ms = core_.NowMs();
  server.reported_role = role;
  if (role == ReportedRole::kReplica) server.reported_primary_since_ms = core_.NowMs();
  const bool fits = (role == ReportedRole::kPrimary) == (server.kind == InstanceKind::kPrimary);
  events_.Tell(LogLevel::kVerbose, fits ? "+role-change" : "-role-change", server,
               std::string(" new reported role is ") + (role == ReportedRole::kPrimary ? "master" : "slave"));
}

// --- Replicas: wrong role or primary, and reconfiguration in a failover.

void InfoReader::CorrectReplica(WatchedReplica& replica) {
  if (replica.reported_role == ReportedRole::kPrimary) return HandlePrimaryRole(replica);
  if (replica.reported_role != ReportedRole::kReplica) return;
  CorrectReportedPrimary(replica);
  AdvanceReconfiguration(replica);
}

bool InfoReader::IsUpAndPrimary(const Primary& primary) const {
  return primary.reported_role == ReportedRole::kPrimary && !primary.is_down && !primary.is_objectively_down &&
         core_.NowMs() - primary.info_ms < core_.periods().info_period_ms * kFreshInfoPeriods;
}

bool InfoReader::HasNotGoneDownWithin(const WatchedReplica& replica, int64_t ms) const {
  return replica.down_since_ms == 0 || core_.NowMs() - replica.down_since_ms > ms;
}

// Handles a replica that reports to be a primary. If the failover under way has promoted this replica, the failover
// continues. Otherwise the replica is probably a former primary that has returned. If it still reports role:master
// after kRolePublishPeriods, was not down in this time, and the primary is up, sends it REPLICAOF.
void InfoReader::HandlePrimaryRole(WatchedReplica& replica) {
  Primary& primary = replica.primary;
  if (replica.is_chosen_for_promotion && primary.is_failing_over &&
      primary.failover_state == FailoverState::kWaitPromotion) {
    return failover_.HandlePromotion(replica);
  }
  const int64_t wait_ms = core_.periods().publish_period_ms * kRolePublishPeriods;
  if (replica.is_chosen_for_promotion || !IsUpAndPrimary(primary) || !HasNotGoneDownWithin(replica, wait_ms) ||
      core_.NowMs() - replica.role_since_ms <= wait_ms) {
    return;
  }
  replicaof_sender_.Follow(replica, primary.address);
  events_.Tell(LogLevel::kNotice, "+convert-to-slave", replica);
}

void InfoReader::CorrectReportedPrimary(WatchedReplica& replica) {
  Primary& primary = replica.primary;
  if (replica.reported_primary_port == primary.address.port &&
      core_.IsHostOf(primary.address, replica.reported_primary_host))
    return;
  const int64_t wait_ms = primary.failover_timeout_ms;
  if (!IsUpAndPrimary(primary) || !HasNotGoneDownWithin(replica, wait_ms) ||
      core_.NowMs() - replica.reported_primary_since_ms <= wait_ms)
    return;
  replicaof_sender_.Follow(replica, primary.address);
  events_.Tell(LogLevel::kNotice, "+fix-slave-config", replica);
}

void InfoReader::AdvanceReconfiguration(WatchedReplica& replica) {
  const WatchedReplica* const promoted = replica.primary.promoted;
  if (replica.reconfiguration == Reconfiguration::kSent && promoted != nullptr &&
      replica.reported_primary_port == promoted->address.port &&
      core_.IsHostOf(promoted->address, replica.reported_primary_host)) {
    replica.reconfiguration = Reconfiguration::kInProgress;
    events_.Tell(LogLevel::kNotice, "+slave-reconf-inprog", replica);
  }
  if (replica.reconfiguration == Reconfiguration::kInProgress && replica.primary_link_is_up) {
    replica.reconfiguration = Reconfiguration::kDone;
    events_.Tell(LogLevel::kNotice, "+slave-reconf-done", replica);
  }
}

}  // namespace respite
