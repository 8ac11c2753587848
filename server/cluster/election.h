// Election: a replica of a failed primary requests the votes of the other primaries, and replaces its primary after
// votes of a majority. Each primary votes once per epoch.
//
//   the primary fails ─► a delay: 0.5 s, a random part of 0.5 s, and 1 s for each replica with more data
//                     ─► FAILOVER_AUTH_REQUEST with a new epoch ─► votes of a majority ─► promotion
//                     ─► too late: again after four node timeouts
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "server/cluster/bus.h"
#include "server/cluster/cluster_core.h"
#include "server/cluster/gossip.h"
#include "server/cluster/manual_failover.h"
#include "server/cluster/my_role.h"

namespace respite {

class Election {  // by which a replica replaces its failed primary
 public:
  struct Parts {  // what the constructor takes
    const ClusterCore& core;
    Bus& bus;
    Gossip& gossip;
    MyRole& role;
    ManualFailover& manual;
    std::function<void()> save;  // on return, all changes that the view wants saved are on disk
  };
  explicit Election(const Parts& parts) : parts_(parts) {}

  // Called by the timer, and after each vote. Cost: some comparisons on a primary.
  void Continue();  // takes the next step of an election, if one is needed
  void ReceiveVote(const ClusterNode& voter, const PacketHeader& header);
  // Replaces the primary without asking for votes. Logs a warning if the data of this replica is not whole.
  void TakeOver();               // replaces the primary without checking for votes
  void Cancel() { at_ms_ = 0; }  // no election then

  void ReceiveVoteRequest(ClusterNode& candidate, const PacketHeader& header);  // for this node's vote

 private:
  enum class Obstacle : uint8_t { kNone, kNoData, kDataAge, kDelay, kExpired, kVotes };

  bool IsElectionNeeded() const;  // the primary is FAIL, or a manual failover can continue
  bool IsDataTooOld() const;      // cluster-replica-validity-factor
  void ScheduleVoteRequest();     // sets the delay
  // Returns the number of replicas of the same primary with a larger offset.
  int Rank() const;
  void UpdateRankAndDelay();  // adds delay if more replicas have more data by now
  void Ask();
  void Win();
  void LogObstacle(Obstacle obstacle);  // once, and again if it lasts
  int64_t VoteTimeoutMs() const;        // time for the votes to arrive
  std::string VoteRefusalReason(const ClusterNode& candidate, const PacketHeader& header) const;  // empty: it gets one

  const Parts parts_;        // from the constructor
  int64_t at_ms_ = 0;        // when to request votes, or when that was done; 0: no election yet
  bool has_asked_ = false;   // votes were requested
  std::set<NodeId> voters_;  // primaries that have voted for this node
  int rank_ = 0;
  uint64_t epoch_ = 0;                          // of the last request for votes
  Obstacle logged_obstacle_ = Obstacle::kNone;  // last logged
  int64_t obstacle_logged_at_ms_ = 0;           // when
};

}  // namespace respite
