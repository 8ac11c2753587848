// ClusterMode: `cluster-enabled yes`: makes this server a node of a cluster. Without the directive it does nothing, and
// costs nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/late_bound.h"
#include "base/result.h"

namespace respite {

class CallObservers;
class Cluster;
class ClusterRouter;
class Network;
struct CurrentExecution;
class ServerClusterHost;
struct Services;
class SlotRouter;
class SlotStats;

class ClusterMode {
 public:
  struct Parts {
    const Services& services;
    const LateBound<Network>& network;
    LateBound<const SlotRouter>& router;
    CallObservers& observers;
    const CurrentExecution& current_execution;
    uint64_t random_seed;
  };
  explicit ClusterMode(const Parts& parts);
  ~ClusterMode();
  ClusterMode(const ClusterMode&) = delete;
  ClusterMode& operator=(const ClusterMode&) = delete;

  // Reads nodes.conf, which nobody else may use from now on. Empty: there is none. Fails with the reason. Requires:
  // cluster-enabled.
  Result<std::string, std::string> ReadFile();
  // What the node believes at its start. kAgreed: and all other nodes as well.
  enum class Belief : uint8_t { kOwn, kAgreed };
  // Takes this text as that of nodes.conf. From here on requests are routed. Returns why that failed. Requires:
  // ReadFile has succeeded; listens for clients.
  std::optional<std::string> OpenWith(const std::string& text, Belief belief);
  // Both, with the text of the file, in cluster mode; else nothing.
  std::optional<std::string> Open();
  // Takes up the role of the file, and connects to the others, when the data was loaded. Returns why that failed.
  std::optional<std::string> Start();

  // The server ends: leaves the bus, before the event loop goes, and nodes.conf to others.
  void Close();

  // Dials the others at once, not at the next tick.
  void ReachAll();

  // Null without cluster mode.
  Cluster* cluster() { return cluster_.get(); }
  const Cluster* cluster() const { return cluster_.get(); }
  const ClusterRouter& router() const { return *router_; }
  SlotStats* slot_stats() { return slot_stats_.get(); }

  // For the timer and the ends of Turns.
  void Tick();
  void EndTurn();
  // In the middle of a Turn that takes long.
  void EndTurnDuringLongTask();
  // A directive cluster-* has changed.
  void ReadSettings();

 private:
  void PrepareToFollow();
  void ClaimKeys();
  // Clients that wait for keys of slots that another node has now are sent there.
  void SendOnWaiting();
  // Ends subscriptions to shard channels whose slot another node has now, also one of the same shard: the client must
  // subscribe again, as in Redis. Tells the clients.
  void DropLostChannels();

  const Parts parts_;
  std::unique_ptr<ServerClusterHost> host_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<ClusterRouter> router_;
  std::unique_ptr<SlotStats> slot_stats_;
  std::string file_text_;  // as ReadFile found it
  bool is_started_ = false;
  int64_t ticked_at_ms_ = 0;
};

}  // namespace respite
