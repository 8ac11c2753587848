// ClusterHost: the interface from the cluster to the server around it: data, role and clients. ServerClusterHost
// implements it; the simulation in tests has an implementation without data.
#pragma once

#include <cstdint>
#include <string>

#include "server/cluster/bus_packet.h"
#include "server/dataset/history.h"

namespace respite {

class ClusterView;

class ClusterHost {
 public:
  virtual ~ClusterHost() = default;

  // --- Replication.

  // The replication offset of this node.
  virtual int64_t Offset() const = 0;
  // Whether this replica receives its primary's stream. Only then can Offset() be compared with the primary's offset.
  virtual bool IsLinked() const = 0;
  // Age of this replica's data: the time since it last heard from its primary.
  virtual int64_t DataAgeMs() const = 0;
  // Whether the data of this replica is a state of its primary's history. If not, it must not be elected.
  virtual bool HasWholeData() const = 0;
  virtual void Follow(const std::string& ip, int port, History::Owner owner) = 0;
  virtual void Promote() = 0;

  // --- Data and clients.

  virtual bool HasKeysIn(int slot) const = 0;
  virtual bool HasKeys() const = 0;
  // May delete them later, if the node of this view does not own or import the slot then.
  virtual void DeleteKeysIn(int slot, const ClusterView& view) = 0;
  virtual void DeleteAllKeys() = 0;
  // Pauses writes of clients until ResumeWrites.
  virtual void PauseWrites() = 0;
  virtual void ResumeWrites() = 0;
  virtual void Deliver(PacketType type, const PublishBody& message) = 0;
  // Called when the owners of slots, or whether the cluster serves requests, may have changed.
  virtual void OnTopologyChanged() = 0;

  // Replaces nodes.conf. After a crash of the machine the former or the new file exists: with kSynced it is the new
  // one, and with kWritten it is the new one after a second. Returns false if that failed; the server ends then.
  enum class Durably : uint8_t { kWritten, kSynced };
  virtual bool Save(const ClusterView& view, Durably durably) = 0;
};

}  // namespace respite
