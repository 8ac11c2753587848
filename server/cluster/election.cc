#include "server/cluster/election.h"

#include <algorithm>

#include "base/str_cat.h"

namespace respite {

namespace {

constexpr int64_t kFixedDelayMs = 500;  // time for the report of the failure to reach all nodes
constexpr uint64_t kRandomDelayMs = 500;
constexpr int64_t kDelayPerRankMs = 1000;
constexpr int64_t kMinLimitMs = 2000;
constexpr int64_t kExplainAgainMs = 10'000;
// Limits for WinIfStillNeeded. The votes of a majority may be out of date at a late tick, which comes more than
// kMaxTickGapMs after the tick before. In a slow process all ticks are late, so the node wins at the tick with number
// kTicksOfSlowProcess in any case.
constexpr int64_t kMaxTickGapMs = 500;
constexpr int kTicksOfSlowProcess = 4;

}  // namespace

int64_t Election::VoteTimeoutMs() const { return std::max(parts_.core.TimeoutMs() * 2, kMinLimitMs); }

bool Election::IsElectionNeeded() const {
  const ClusterNode& me = parts_.core.view.me();
  if (!me.IsReplica() || me.primary == nullptr || me.primary->slot_count == 0) return false;
  if (parts_.manual_failover.CanStartElection()) return true;
  // An ordinary election is needed if the primary has failed. This also holds during a manual failover if the primary
  // fails before it has told its offset.
  return me.primary->Is(kNodeFail) && !parts_.core.settings.cluster_replica_no_failover;
}

bool Election::IsDataTooOld() const {
  const Settings& settings = parts_.core.settings;
  const bool is_ordered = parts_.manual_failover.CanStartElection() && !parts_.manual_failover.IsRequestOfPrimary();
  if (settings.cluster_replica_validity_factor == 0 || is_ordered) return false;
  const std::optional<int64_t> linked_ms = parts_.core.host.DataAgeMs();
  if (!linked_ms) return true;
  // Subtracts one node timeout from the age of the data: it took this time until the primary's failure was noticed.
  const int64_t age_ms = std::max<int64_t>(*linked_ms - parts_.core.TimeoutMs(), 0);
  return age_ms > int64_t{settings.repl_ping_replica_period} * 1000 +
                      parts_.core.TimeoutMs() * settings.cluster_replica_validity_factor;
}

bool Election::HasDataToReplacePrimary() const {
  return parts_.core.host.HasWholeData() && parts_.core.host.DataAgeMs() && !IsDataTooOld() && Rank() == 0;
}

int Election::Rank() const {
  const ClusterNode& me = parts_.core.view.me();
  const int64_t mine = parts_.core.host.Offset();
  return static_cast<int>(std::ranges::count_if(me.primary->replicas, [&](const ClusterNode* other) {
    return other != &me && !other->Is(kNodeNoFailover) && other->offset > mine;
  }));
}

void Election::Continue() {
  // Waits until a load or a slow script has ended. A load may replace the data with which this replica would win.
  if (parts_.core.host.IsInLongTask()) return;
  DropRequestOfPrimaryIfUnfit();
  if (!IsElectionNeeded()) return;
  const int64_t now_ms = parts_.core.NowMs();
  if (!parts_.core.host.HasWholeData()) return LogObstacle(Obstacle::kNoData);
  if (IsDataTooOld()) return LogObstacle(Obstacle::kDataAge);
  if (vote_request_at_ms_ == 0 || now_ms - vote_request_at_ms_ > VoteTimeoutMs() * 2) return ScheduleVoteRequest();
  if (!has_requested_votes_ && !parts_.manual_failover.IsUnderWay()) UpdateRankAndDelay();
  if (now_ms < vote_request_at_ms_) return LogObstacle(Obstacle::kDelay);
  if (now_ms - vote_request_at_ms_ > VoteTimeoutMs()) return LogObstacle(Obstacle::kExpired);
  if (!has_requested_votes_) return RequestVotes();
  if (static_cast<int>(voters_.size()) >= parts_.core.view.Majority()) return WinIfStillNeeded();
  LogObstacle(Obstacle::kVotes);
}

// Ends a failover that the primary requested (SHUTDOWN FAILOVER) if another replica has more data, or if the data here
// is incomplete or too old. This can happen if the request came late.
void Election::DropRequestOfPrimaryIfUnfit() {
  if (!parts_.manual_failover.IsRequestOfPrimary() || !parts_.manual_failover.CanStartElection()) return;
  if (parts_.core.view.me().primary != nullptr && HasDataToReplacePrimary()) return;
  parts_.core.log.Warning(
      "Not replacing my master at its request, because another replica has more data, or mine is too old.");
  parts_.manual_failover.Reset();
}

// Called at each tick at which this node has the votes of a majority. Wins at the second such tick, or a later one, if
// it comes at most kMaxTickGapMs after the tick before. A later tick shows that the process stood still: the votes may
// be old, and unread packets may say that the primary is back. In a slow process every tick is late, so the node wins
// at tick number kTicksOfSlowProcess in any case.
void Election::WinIfStillNeeded() {
  const int64_t now_ms = parts_.core.NowMs();
  const bool was_late = now_ms - majority_at_ms_ > kMaxTickGapMs;
  majority_at_ms_ = now_ms;
  ++majority_ticks_;
  if ((majority_ticks_ > 1 && !was_late) || majority_ticks_ >= kTicksOfSlowProcess) Win();
}

void Election::ScheduleVoteRequest() {
  const bool is_manual = parts_.manual_failover.IsUnderWay();
  const int64_t now_ms = parts_.core.NowMs();
  has_requested_votes_ = false;
  voters_.clear();
  majority_ticks_ = 0;
  rank_ = is_manual ? 0 : Rank();
  vote_request_at_ms_ = now_ms;
  if (!is_manual) {
    const auto chance_ms = static_cast<int64_t>(parts_.core.random.Below(kRandomDelayMs));
    vote_request_at_ms_ += kFixedDelayMs + chance_ms + rank_ * kDelayPerRankMs;
  }
  parts_.core.log.Notice(StrCat("Start of election delayed for ", vote_request_at_ms_ - now_ms, " milliseconds (rank #",
                                rank_, ", offset ", History::PlainOffset(parts_.core.host.Offset()), ")."));
  parts_.gossip.BroadcastPong(Gossip::To::kSiblings);  // tells the other replicas this node's offset
  if (is_manual) Continue();
}

// Recomputes the rank: how many replicas have a larger offset than this one. If it has become worse, delays the request
// for votes further.
void Election::UpdateRankAndDelay() {
  const int rank = Rank();
  if (rank <= rank_) return;
  vote_request_at_ms_ += (rank - rank_) * kDelayPerRankMs;
  parts_.core.log.Notice(StrCat("Replica rank updated to #", rank, ", added ", (rank - rank_) * kDelayPerRankMs,
                                " milliseconds of delay."));
  rank_ = rank;
}

void Election::RequestVotes() {
  ClusterView& view = parts_.core.view;
  epoch_ = ++view.current_epoch;
  has_requested_votes_ = true;
  parts_.core.log.Notice(StrCat("Starting a failover election for epoch ", epoch_, "."));
  BusPacket packet;
  packet.header = parts_.bus.MakeHeader(PacketType::kVoteRequest);
  if (parts_.manual_failover.IsUnderWay()) packet.header.message_flags |= PacketHeader::kForcesVote;
  parts_.bus.Broadcast(packet);
  view.RequestSave();
  view.RequestHealthCheck();
}

void Election::ReceiveVote(const ClusterNode& voter, const PacketHeader& header) {
  const bool counts =
      voter.IsPrimary() && voter.slot_count != 0 && has_requested_votes_ && header.current_epoch >= epoch_;
  if (!counts) return;
  voters_.insert(voter.id);
}

void Election::Win() {
  parts_.core.log.Notice("Failover election won: I'm the new master.");
  ClusterNode& me = parts_.core.view.me();
  if (me.config_epoch < epoch_) {
    me.config_epoch = epoch_;
    parts_.core.log.Notice(StrCat("configEpoch set to ", epoch_, " after successful failover"));
  }
  TakeOver();
}

void Election::TakeOver() {
  ClusterView& view = parts_.core.view;
  ClusterNode* const former = view.me().primary;
  if (!view.me().IsReplica() || former == nullptr) return;
  if (!parts_.core.host.HasWholeData()) {
    parts_.core.log.Warning("Taking over the slots of " + former->LogName() +
                            " without all of its data (see replica_data in INFO replication)");
  }
  const SlotSet slots = view.SlotsOf(*former);
  parts_.role.Promote();
  slots.ForEach([&](int slot) { view.Assign(slot, &view.me()); });
  view.RequestHealthCheck();
  view.RequestSave(ClusterView::Save::kNow);
  vote_request_at_ms_ = 0;
  has_requested_votes_ = false;
  parts_.manual_failover.Reset();
  parts_.gossip.BroadcastPong(Gossip::To::kAll);  // tells all nodes now, before the next PING
}

void Election::LogObstacle(Obstacle obstacle) {
  const int64_t now_ms = parts_.core.NowMs();
  if (obstacle == logged_obstacle_ && now_ms - obstacle_logged_at_ms_ < kExplainAgainMs) return;
  logged_obstacle_ = obstacle;
  obstacle_logged_at_ms_ = now_ms;
  const auto text = [&] {
    switch (obstacle) {
      case Obstacle::kNone:
        break;
      case Obstacle::kNoData:
        return "This replica does not have all data of its master (see replica_data in INFO replication).";
      case Obstacle::kDataAge:
        return "Disconnected from master for longer than allowed. Please check the 'cluster-replica-validity-factor' "
               "configuration option.";
      case Obstacle::kDelay:
        return "Waiting the delay before I can start a new failover.";
      case Obstacle::kExpired:
        return "Failover attempt expired.";
      case Obstacle::kVotes:
        return "Waiting for votes, but majority still not reached.";
    }
    return "";
  };
  parts_.core.log.Notice(std::string("Currently unable to failover: ") + text());
}

// --- Voting.

std::string Election::VoteRefusalReason(const ClusterNode& candidate, const PacketHeader& header) const {
  const ClusterView& view = parts_.core.view;
  if (header.current_epoch < view.current_epoch) {
    return StrCat("reqEpoch (", header.current_epoch, ") < curEpoch(", view.current_epoch, ")");
  }
  if (view.last_vote_epoch == view.current_epoch) {
    return StrCat("already voted for epoch ", view.current_epoch);
  }
  if (candidate.IsPrimary()) return "it is a master node";
  if (candidate.primary == nullptr) return "I don't know its master";
  const bool is_forced = (header.message_flags & PacketHeader::kForcesVote) != 0;
  if (!candidate.primary->Is(kNodeFail) && !is_forced) return "its master is up";
  const int64_t since_ms = parts_.core.NowMs() - candidate.primary->voted_at_ms;
  // Votes only once in two node timeouts for replicas of the same primary, so that one failure does not cause two
  // elections. As in Valkey 8.1, a forced vote has no such limit: otherwise a second manual failover shortly after the
  // first would fail, and the primary would stay paused until the timeout.
  if (!is_forced && since_ms < parts_.core.TimeoutMs() * 2) {
    return StrCat("can't vote for any replica of ", candidate.primary->id.String(), " within ",
                  parts_.core.TimeoutMs() * 2 - since_ms, " milliseconds");
  }
  std::string objection;
  header.slots.ForEach([&](int slot) {
    const ClusterNode* owner = view.Owner(slot);
    if (!objection.empty() || owner == nullptr || owner->config_epoch <= header.config_epoch) return;
    objection =
        StrCat("slot ", slot, " epoch (", owner->config_epoch, ") > reqConfigEpoch (", header.config_epoch, ")");
  });
  return objection;
}

void Election::ReceiveVoteRequest(ClusterNode& candidate, const PacketHeader& header) {
  ClusterView& view = parts_.core.view;
  if (!view.me().IsPrimary() || view.me().slot_count == 0) return;
  const std::string name = candidate.LogName();
  const std::string objection = VoteRefusalReason(candidate, header);
  if (!objection.empty()) {
    parts_.core.log.Warning("Failover auth denied to " + name + ": " + objection);
    return;
  }
  view.last_vote_epoch = view.current_epoch;
  candidate.primary->voted_at_ms = parts_.core.NowMs();
  // Saves the vote before sending it. A node that forgets its vote in a crash could vote twice.
  view.RequestSave(ClusterView::Save::kNow);
  parts_.save();
  BusPacket packet;
  packet.header = parts_.bus.MakeHeader(PacketType::kVote);
  parts_.bus.Send(candidate, packet);
  parts_.core.log.Notice(StrCat("Failover auth granted to ", name, " for epoch ", view.current_epoch));
}

}  // namespace respite
