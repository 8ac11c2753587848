// InstanceList: adds, finds and removes watched primaries, their replicas, and other Sentinels.
#pragma once

#include <string>

#include "server/sentinel/sentinel_core.h"
#include "server/sentinel/sentinel_events.h"

namespace respite {

class InstanceList {  // adds, finds and removes watched primaries, their replicas, and Sentinels
 public:
  InstanceList(const SentinelCore& core, SentinelEvents& events) : core_(core), events_(events) {}

  template <class Type>
  using Added = Result<Type*, InstanceError>;
  Added<Primary> AddPrimary(const std::string& name,  // watches a primary; fails if name known, or address invalid
                            const std::string& host, int port, int quorum);
  Added<WatchedReplica> AddReplica(Primary& primary,  // adds a replica, without limit; fails if known or invalid
                                   const std::string& host, int port);
  // Adds a replica that INFO of `primary` lists. The new replica replaces the one that has been down longest if there
  // are kMaxReplicas already. In this case, fails if none of them is down, or during a failover.
  Added<WatchedReplica> AddReportedReplica(Primary& primary,  // adds a replica that INFO of `primary` lists
                                           const std::string& host, int port);
  Added<PeerSentinel> AddSentinel(Primary& primary,  // adds another Sentinel; fails if invalid or known
                                  const std::string& id, const std::string& host, int port,
                                  SentinelCore::Accept accept);

  bool MakeRoomForSentinel(Primary& primary);  // if full, removes the Sentinel down longest; false: full, none down

  // Cost of the three Find functions: O(n); FindReplicaAt takes O(log n) if the replica has this address as its name.
  Primary* FindPrimaryAt(const std::string& host,  // the primary with this address; null: none
                         int port) const;
  static WatchedReplica* FindReplicaAt(const Primary& primary,  // the replica with this address; null: none
                                       const std::string& host, int port);
  static PeerSentinel* FindSentinelAt(const Primary& primary,  // the Sentinel with this address; null: none
                                      const std::string& host, int port);

  // Updates a Sentinel that has moved: copies the new address from `moved` to its entries at all other primaries, and
  // closes the links to it.
  void UpdateSentinelAddress(const PeerSentinel& moved);  // updates a moved Sentinel's entry at all primaries
  void ForgetSentinel(const std::string& id);             // removes the Sentinel with this ID from all primaries

  enum class Sentinels : uint8_t { kForget, kKeep };  // what Reset does with the other Sentinels of the primary
  void Reset(Primary& primary, Sentinels sentinels);  // clears state and replicas, with kForget also Sentinels
  // Gives the primary a new address, and saves the configuration file. The server at the former address is then listed
  // as a replica, in addition to the other replicas. All other state of the primary is cleared, as by Reset. Returns
  // false, and changes nothing, if `host` does not resolve.
  bool ChangeAddress(Primary& primary,  // moves the primary to host:port; false: `host` does not resolve
                     const std::string& host, int port);
  void Remove(Primary& primary) {  // stops watching the primary
    core_.state.primaries.erase(std::string(primary.name));
  }

  void DropServerLinks(Primary& primary);  // closes links to the primary and its replicas; a later tick logs in again
  void DropSentinelLinks();                // closes links to all other Sentinels; a later tick logs in again

 private:
  Added<WatchedReplica> AddReplicaAt(Primary& primary, SentinelAddress address);  // adds it; fails if already known
  void ShareLink(PeerSentinel& sentinel);  // uses the link to this Sentinel that exists for another primary, if any
  template <class Instances>
  bool MakeRoomForInstance(Instances& instances,  // if full, removes the instance down longest; false: full, none down
                           size_t max_count) const;

  const SentinelCore core_;
  SentinelEvents& events_;  // reports events in the log, on channels and to scripts
};

}  // namespace respite
