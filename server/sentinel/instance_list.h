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
  // As AddReplica, for what another server says. When kMostReplicas are known, one that is down makes room, or else
  // nothing is added: servers that answer are never given up for others.
  Added<WatchedReplica> AddHeardReplica(Primary& primary, const std::string& host, int port);
  Added<PeerSentinel> AddSentinel(Primary& primary, const std::string& id, const std::string& host, int port,
                                  SentinelCore::Accept accept);

  // Makes room for another Sentinel, as AddHeardReplica does for a replica. False: there is none.
  bool MakeRoomForSentinel(Primary& primary);

  // Null: there is none. Cost: O(log n) if it is known by this name, or else O(n).
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
