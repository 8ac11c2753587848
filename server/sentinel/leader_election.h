// LeaderElection: decides which Sentinel carries out a failover. For each primary, a Sentinel votes only once in an
// epoch, and saves the vote on disk before sending the vote. So at most one Sentinel has a majority in an epoch.
#pragma once

#include <cstdint>
#include <string>

#include "server/sentinel/sentinel_core.h"
#include "server/sentinel/sentinel_events.h"

namespace respite {

class LeaderElection {  // decides which Sentinel carries out a failover
 public:
  LeaderElection(const SentinelCore& core, SentinelEvents& events) : core_(core), events_(events) {}

  struct Vote {          // the last vote of this Sentinel about one primary
    std::string leader;  // id of the Sentinel that gets the vote; empty: no vote
    uint64_t epoch;      // epoch of the vote
  };
  // Votes for `candidate`, unless this Sentinel has already voted in this epoch, or knows a later epoch. A vote for
  // another Sentinel delays a failover by this one. Returns the last vote of this Sentinel, which may be for another
  // candidate or epoch. Returns an empty vote if the vote could not be saved.
  Vote VoteForLeader(Primary& primary, uint64_t epoch,  // votes for `candidate`, if allowed; returns the last vote
                     const std::string& candidate);
  // Counts the votes, and returns the id of the Sentinel that has the votes of a majority of all Sentinels, and at
  // least as many votes as the quorum. Returns an empty text if there is no such Sentinel. First gives this Sentinel's
  // own vote, if it has not voted in this epoch.
  std::string VoteAndFindLeader(Primary& primary, uint64_t epoch);  // votes, and counts all votes; empty: no leader

 private:
  const SentinelCore core_;
  SentinelEvents& events_;  // reports events in the log, on channels and to scripts
  bool is_saved_ = true;    // false: the last vote of this Sentinel could not be saved to disk
};

}  // namespace respite
