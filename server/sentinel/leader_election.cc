#include "server/sentinel/leader_election.h"

#include <map>

#include "base/str_cat.h"

namespace respite {

namespace {

using Votes = std::map<std::string, int>;

// Returns the candidate with the most votes; if several have the most, the first by name; if there are no votes, an
// empty text.
std::string MostOf(const Votes& votes) {
  std::string winner;
  int most = 0;
  for (const auto& [candidate, count] : votes) {
    if (count <= most) continue;
    most = count;
    winner = candidate;
  }
  return winner;
}

}  // namespace

LeaderElection::Vote LeaderElection::VoteForLeader(Primary& primary, uint64_t epoch, const std::string& candidate) {
  SentinelState& state = core_.state;
  const bool is_new = epoch > state.current_epoch;
  if (is_new) state.current_epoch = epoch;
  const bool votes = primary.leader_epoch < epoch && state.current_epoch <= epoch;
  if (votes) {
    primary.leader = candidate;
    primary.leader_epoch = state.current_epoch;
  }
  // Saves the vote before it is sent. If it cannot be saved, returns no vote: after a crash, this Sentinel would not
  // know of the vote, and could vote again in this epoch.
  if (is_new || votes || !is_saved_) is_saved_ = core_.Save();
  if (is_new) events_.ReportPrimaryEvent(LogLevel::kWarning, "+new-epoch", primary, std::to_string(epoch));
  if (votes) {
    events_.ReportPrimaryEvent(LogLevel::kWarning, "+vote-for-leader", primary, StrCat(candidate, " ", epoch));
    // Delays this Sentinel's own next failover, so that the Sentinel that gets the vote has time to finish its
    // failover.
    if (!EqualsIgnoreCase(candidate, state.id)) primary.failover_start_ms = core_.NowMs() + core_.RandomDelayMs();
  }
  return is_saved_ ? Vote{primary.leader, primary.leader_epoch} : Vote{.leader = {}, .epoch = 0};
}

std::string LeaderElection::VoteAndFindLeader(Primary& primary, uint64_t epoch) {
  Votes votes;
  for (const auto& [id, sentinel] : primary.sentinels) {
    if (!sentinel->voted_for.empty() && sentinel->voted_in_epoch == epoch) {
      ++votes[sentinel->voted_for];
    }
  }
  const std::string favourite = MostOf(votes);
  const Vote own = VoteForLeader(primary, epoch, favourite.empty() ? core_.state.id : favourite);
  if (!own.leader.empty() && own.epoch == epoch) ++votes[own.leader];
  std::string winner = MostOf(votes);
  const int majority = (static_cast<int>(primary.sentinels.size()) + 1) / 2 + 1;
  if (winner.empty() || votes[winner] < majority || votes[winner] < primary.quorum) return {};
  return winner;
}

}  // namespace respite
