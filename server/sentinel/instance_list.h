// InstanceList: adds, finds and removes watched primaries, their replicas, and other Sentinels.
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
  // Adds a replica that another server has reported. At kMostReplicas it replaces the one that has been down longest;
  // if none is down, it adds nothing.
  Added<WatchedReplica> AddReportedReplica(Primary& primary, const std::string& host, int port);
  Added<PeerSentinel> AddSentinel(Primary& primary, const std::string& id, const std::string& host, int port,
                                  SentinelCore::Accept accept);

  // Makes room for another Sentinel by removing the longest-down one. Returns false if it is full and none is down.
  bool MakeRoomForSentinel(Primary& primary);

  // Each returns null if there is no such instance. Cost: O(n); FindReplicaAt takes O(log n) if the replica has this
  // name.
  Primary* FindPrimaryAt(const std::string& host, int port) const;
  static WatchedReplica* FindReplicaAt(const Primary& primary, const std::string& host, int port);
  static PeerSentinel* FindSentinelAt(const Primary& primary, const std::string& host, int port);

  // Gives the new address of a Sentinel to all primaries that know it.
  void MoveSentinel(const PeerSentinel& moved);
  // Removes a Sentinel from all primaries, because its address belongs to another one now.
  void ForgetSentinel(const std::string& id);

  enum class Sentinels : uint8_t { kForget, kKeep };
  // Forgets everything that was learned about a primary.
  void Reset(Primary& primary, Sentinels sentinels);
  // Sets a new address; the former primary becomes a replica. Returns false if the name does not resolve.
  bool ChangeAddress(Primary& primary, const std::string& host, int port);
  void Remove(Primary& primary) { core_.state.primaries.erase(std::string(primary.name)); }

  // DropServerLinks and DropSentinelLinks close links, so that the new links log in again.
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
