// InstanceList: who is watched: primaries, their replicas, and the other Sentinels. It adds, finds, and forgets them.
#pragma once

#include <string>

#include "server/sentinel/sentinel_core.h"
#include "server/sentinel/sentinel_events.h"

namespace respite {

class InstanceList {
 public:
  InstanceList(const SentinelCore& core, SentinelEvents& events) : core_(core), events_(events) {}

  template <class Type>
  using Added = Result<Type*, InstanceTrouble>;
  Added<Primary> AddPrimary(const std::string& name, const std::string& host, int port, int quorum);
  Added<WatchedReplica> AddReplica(Primary& primary, const std::string& host, int port);
  // Adds a replica that another server has named. At kMostReplicas it replaces the one that has been down longest; if
  // none is down, it adds nothing.
  Added<WatchedReplica> AddReportedReplica(Primary& primary, const std::string& host, int port);
  Added<PeerSentinel> AddSentinel(Primary& primary, const std::string& id, const std::string& host, int port,
                                  SentinelCore::Accept accept);

  // Makes room for another Sentinel, as AddReportedReplica does for a replica. Returns false if
  // all of them answer.
  bool MakeRoomForSentinel(Primary& primary);

  // Each returns null if there is no such instance. Cost: O(n); FindReplicaAt needs O(log n) if the replica has this
  // name.
  Primary* FindPrimaryAt(const std::string& host, int port) const;
  static WatchedReplica* FindReplicaAt(const Primary& primary, const std::string& host, int port);
  static PeerSentinel* FindSentinelAt(const Primary& primary, const std::string& host, int port);

  // Another Sentinel has moved: all primaries that know it learn its address.
  void MoveSentinel(const PeerSentinel& moved);
  // Another Sentinel is another one now.
  void ForgetSentinel(const std::string& id);

  enum class Sentinels : uint8_t { kForget, kKeep };
  // Forgets all that was learned about a primary.
  void Reset(Primary& primary, Sentinels sentinels);
  // The primary is elsewhere from now on; the former one becomes a replica. False: the name has no address.
  bool ChangeAddress(Primary& primary, const std::string& host, int port);
  void Remove(Primary& primary) { core_.state.primaries.erase(std::string(primary.name)); }

  // Logs in anew.
  void DropServerLinks(Primary& primary);
  void DropSentinelLinks();

 private:
  Added<WatchedReplica> AddReplicaAt(Primary& primary, SentinelAddress address);
  void ShareLink(PeerSentinel& sentinel);
  template <class Instances>
  bool MakeRoomIn(Instances& instances, size_t most) const;

  const SentinelCore core_;
  SentinelEvents& events_;
};

}  // namespace respite
