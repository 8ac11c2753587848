// ClusterHost: what the cluster asks of the server around it: its data, its role, its clients. ServerClusterHost
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

  // The end of the history here.
  virtual int64_t Offset() const = 0;
  // Whether this replica hears the stream of its primary: only then Offset() is comparable with the primary's.
  virtual bool IsLinked() const = 0;
  // How old the data of this replica is: the time since its primary was heard.
  virtual int64_t DataAgeMs() const = 0;
  // Whether the data of this replica is a state of its primary's history. If not, it must not be elected.
  virtual bool HasWholeData() const = 0;
  virtual void Follow(const std::string& ip, int port, History::Owner owner) = 0;
  virtual void Promote() = 0;

  // --- Data and clients.

  virtual bool HasKeysIn(int slot) const = 0;
  virtual bool HasKeys() const = 0;
  virtual void DeleteKeysIn(int slot) = 0;
  virtual void DeleteAllKeys() = 0;
  // Holds writes back until they are released.
  virtual void PauseWrites() = 0;
  virtual void ResumeWrites() = 0;
  virtual void Deliver(PacketType type, const PublishBody& message) = 0;
  // Who owns slots, or whether the cluster serves requests, may have changed.
  virtual void OnTopologyChanged() = 0;

  // Replaces nodes.conf. A crash of the machine leaves the former file or this one; kSynced: this one; kWritten: this
  // one a second later. False: it failed, and the server ends.
  enum class Durably : uint8_t { kWritten, kSynced };
  virtual bool Save(const ClusterView& view, Durably durably) = 0;
};

}  // namespace respite
