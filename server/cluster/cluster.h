// Cluster: this server as a node of a Redis Cluster: it keeps in touch with the others (Gossip), notices who is down
// (FailureDetector), agrees on who owns which slot (SlotClaims), and lets replicas take the place of primaries that
// failed (Election) or are asked to step back (ManualFailover). What it believes is the ClusterView.
//
//   Network ─► BusLink ─► Bus ─► Cluster::OnPacket ─► Gossip, FailureDetector, SlotClaims, Election, ManualFailover
//                          ▲                                         │
//                          └──────────────── packets ◄───────────────┴──► ClusterView ─► commands, nodes.conf
//
// It does no I/O of its own: time comes from a Pace, connections from a Network, data and clients are behind a
// ClusterHost. So a test runs a thousand of them in one thread without waiting.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/late_bound.h"
#include "server/cluster/bus.h"
#include "server/cluster/cluster_core.h"
#include "server/cluster/cluster_health.h"
#include "server/cluster/cluster_view.h"
#include "server/cluster/election.h"
#include "server/cluster/failure_detector.h"
#include "server/cluster/gossip.h"
#include "server/cluster/manual_failover.h"
#include "server/cluster/my_role.h"
#include "server/cluster/nodes_text.h"
#include "server/cluster/replica_migration.h"
#include "server/cluster/slot_claims.h"

namespace respite {

class Cluster final : public Bus::User {
 public:
  struct Parts {
    const Settings& settings;
    const Pace& pace;
    int64_t wall_ms;  // now
    Logger& log;
    uint64_t random_seed;
    const LateBound<Network>& network;
    ClusterHost& host;
  };
  // `file_text` is what nodes.conf has; empty: a new node. Fails with the reason.
  static Result<std::unique_ptr<Cluster>, std::string> Make(const Parts& parts, Bytes file_text);
  Cluster(const Parts& parts, std::unique_ptr<ClusterView> view, Random random);

  // The view of the file is known to be that of all nodes: requests are served from the start on.
  void Trust() { health_.Trust(); }
  // Listens, and takes up the role that the file names. Returns why that failed.
  std::optional<std::string> Start();
  // Dials all nodes that are not linked, as the next tick would.
  void ReachAll();
  // Whether the links to all nodes with an address are open.
  bool HasReachedAll() const;
  // Ten times a second.
  void Tick();
  // Saves what has changed, then sends the packets of the Turn, and tells the host.
  void EndTurn();
  // The first two, in the middle of a Turn that takes long.
  void SaveAndSend();
  // Directives that announce something have changed.
  void ReadSettings();

  // --- What operators ask for (CLUSTER …). False or null: it is not possible; the caller has checked why.

  bool Meet(const NodeAddress& address) { return gossip_.Greet(address); }
  void Forget(ClusterNode& node);
  bool HasForgotten(const NodeId& id) { return gossip_.IsForgotten(id); }
  // Requires: a primary that is not this node.
  void Replicate(ClusterNode& primary);
  void AddSlots(const SlotSet& slots);
  void DeleteSlots(const SlotSet& slots);
  // CLUSTER SETSLOT … NODE.
  void GiveSlot(int slot, ClusterNode& owner);
  enum class FailoverMode : uint8_t { kAsk, kForce, kTakeOver };
  void FailOver(FailoverMode mode);
  // The slots, which are another node's, are ours from now on: their keys are here. Returns the epoch of the claim.
  uint64_t TakeSlots(const SlotSet& slots);
  // A node has told us that it has taken these slots of ours with this epoch, before the bus did. If we have forgotten
  // the node, nobody owns them for now.
  void ReceiveTakeover(const NodeId& id, uint64_t epoch, const SlotSet& taken);
  enum class ResetMode : uint8_t { kSoft, kHard };
  void Reset(ResetMode mode);
  bool BumpEpoch() { return claims_.BumpEpoch(); }
  void SetEpoch(uint64_t epoch);
  int CountFailureReports(ClusterNode& node) { return failures_.CountReports(node); }
  void SaveNow();
  // PUBLISH to all nodes, SPUBLISH to those of the shard.
  void Publish(PacketType type, Bytes channel, Bytes message);

  ClusterView& view() { return *view_; }
  const ClusterView& view() const { return *view_; }
  Bus& bus() { return bus_; }
  const Bus& bus() const { return bus_; }
  int suspects() const { return failures_.suspects(); }
  PortChoice port_choice() const { return core_.settings.tls_cluster ? PortChoice::kTls : PortChoice::kTcp; }

  // Bus::User
  void OnReached(BusLink& link) override;
  void OnPacket(BusLink& link, const BusPacket& packet) override;

 private:
  void Save(ClusterHost::Durably durably);
  ClusterNode* SenderOf(const BusLink& link, const PacketHeader& header);
  void NoteSender(ClusterNode& sender, const PacketHeader& header);
  // PING, PONG and MEET.
  void OnPing(BusLink& link, ClusterNode* sender, const BusPacket& packet);
  void LearnMyIp(const BusLink& link);
  void AddStranger(const BusLink& link, const PacketHeader& header);
  // A PONG, or the first answer, of the node that we dialed. Null: nothing more is made of the packet.
  ClusterNode* OnAnswer(BusLink& link, ClusterNode* sender, const PacketHeader& header);
  ClusterNode* EndHandshake(ClusterNode& node, ClusterNode* known, const BusLink& link, const PacketHeader& header);
  void NotePong(ClusterNode& node);
  void UpdateAddress(ClusterNode& node, const BusLink& link, const PacketHeader& header);
  void UpdateRole(ClusterNode& sender, const PacketHeader& header);
  // Our primary says that it follows us.
  void OnCircle();
  // Our primary follows somebody itself: so do we.
  void LeaveChain();
  NodeAddress AddressOf(const BusLink& link, const PacketHeader& header) const;
  void OnOther(ClusterNode& sender, const BusPacket& packet);
  void PingSomebody();
  // This node follows another primary than before: all hear of it now, not with the next PING.
  void TellNewPrimary();
  void CheckNode(ClusterNode& node);
  void SetMyAddress();
  void SetNoFailover();

  BusClock clock_;
  Random random_;
  std::unique_ptr<ClusterView> view_;
  ClusterCore core_;
  Bus bus_;
  FailureDetector failures_;
  Gossip gossip_;
  MyRole role_;
  SlotClaims claims_;
  ManualFailover manual_;
  Election election_;
  ReplicaMigration migration_;
  ClusterHealth health_;
  int64_t ticks_ = 0;
  int64_t circle_since_ms_ = 0;  // 0: none
  uint64_t told_version_ = 0;    // of the view, to the host
  NodeId told_primary_;          // whom others know that this node follows; null: nobody
  int64_t told_at_ms_ = 0;
};

}  // namespace respite
