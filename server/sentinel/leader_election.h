// LeaderElection: which Sentinel carries out a failover. Each votes once in an epoch, and the vote is on disk before it
// is told; so no two leaders of one epoch have a majority.
#pragma once

#include <cstdint>
#include <string>

#include "server/sentinel/sentinel_core.h"
#include "server/sentinel/sentinel_events.h"

namespace respite {

class LeaderElection {
 public:
  LeaderElection(const SentinelCore& core, SentinelEvents& events) : core_(core), events_(events) {}

  struct Vote {
    std::string leader;  // empty: nobody was voted for yet
    uint64_t epoch;      // in which that was
  };
  // `candidate` asks for our vote in `epoch`. It is the answer: our vote, which may be an older one for somebody else;
  // or none, if it could not be saved.
  Vote VoteFor(Primary& primary, uint64_t epoch, const std::string& candidate);
  // Who has the votes of a majority of all Sentinels, and of as many as the quorum says; empty: nobody. This Sentinel
  // votes, if it has not.
  std::string LeaderOf(Primary& primary, uint64_t epoch);

 private:
  const SentinelCore core_;
  SentinelEvents& events_;
  bool is_saved_ = true;  // the votes are on disk
};

}  // namespace respite
