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

class Election {
 public:
  struct Parts {
    const ClusterCore& core;
    Bus& bus;
    Gossip& gossip;
    MyRole& role;
    ManualFailover& manual;
    std::function<void()> save;  // on return, all changes that the view wants saved are on disk
  };
  explicit Election(const Parts& parts) : parts_(parts) {}

  // Called by the timer, and after each vote. Cost: some comparisons on a primary.
  void Continue();
  void ReceiveVote(const ClusterNode& voter, const PacketHeader& header);
  // Replaces the primary without checking for votes. Warns if the data here is not whole.
  void TakeOver();
  void Cancel() { at_ms_ = 0; }

  // Handles the request of another replica for this node's vote.
  void ReceiveRequest(ClusterNode& candidate, const PacketHeader& header);

 private:
  enum class Obstacle : uint8_t { kNone, kNoData, kDataAge, kDelay, kExpired, kVotes };

  bool IsWanted() const;
  bool IsDataTooOld() const;
  void Schedule();
  // Returns the number of replicas of the same primary with a larger offset.
  int Rank() const;
  void ApplyRank();
  void Ask();
  void Win();
  void Explain(Obstacle obstacle);
  int64_t LimitMs() const;
  // Returns why the candidate gets no vote; empty if it gets one.
  std::string Objection(const ClusterNode& candidate, const PacketHeader& header) const;

  const Parts parts_;
  int64_t at_ms_ = 0;  // when to request votes, or when that was done; 0: no election yet
  bool has_asked_ = false;
  std::set<NodeId> voters_;
  int rank_ = 0;
  uint64_t epoch_ = 0;
  Obstacle explained_ = Obstacle::kNone;
  int64_t explained_at_ms_ = 0;
};

}  // namespace respite
