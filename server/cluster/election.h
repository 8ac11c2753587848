// Election: a replica of a failed primary requests the votes of the other primaries, and replaces its primary after
// votes of a majority. Each primary votes once per epoch.
//
//   the primary fails ─► a delay: 0.5 s, a random part of 0.5 s, and 1 s for each replica with more data
//                     ─► FAILOVER_AUTH_REQUEST with a new epoch ─► votes of a majority ─► promotion
//                     ─► no majority: again after four node timeouts (at least 4 s)
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

class Election {  // requests and counts the votes by which a replica replaces its failed primary
 public:
  struct Parts {  // the arguments of the constructor
    const ClusterCore& core;
    Bus& bus;
    Gossip& gossip;  // sends PONG to the other nodes
    MyRole& role;
    ManualFailover& manual_failover;  // tells whether CLUSTER FAILOVER wants an election
    std::function<void()> save;       // saves nodes.conf now, if RequestSave was called
  };
  explicit Election(const Parts& parts) : parts_(parts) {}

  // Takes the next step of an election, if this replica must replace its primary: schedules the request for votes,
  // requests the votes, or takes over after votes of a majority. Called by the timer.
  void Continue();  // takes the next step of an election, if one is needed
  void ReceiveVote(const ClusterNode& voter, const PacketHeader& header);  // counts a requested vote
  // Promotes this replica now, without asking for votes, and takes its primary's slots. Does nothing on a primary. Logs
  // a warning if this replica does not have all data.
  void TakeOver();  // promotes this replica now; takes its primary's slots
  // Returns whether this replica has the data to replace its primary in one of two cases: the primary requests a
  // failover (SHUTDOWN FAILOVER), or the primary says that it is now a replica of this node, so that no election is
  // needed. The data must be complete and not too old (cluster-replica-validity-factor), and must have come from the
  // primary since the start of the process. No other replica may have reported a larger offset.
  bool HasDataToReplacePrimary() const;       // true: the data is complete and recent, and no replica has more
  void Cancel() { vote_request_at_ms_ = 0; }  // ends an election that is planned or under way

  void ReceiveVoteRequest(ClusterNode& candidate, const PacketHeader& header);  // votes, if nothing forbids it

 private:
  enum class Obstacle : uint8_t {  // why this replica does not replace its primary, for the log
    kNone,
    kNoData,   // this replica does not have all data
    kDataAge,  // the data is too old (cluster-replica-validity-factor)
    kDelay,    // the time to request votes has not come
    kExpired,  // the votes did not come in time
    kVotes,    // votes are still missing
  };

  bool IsElectionNeeded() const;  // true: the primary is FAIL, or a manual failover asks for votes
  bool IsDataTooOld() const;      // the data is older than cluster-replica-validity-factor allows
  void ScheduleVoteRequest();     // decides when to request votes; sends the other replicas this replica's offset
  // Returns how many other replicas of the same primary have a larger offset. Ignores replicas with the flag
  // "nofailover".
  int Rank() const;
  void UpdateRankAndDelay();  // delays the vote request if more replicas have more data now
  void RequestVotes();        // asks all nodes for votes, in a new epoch; only primaries vote
  void WinIfStillNeeded();    // called at each tick with enough votes; usually wins at the second of these ticks
  void Win();                 // promotes this replica in the epoch of the votes
  void DropRequestOfPrimaryIfUnfit();   // ends a failover that the primary requested, if this replica is not fit
  void LogObstacle(Obstacle obstacle);  // logs why this replica is not promoted yet; the same reason once per 10 s
  int64_t VoteTimeoutMs() const;        // for how long this replica waits for votes
  std::string VoteRefusalReason(const ClusterNode& candidate,  // why this node refuses its vote; empty: it may vote
                                const PacketHeader& header) const;

  const Parts parts_;                 // the arguments of the constructor
  int64_t vote_request_at_ms_ = 0;    // when votes are requested, or were requested (Unix time); 0: no election
  bool has_requested_votes_ = false;  // votes were requested in this election
  std::set<NodeId> voters_;           // primaries that have voted for this node in this election
  int majority_ticks_ = 0;            // number of ticks of this election at which there were enough votes
  int64_t majority_at_ms_ = 0;        // when the last tick with enough votes was (Unix time)
  int rank_ = 0;                      // how many other replicas have more data
  uint64_t epoch_ = 0;                // epoch of the last vote request
  Obstacle logged_obstacle_ = Obstacle::kNone;  // the obstacle that was last logged
  int64_t obstacle_logged_at_ms_ = 0;           // when logged_obstacle_ was logged (Unix time)
};

}  // namespace respite
