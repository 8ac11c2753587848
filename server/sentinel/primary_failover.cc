#include "server/sentinel/primary_failover.h"

#include <algorithm>
#include <ctime>

namespace respite {

namespace {

constexpr int64_t kBetweenFailovers = 2;  // in failover timeouts
constexpr int64_t kFreshPings = 5;        // maximum age of a replica's last answer, in periods of PING
constexpr int64_t kFreshInfos = 3;
constexpr int64_t kInfoPatienceMs = 1000;  // how long to wait for fresh INFO of reachable replicas
constexpr int64_t kMaxUnlinked = 10;       // maximum time of a replica without its primary, in down-after periods

// Returns the local time as text, for example "Sat Nov 21 02:17:41 2026".
std::string TimeText(int64_t wall_ms) {
  const time_t seconds = wall_ms / 1000;
  tm parts{};
  localtime_r(&seconds, &parts);
  std::string text(32, '\0');
  text.resize(strftime(text.data(), text.size(), "%a %b %e %H:%M:%S %Y", &parts));
  return text;
}

// Returns whether `one` is better for promotion than `other`: it has a lower priority, or else a larger replication
// offset, or else a smaller run id (an unknown run id is the largest). Requires: MayFollow has the same result for
// both.
bool IsBetter(const WatchedReplica& one, const WatchedReplica& other) {
  if (one.priority != other.priority) return one.priority < other.priority;
  if (one.offset != other.offset) return one.offset > other.offset;
  if (one.run_id.empty() || other.run_id.empty()) return !one.run_id.empty();
  return ToLower(one.run_id) < ToLower(other.run_id);
}

}  // namespace

// --- Start.

void PrimaryFailover::StartIfNeeded(Primary& primary) {
  if (!primary.is_objectively_down || primary.is_failing_over) return;
  if (core_.NowMs() - primary.failover_start_ms < primary.failover_timeout_ms * kBetweenFailovers) {
    return LogFailoverDelay(primary);
  }
  Start(primary);
  parts_.down_watch.AskOtherSentinels(primary, DownWatch::AskTiming::kNow);
}

void PrimaryFailover::LogFailoverDelay(Primary& primary) const {
  if (primary.logged_failover_start_ms == primary.failover_start_ms) return;
  primary.logged_failover_start_ms = primary.failover_start_ms;
  const int64_t due_ms = primary.failover_start_ms + primary.failover_timeout_ms * kBetweenFailovers;
  core_.log.Notice("Next failover delay: I will not start a failover before " +
                   TimeText(core_.host.WallMs() + due_ms - core_.NowMs()));
}

void PrimaryFailover::Start(Primary& primary) {
  primary.is_failing_over = true;
  primary.failover_epoch = ++core_.state.current_epoch;
  Enter(primary, FailoverState::kWaitStart);
  parts_.events.ReportPrimaryEvent(LogLevel::kWarning, "+new-epoch", primary,
                                   std::to_string(core_.state.current_epoch));
  parts_.events.Tell(LogLevel::kWarning, "+try-failover", primary);
  primary.failover_start_ms = core_.NowMs() + core_.RandomDelayMs();
  for (const auto& [name, replica] : primary.replicas) replica->info_is_urgent = true;
}

void PrimaryFailover::ForceFailover(Primary& primary) {
  core_.log.Notice("Executing user requested FAILOVER of '" + primary.name + "'");
  Start(primary);
  primary.is_failover_forced = true;
}

void PrimaryFailover::Enter(Primary& primary, FailoverState state) const {
  primary.failover_state = state;
  primary.failover_state_ms = core_.NowMs();
}

void PrimaryFailover::Continue(Primary& primary) {
  if (!primary.is_failing_over) return;
  switch (primary.failover_state) {
    case FailoverState::kWaitStart:
      return WaitForElection(primary);
    case FailoverState::kSelectReplica:
      return ChooseReplicaToPromote(primary);
    case FailoverState::kSendReplicaofNoOne:
      return SendReplicaofNoOne(primary);
    case FailoverState::kWaitPromotion:
      return AbortIfTimedOut(primary);
    case FailoverState::kReconfigureReplicas:
      return ReconfigureReplicas(primary);
    case FailoverState::kNone:
    case FailoverState::kUpdateConfig:
      return;
  }
}

// --- Election and selection.

void PrimaryFailover::WaitForElection(Primary& primary) {
  const std::string leader = parts_.election.VoteAndFindLeader(primary, primary.failover_epoch);
  const bool is_leader = EqualsIgnoreCase(leader, core_.state.id);
  if (!is_leader && !primary.is_failover_forced) {
    const int64_t limit_ms = std::min(core_.periods().election_timeout_ms, primary.failover_timeout_ms);
    if (core_.NowMs() - primary.failover_start_ms <= limit_ms) return;
    parts_.events.Tell(LogLevel::kWarning, "-failover-abort-not-elected", primary);
    return Abort(primary);
  }
  parts_.events.Tell(LogLevel::kWarning, "+elected-leader", primary);
  if (core_.state.simulated_failures.crash_after_election) core_.host.Crash();
  Enter(primary, FailoverState::kSelectReplica);
  parts_.events.Tell(LogLevel::kWarning, "+failover-state-select-slave", primary);
}

bool PrimaryFailover::CanBePromoted(const Primary& primary, const WatchedReplica& replica) const {
  const int64_t now_ms = core_.NowMs();
  const SentinelPeriods& periods = core_.periods();
  if (replica.is_down || replica.link->IsDisconnected() || replica.priority == 0) return false;
  if (now_ms - replica.link->last_available_ms > periods.ping_period_ms * kFreshPings) return false;
  const int64_t fresh_ms =
      primary.is_down ? periods.ping_period_ms * kFreshPings : periods.info_period_ms * kFreshInfos;
  if (now_ms - replica.info_ms > fresh_ms) return false;
  const int64_t down_ms = primary.is_down ? now_ms - primary.down_since_ms : 0;
  return replica.primary_link_down_ms <= down_ms + primary.down_after_ms * kMaxUnlinked;
}

// Returns false if the replica reports no primary, or reports as its primary another server that this Sentinel watches.
// Such a replica may still follow a former primary, so it lacks the last writes, and its offset belongs to another
// history. Returns true for an unknown address, because it may be another address of this primary, as behind NAT.
bool PrimaryFailover::MayFollow(const Primary& primary, const WatchedReplica& replica) const {
  if (replica.reported_primary_port == 0) return false;
  if (primary.address.IsAt(replica.reported_primary_host, replica.reported_primary_port)) return true;
  const SentinelAddress reported = core_.ReportedAddress(replica.reported_primary_host, replica.reported_primary_port);
  if (reported.Is(primary.address)) return true;
  // A server with the run ID of `primary` is `primary` itself, known by another address.
  const auto is_reported = [&](const ServerInstance& server) {
    return reported.Is(server.address) && (server.run_id.empty() || server.run_id != primary.run_id);
  };
  const auto is_reported_replica = [&](const auto& entry) { return is_reported(*entry.second); };
  return std::ranges::none_of(core_.state.primaries, [&](const auto& entry) {
    return is_reported(*entry.second) || std::ranges::any_of(entry.second->replicas, is_reported_replica);
  });
}

WatchedReplica* PrimaryFailover::FindBestReplica(const Primary& primary) const {
  WatchedReplica* best = nullptr;
  bool best_may_follow = false;
  for (const auto& [name, replica] : primary.replicas) {
    if (!CanBePromoted(primary, *replica)) continue;
    const bool may_follow = MayFollow(primary, *replica);
    if (best == nullptr || (may_follow == best_may_follow ? IsBetter(*replica, *best) : may_follow)) {
      best = replica.get();
      best_may_follow = may_follow;
    }
  }
  return best;
}

bool PrimaryFailover::HasFreshReplicaInfo(const Primary& primary) const {
  return std::ranges::none_of(primary.replicas, [](const auto& entry) {
    const WatchedReplica& replica = *entry.second;
    return replica.info_is_urgent && !replica.is_down && !replica.link->IsDisconnected();
  });
}

void PrimaryFailover::ChooseReplicaToPromote(Primary& primary) {
  if (!HasFreshReplicaInfo(primary) && TimeInStateMs(primary) < kInfoPatienceMs) return;
  WatchedReplica* const replica = FindBestReplica(primary);
  if (replica == nullptr) {
    parts_.events.Tell(LogLevel::kWarning, "-failover-abort-no-good-slave", primary);
    return Abort(primary);
  }
  parts_.events.Tell(LogLevel::kWarning, "+selected-slave", *replica);
  replica->is_chosen_for_promotion = true;
  primary.promoted = replica;
  Enter(primary, FailoverState::kSendReplicaofNoOne);
  parts_.events.Tell(LogLevel::kNotice, "+failover-state-send-slaveof-noone", *replica);
}

// --- Promotion.

void PrimaryFailover::SendReplicaofNoOne(Primary& primary) {
  if (primary.promoted->link->IsDisconnected()) return AbortIfTimedOut(primary);
  parts_.replicaof_sender.FollowNoOne(*primary.promoted);
  parts_.events.Tell(LogLevel::kNotice, "+failover-state-wait-promotion", *primary.promoted);
  Enter(primary, FailoverState::kWaitPromotion);
}

void PrimaryFailover::AbortIfTimedOut(Primary& primary) {
  if (TimeInStateMs(primary) <= primary.failover_timeout_ms) return;
  parts_.events.Tell(LogLevel::kWarning, "-failover-abort-slave-timeout", primary);
  Abort(primary);
}

void PrimaryFailover::Abort(Primary& primary) const {
  primary.is_failing_over = primary.is_failover_forced = false;
  Enter(primary, FailoverState::kNone);
  if (primary.promoted == nullptr) return;
  primary.promoted->is_chosen_for_promotion = false;
  primary.promoted = nullptr;
}

// Announces the new primary. Its address gets the epoch of the failover, which is larger than the epoch of the old
// address. Address and epoch are saved on disk before other Sentinels and clients are told.
void PrimaryFailover::HandlePromotion(WatchedReplica& replica) {
  Primary& primary = replica.primary;
  primary.config_epoch = primary.failover_epoch;
  Enter(primary, FailoverState::kReconfigureReplicas);
  core_.Save();
  parts_.events.Tell(LogLevel::kWarning, "+promoted-slave", replica);
  if (core_.state.simulated_failures.crash_after_promotion) core_.host.Crash();
  parts_.events.Tell(LogLevel::kWarning, "+failover-state-reconf-slaves", primary);
  parts_.events.RunReconfigurationScript(primary, SentinelEvents::FailoverPart::kLeader, primary.address,
                                         replica.address);
  parts_.hello_protocol.PublishHellosSoon(primary);
}

// --- The other replicas.

void PrimaryFailover::ReconfigureReplicas(Primary& primary) {
  const auto is_under_way = [](const auto& entry) {
    return entry.second->reconfiguration == Reconfiguration::kSent ||
           entry.second->reconfiguration == Reconfiguration::kInProgress;
  };
  int64_t under_way = std::ranges::count_if(primary.replicas, is_under_way);
  for (const auto& [name, replica] : primary.replicas) {
    if (under_way >= primary.parallel_syncs) break;
    const Reconfiguration before = replica->reconfiguration;
    Reconfigure(*replica);
    if (before == Reconfiguration::kNone && replica->reconfiguration == Reconfiguration::kSent) ++under_way;
  }
  EndFailoverIfDone(primary);
}

// Sends a replica REPLICAOF with the new primary, but only once, and not while its link is down. Does nothing for the
// promoted replica. If the replica does not report the new primary in time, the failover no longer waits for the
// replica; InfoReader corrects the replica after the failover.
void PrimaryFailover::Reconfigure(WatchedReplica& replica) {
  if (replica.is_chosen_for_promotion) return;
  if (replica.reconfiguration == Reconfiguration::kSent &&
      core_.NowMs() - replica.reconfiguration_sent_ms > core_.periods().reconfiguration_timeout_ms) {
    parts_.events.Tell(LogLevel::kNotice, "-slave-reconf-sent-timeout", replica);
    replica.reconfiguration = Reconfiguration::kDone;
  }
  if (replica.reconfiguration != Reconfiguration::kNone || replica.link->IsDisconnected()) return;
  parts_.replicaof_sender.Follow(replica, replica.primary.promoted->address);
  replica.reconfiguration = Reconfiguration::kSent;
  replica.reconfiguration_sent_ms = core_.NowMs();
  parts_.events.Tell(LogLevel::kNotice, "+slave-reconf-sent", replica);
}

void PrimaryFailover::EndFailoverIfDone(Primary& primary) {
  if (primary.promoted == nullptr || primary.promoted->is_down) return;
  const auto is_left = [](const auto& entry) {
    const WatchedReplica& replica = *entry.second;
    return !replica.is_chosen_for_promotion && !replica.is_down && replica.reconfiguration != Reconfiguration::kDone;
  };
  const bool is_late = TimeInStateMs(primary) > primary.failover_timeout_ms;
  if (is_late) parts_.events.Tell(LogLevel::kWarning, "+failover-end-for-timeout", primary);
  if (!is_late && std::ranges::any_of(primary.replicas, is_left)) return;
  parts_.events.Tell(LogLevel::kWarning, "+failover-end", primary);
  Enter(primary, FailoverState::kUpdateConfig);
  if (is_late) ReconfigureRemainingReplicas(primary);
}

void PrimaryFailover::ReconfigureRemainingReplicas(Primary& primary) {
  for (const auto& [name, replica] : primary.replicas) {
    const bool is_left =
        replica->reconfiguration == Reconfiguration::kNone || replica->reconfiguration == Reconfiguration::kInProgress;
    if (replica->is_chosen_for_promotion || !is_left || replica->link->IsDisconnected()) continue;
    parts_.replicaof_sender.Follow(*replica, primary.promoted->address);
    parts_.events.Tell(LogLevel::kNotice, "+slave-reconf-sent-be", *replica);
    replica->reconfiguration = Reconfiguration::kSent;
  }
}

void PrimaryFailover::SwitchToPromoted(Primary& primary) {
  const SentinelAddress to = primary.promoted == nullptr ? primary.address : primary.promoted->address;
  parts_.events.ReportPrimaryEvent(LogLevel::kWarning, "+switch-master", primary,
                                   primary.name + " " + core_.state.HostAndPortToAnnounce(primary.address) + " " +
                                       core_.state.HostAndPortToAnnounce(to));
  parts_.list.ChangeAddress(primary, to.host, to.port);
}

}  // namespace respite
