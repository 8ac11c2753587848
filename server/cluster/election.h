// Election: a replica of a failed primary asks the other primaries for their votes, and takes the place of its primary
// with those of a majority. Each primary votes once per epoch.
//
//   the primary fails ─► a delay: half a second, up to as much by chance, and a second for each replica with more data
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
    std::function<void()> save;  // what the view wants to be saved is on disk when it returns
  };
  explicit Election(const Parts& parts) : parts_(parts) {}

  // For the timer, and the ends of Turns in which something happened. Cost: some compares on a primary.
  void Continue();
  void ReceiveVote(const ClusterNode& voter, const PacketHeader& header);
  // Takes the place of the primary, whoever agrees. Warns if the data here is not whole.
  void TakeOver();
  void Cancel() { at_ms_ = 0; }

  // Another replica asks for our vote.
  void ReceiveRequest(ClusterNode& candidate, const PacketHeader& header);

 private:
  enum class Obstacle : uint8_t { kNone, kNoData, kDataAge, kDelay, kExpired, kVotes };

  bool IsWanted() const;
  bool IsDataTooOld() const;
  void Schedule();
  // Replicas of the same primary that have more of its history.
  int Rank() const;
  void ApplyRank();
  void Ask();
  void Win();
  void Explain(Obstacle obstacle);
  int64_t LimitMs() const;
  // Why the candidate gets no vote; empty: it does.
  std::string Objection(const ClusterNode& candidate, const PacketHeader& header) const;

  const Parts parts_;
  int64_t at_ms_ = 0;  // when to ask, or when we did; 0: no election yet
  bool has_asked_ = false;
  std::set<NodeId> voters_;
  int rank_ = 0;
  uint64_t epoch_ = 0;
  Obstacle explained_ = Obstacle::kNone;
  int64_t explained_at_ms_ = 0;
};

}  // namespace respite
