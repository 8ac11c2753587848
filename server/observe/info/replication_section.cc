#include <algorithm>

#include "base/real_clock.h"
#include "base/str_cat.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/dataset.h"
#include "server/execution/services.h"
#include "server/observe/info/sections.h"
#include "server/replication/replication.h"

namespace respite {

namespace {

Bytes DataStateName(const History& history) {
  switch (history.data) {
    case History::Data::kNone:
      return "none";
    case History::Data::kDiverged:
      return "diverged";
    case History::Data::kOther:
      return "other";
    case History::Data::kWhole:
      break;
  }
  return history.HasComparableOffset() ? "whole" : "unconfirmed";
}

// Returns the priority that a replica reports. Sentinels of all versions promote the replica with the lowest priority,
// but never one with priority 0. Among equal priorities, they promote the replica with the largest offset. So a replica
// reports 0 if its data is missing, incomplete or perhaps of another history. A replica that may have data which its
// primary lacks reports at least kUnconfirmedPriority, because its offset cannot be compared with other offsets. So the
// Sentinels prefer replicas without such data.
int64_t PriorityForSentinels(const History& history, int64_t replica_priority) {
  constexpr int64_t kUnconfirmedPriority = 1'000'000'000;
  if (!history.IsWhole() || replica_priority == 0) return 0;
  return history.HasComparableOffset() ? replica_priority : std::max(replica_priority, kUnconfirmedPriority);
}

// Adds the fields that a replica shows about its link to the primary.
void AddLink(InfoText& text, const Services& services) {
  const PrimaryLink& link = services.replication.primary_link();
  const PrimaryLink::Figures figures = link.GetFigures();
  const bool is_linked = link.state() == PrimaryLink::State::kLinked;
  const bool is_syncing = link.state() == PrimaryLink::State::kTransfer || link.state() == PrimaryLink::State::kLoading;
  const auto& primary = *services.env.settings.replicaof;
  text.Add("master_host", primary.host)
      .Add("master_port", primary.port)
      .Add("master_link_status", is_linked ? "up" : "down")
      .Add("master_last_io_seconds_ago", figures.last_io_s)
      .Add("master_sync_in_progress", is_syncing ? 1 : 0)
      .Add("slave_read_repl_offset", figures.read_offset)
      .Add("slave_repl_offset", History::PlainOffset(services.data.dataset.history.OffsetInElections()))
      .Add("master_current_sync_attempts", figures.current_sync_attempts)
      .Add("master_total_sync_attempts", figures.total_sync_attempts);
  if (is_syncing) {
    const int64_t left = figures.transfer_total < 0 ? -1 : figures.transfer_total - figures.transfer_read;
    const double percent = figures.transfer_total <= 0 ? 0
                                                       : 100 * static_cast<double>(figures.transfer_read) /
                                                             static_cast<double>(figures.transfer_total);
    text.Add("master_sync_total_bytes", std::max<int64_t>(figures.transfer_total, 0))
        .Add("master_sync_read_bytes", figures.transfer_read)
        .Add("master_sync_left_bytes", left)
        .Add("master_sync_perc", FixedText(percent, 2))
        .Add("master_sync_last_io_seconds_ago", figures.transfer_io_s);
  }
  is_linked ? text.Add("master_link_up_since_seconds", figures.up_for_s)
            : text.Add("master_link_down_since_seconds", figures.down_s);
  text.Add("total_disconnect_time_sec", figures.total_down_s);
  if (!link.last_error().empty()) text.Add("master_sync_last_error", link.last_error());
  if (figures.retry_in_s >= 0) text.Add("master_sync_retry_in_seconds", figures.retry_in_s);
  if (!link.failed_command().empty()) text.Add("master_failed_command", link.failed_command());
  const History& history = services.data.dataset.history;
  if (!history.IsWhole() || !history.HasComparableOffset()) text.Add("replica_data", DataStateName(history));
  text.Add("slave_priority", PriorityForSentinels(history, services.env.settings.replica_priority))
      .Add("slave_read_only", services.env.settings.replica_read_only ? 1 : 0)
      .Add("replica_announced", services.env.settings.replica_announced ? 1 : 0);
}

void AddReplicas(InfoText& text, const Services& services) {
  const auto& all = services.replication.replicas().All();
  text.Add("connected_slaves", all.size()).Add("replicas_waiting_psync", 0);
  if (services.env.settings.min_replicas_to_write != 0 && services.env.settings.min_replicas_max_lag != 0) {
    text.Add("min_slaves_good_slaves", services.replication.role().good_replicas);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const Replica& replica = *all[i]->replica;
    const bool is_online = replica.state == Replica::State::kOnline;
    const int64_t lag_s = is_online ? (services.env.real_clock.NowMs() - replica.acked_at_ms) / 1000 : 0;
    text.Add(StrCat("slave", i),
             StrCat("ip=", Replicas::HostOf(*all[i]), ",port=", replica.listening_port,
                    ",state=", Replicas::StateNameOf(replica), ",offset=", replica.acked_offset, ",lag=", lag_s));
  }
}

}  // namespace

std::string ReplicationSection(const Services& services) {
  const History& history = services.data.dataset.history;
  const ReplicationStream& stream = services.replication.stream();
  const Backlog& backlog = stream.backlog();
  const bool is_replica = services.replication.role().is_replica;
  InfoText text("Replication");
  text.Add("role", is_replica ? "slave" : "master");
  if (is_replica) AddLink(text, services);
  AddReplicas(text, services);
  text.Add("master_failover_state", services.replication.failover().StateName())
      .Add("master_replid", history.id)
      .Add("master_replid2", history.former_id)
      .Add("master_repl_offset", history.offset)
      .Add("second_repl_offset", history.former_end)
      .Add("repl_backlog_active", stream.HasBacklog() ? 1 : 0)
      .Add("repl_backlog_size", services.env.settings.repl_backlog_size)
      .Add("repl_backlog_first_byte_offset", stream.HasBacklog() ? backlog.Begin() + 1 : 0)
      .Add("repl_backlog_histlen", stream.HasBacklog() ? backlog.RawBytes() : 0);
  return text.Take();
}

}  // namespace respite
