// ClusterCore: references to what all parts of a cluster node share, such as the settings. BusClock: the clock of the
// cluster bus. ClusterHost: the interface from a cluster node to its server.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/late_bound.h"
#include "base/log.h"
#include "base/random.h"
#include "base/real_clock.h"
#include "server/cluster/bus_packet.h"
#include "server/cluster/cluster_view.h"
#include "server/config/settings.h"
#include "server/dataset/history.h"
#include "server/net/link.h"

namespace respite {

// A BusClock shows Unix time, because packets of the cluster bus contain it. It starts with the time of the wall clock,
// and then adds the time that a RealClock (a monotonic clock) measures. So it does not go back when the wall clock is
// set back.
class BusClock {  // Unix time that never goes back, for packets and timeouts of the cluster bus
 public:
  BusClock(const RealClock& real_clock, int64_t wall_ms)
      : real_clock_(real_clock), origin_ms_(wall_ms - real_clock.NowMs()) {}

  int64_t NowMs() const { return origin_ms_ + real_clock_.NowMs(); }  // milliseconds since 1970; never goes back

 private:
  const RealClock& real_clock_;  // real time from an arbitrary origin; never goes back
  const int64_t origin_ms_;      // BusClock time minus RealClock time, in ms
};

// The interface from the cluster to the server around it: data, role and clients. ServerClusterHost implements it; the
// simulation in tests has an implementation without data.
class ClusterHost {  // interface to the server around a cluster node: its data, role and clients
 public:
  virtual ~ClusterHost() = default;

  // --- Replication.

  virtual int64_t Offset() const = 0;  // this node's replication offset, by which elections compare replicas
  // Called if the config epoch of the primary has grown while this replica was not linked. The primary may have been
  // replaced and elected again meanwhile, so it may lack the end of the data here.
  virtual void HandleNewEpochOfPrimary() = 0;  // until the link is up, elections prefer linked replicas
  // Returns whether this replica receives its primary's stream now. Without the stream, Offset() must not be compared
  // with the primary's offset.
  virtual bool IsLinked() const = 0;  // true: this replica receives its primary's stream now
  // Returns the age of this node's data in ms. While the link to the primary is up, this is the time since its last
  // input; otherwise the time since a link to a primary with the same replication history was up. Returns nullopt if no
  // such link was up since the process started, so the data is from a file.
  virtual std::optional<int64_t> DataAgeMs() const = 0;  // ms since the link's last input or end; nullopt: never linked
  virtual bool HasWholeData() const = 0;                 // false: data is incomplete, this replica must not be elected
  // Makes this server a replica of ip:port. `shared_until` is the replication offset up to which the primary has the
  // same history as this server; nullopt: unknown, because the primary may have another history.
  virtual void Follow(const std::string& ip, int port,  // makes this server a replica of ip:port
                      std::optional<int64_t> shared_until) = 0;
  virtual void Promote() = 0;  // makes this server a primary

  // --- Data and clients.

  virtual bool HasKeysInSlot(int slot) const = 0;  // whether any database has a key of this slot
  virtual bool HasKeys() const = 0;                // whether any database has a key
  // Deletes the keys of the slot now, or after a load or slow script that runs now. Does nothing if by then, as `view`
  // says, this node owns or imports the slot.
  virtual void DeleteKeysInSlot(int slot,  // deletes the slot's keys, unless the slot is owned or imported here
                                const ClusterView& view) = 0;
  virtual void DeleteAllKeys() = 0;  // deletes all keys, and begins a new replication history
  // Runs a task that changes data. While a snapshot of the primary loads or a slow script runs, packets of the bus are
  // handled, but the data must not change. The task then waits until the load or the script has ended.
  virtual void RunNowOrAfterLongTask(std::function<void()> task) = 0;  // runs it now, or after a load or slow script
  virtual bool IsInLongTask() const = 0;                               // true: a load or a slow script runs
  virtual void PauseWrites() = 0;                                      // keeps clients from writing until ResumeWrites
  virtual void ResumeWrites() = 0;                                     // lets clients write again, after PauseWrites
  virtual void Deliver(PacketType type, const PublishBody& message) = 0;  // publishes to this server's clients
  // Called when a slot may have another owner, or cluster_state may have changed from fail to ok or back.
  virtual void OnTopologyChanged() = 0;  // called when slots or cluster_state may have changed

  enum class Durably : uint8_t { kWritten, kSynced };  // kSynced: fsync before Save returns
  // Replaces nodes.conf. A crash of the machine leaves either the old or the new file. With kSynced, the new file is
  // safe when Save returns; with kWritten, about a second later. Returns false if nodes.conf could not be replaced. The
  // server ends then, and must send no more packets.
  virtual bool Save(const ClusterView& view, Durably durably) = 0;  // writes nodes.conf; false: failed, the server ends
};

struct ClusterCore {         // references to what all parts of a cluster node use: settings, clock, network, view …
  const Settings& settings;  // the directives of this server
  const BusClock& clock;     // Unix time that never goes back
  Logger& log;
  Random& random;                     // for random ids and delays
  const LateBound<Network>& network;  // makes and accepts connections
  ClusterHost& host;
  ClusterView& view;

  int64_t NowMs() const { return clock.NowMs(); }                      // Unix time that never goes back
  int64_t TimeoutMs() const { return settings.cluster_node_timeout; }  // cluster-node-timeout, in ms
};

}  // namespace respite
