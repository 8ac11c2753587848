// ClusterMode: makes this server a node of a cluster if `cluster-enabled yes` is set. Without that setting, ClusterMode
// does nothing and costs nothing.
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

class ClusterMode {  // makes this server a cluster node if cluster-enabled is set
 public:
  ClusterMode(const Services& services, uint64_t random_seed);
  ~ClusterMode();
  ClusterMode(const ClusterMode&) = delete;
  ClusterMode& operator=(const ClusterMode&) = delete;

  // Locks nodes.conf and returns its content. If there is no nodes.conf, creates an empty one, and returns an empty
  // text. If the file cannot be locked or read, the error says why. Requires: cluster-enabled.
  Result<std::string, std::string> ReadNodesFile();  // locks nodes.conf, and returns its content; fails with the reason
  // Whether nodes.conf may be out of date. kOwn: it may, because it contains only what this node knew when it stopped.
  // kAgreed: it is not, because the files of all nodes agree (ClusterStartPlan).
  enum class NodesFileTrust : uint8_t { kOwn, kAgreed };
  // Creates the cluster node from `nodes_text`, the content of nodes.conf. From now on, requests for slots of other
  // nodes are refused. Returns the error if `nodes_text` is invalid. Requires: ReadNodesFile has succeeded; the server
  // listens for clients.
  std::optional<std::string> OpenWith(const std::string& nodes_text,  // creates the cluster node; or returns the error
                                      NodesFileTrust trust);
  // Reads nodes.conf with ReadNodesFile, and passes the text to OpenWith. Does nothing without cluster mode.
  std::optional<std::string> Open();  // makes the node from nodes.conf; returns the error if it failed
  // Listens on the bus, in the role that nodes.conf names. A primary first claims the slots that have loaded keys but
  // no owner. The next tick connects to the other nodes. Does nothing without cluster mode. Requires: the data was
  // loaded.
  std::optional<std::string> Start();  // listens on the cluster bus; returns nullopt, or the error

  void Close();  // the server ends: leaves the bus, and unlocks nodes.conf

  void ConnectToAll();  // connects to all nodes immediately, without waiting for the next tick

  Cluster* cluster() { return cluster_.get(); }  // the cluster node that this server is; null without cluster mode
  const Cluster* cluster() const { return cluster_.get(); }  // the node; null without cluster mode
  const ClusterRouter& router() const { return *router_; }   // decides where requests are served; cluster mode only
  SlotStats* slot_stats() { return slot_stats_.get(); }  // counters of CLUSTER SLOT-STATS; null without cluster mode

  void Tick();     // does the periodic work; called by the timer
  void EndTurn();  // after each turn: saves nodes.conf, sends packets, redirects blocked clients of lost slots
  void EndTurnDuringLongTask();  // saves nodes.conf and sends packets, but redirects no clients
  void ApplySettings();          // applies changed values of the directives cluster-…

 private:
  void SetReplicaofFromNodesFile();  // before loading: sets `replicaof` to this node's primary in nodes.conf
  void ClaimSlotsOfLoadedKeys();     // on a primary: claims unowned slots that have keys, marks others importing
  void RedirectBlockedClients();     // redirects blocked clients whose keys are now in slots of other nodes
  // Ends SSUBSCRIBE subscriptions in slots whose owner has changed, even if the new owner is in the same shard. As in
  // Redis, the clients get `sunsubscribe`, and must subscribe again.
  void DropLostShardChannels();  // ends SSUBSCRIBE subscriptions in slots whose owner has changed

  const Services& services_;    // the other parts of this server
  const uint64_t random_seed_;  // seed for random node ids and delays
  std::unique_ptr<ServerClusterHost> host_;
  std::unique_ptr<Cluster> cluster_;       // the node that this server is; null without cluster mode
  std::unique_ptr<ClusterRouter> router_;  // checks whether this node serves a request; null without cluster mode
  std::unique_ptr<SlotStats> slot_stats_;  // counters of CLUSTER SLOT-STATS; null without cluster mode
  std::string file_text_;                  // content of nodes.conf that ReadNodesFile returned
  bool is_started_ = false;                // Start has succeeded
  int64_t ticked_at_ms_ = 0;               // when Tick last did its work (monotonic real time)
};

}  // namespace respite
