// InstanceList: adds, finds and removes watched primaries, their replicas, and other Sentinels.
#pragma once

#include <string>

#include "server/sentinel/sentinel_core.h"
#include "server/sentinel/sentinel_events.h"

namespace respite {

class InstanceList {  // adds, finds and removes watched instances
 public:
  InstanceList(const SentinelCore& core, SentinelEvents& events) : core_(core), events_(events) {}

  template <class Type>
  using Added = Result<Type*, InstanceError>;
  Added<Primary> AddPrimary(const std::string& name, const std::string& host, int port, int quorum);
  Added<WatchedReplica> AddReplica(Primary& primary, const std::string& host, int port);
  // Adds a replica that another server has reported. At kMaxReplicas it replaces the one that has been down longest;
  // if none is down, it adds nothing.
  Added<WatchedReplica> AddReportedReplica(Primary& primary, const std::string& host, int port);
  Added<PeerSentinel> AddSentinel(Primary& primary, const std::string& id, const std::string& host, int port,
                                  SentinelCore::Accept accept);

  bool RemoveDownSentinelIfFull(Primary& primary);  // the one that is down longest; false: full, and none is down

  // Each returns null if there is no such instance. Cost: O(n); FindReplicaAt takes O(log n) if the replica has this
  // name.
  Primary* FindPrimaryAt(const std::string& host, int port) const;
  static WatchedReplica* FindReplicaAt(const Primary& primary, const std::string& host, int port);
  static PeerSentinel* FindSentinelAt(const Primary& primary, const std::string& host, int port);

  void UpdateSentinelAddress(const PeerSentinel& moved);  // at all primaries that know it
  // Removes a Sentinel from all primaries, because its address belongs to another one now.
  void ForgetSentinel(const std::string& id);

  enum class Sentinels : uint8_t { kForget, kKeep };
  // Forgets everything that was learned about a primary.
  void Reset(Primary& primary, Sentinels sentinels);  // forgets what was learned
  // Sets a new address; the former primary becomes a replica. Returns false if the name does not resolve.
  bool ChangeAddress(Primary& primary, const std::string& host, int port);
  void Remove(Primary& primary) { core_.state.primaries.erase(std::string(primary.name)); }

  void DropServerLinks(Primary& primary);  // so that new links log in again
  void DropSentinelLinks();                // so that new links log in again

 private:
  Added<WatchedReplica> AddReplicaAt(Primary& primary, SentinelAddress address);
  void ShareLink(PeerSentinel& sentinel);  // with its entry at another primary, if there is one
  template <class Instances>
  bool RemoveLongestDownIfFull(Instances& instances, size_t max_count) const;  // false: full, and none is down

  const SentinelCore core_;
  SentinelEvents& events_;
};

}  // namespace respite
