// ClusterMode: makes this server a node of a cluster if `cluster-enabled yes` is set. Otherwise it does nothing, and
// costs nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/late_bound.h"
#include "base/result.h"

namespace respite {

class Cluster;
class ClusterRouter;
class ServerClusterHost;
struct Services;
class SlotStats;

class ClusterMode {  // makes this server a node if cluster-enabled is set
 public:
  ClusterMode(const Services& services, uint64_t random_seed);
  ~ClusterMode();
  ClusterMode(const ClusterMode&) = delete;
  ClusterMode& operator=(const ClusterMode&) = delete;

  // Opens (or creates) and locks nodes.conf. Returns its content, which is empty if it was just created. Fails with the
  // reason. Requires: cluster-enabled.
  Result<std::string, std::string> ReadNodesFile();
  // How far the view at the start is trusted. kAgreed: it is known to agree with all other nodes.
  enum class Belief : uint8_t { kOwn, kAgreed };
  // Takes `nodes_text` as the content of nodes.conf, and routes requests from here on. Returns the reason if that
  // failed. Requires: ReadNodesFile has succeeded; the server listens for clients.
  std::optional<std::string> OpenWith(const std::string& nodes_text, Belief belief);
  // In cluster mode, calls ReadNodesFile, and OpenWith with its text. Otherwise does nothing.
  std::optional<std::string> Open();
  // Takes the role that nodes.conf names, and connects to the other nodes. Returns the reason if that failed.
  // Requires: the data was loaded.
  std::optional<std::string> Start();

  void Close();  // the server ends: leaves the bus, and unlocks nodes.conf

  void ConnectToAll();  // immediately, without waiting for the next tick

  Cluster* cluster() { return cluster_.get(); }  // null without cluster mode
  const Cluster* cluster() const { return cluster_.get(); }
  const ClusterRouter& router() const { return *router_; }  // requires: cluster mode
  SlotStats* slot_stats() { return slot_stats_.get(); }     // null without cluster mode

  // Called by the timer, and at the end of each turn.
  void Tick();
  void EndTurn();                // saves, sends, and redirects clients whose slots were lost
  void EndTurnDuringLongTask();  // only saves and sends
  void ReadSettings();           // after a change of a directive cluster-*

 private:
  void SetReplicaofFromNodesFile();  // before the data is loaded
  void ClaimSlotsOfLoadedKeys();     // if no node owns them
  void RedirectBlockedClients();     // redirects clients that wait for keys in slots of other nodes
  // Ends subscriptions to shard channels in slots that another node owns now, even a node of this shard, and tells the
  // clients. Redis: the clients must subscribe again.
  void DropLostShardChannels();

  const Services& services_;
  const uint64_t random_seed_;  // of ids and delays
  std::unique_ptr<ServerClusterHost> host_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<ClusterRouter> router_;
  std::unique_ptr<SlotStats> slot_stats_;
  std::string file_text_;     // the content that ReadNodesFile found
  bool is_started_ = false;   // Start has succeeded
  int64_t ticked_at_ms_ = 0;  // when Tick last did something
};

}  // namespace respite
