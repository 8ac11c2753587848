// Cluster: this server as a node of a Redis Cluster. It stays in touch with the other nodes (Gossip), and detects
// failed nodes (FailureDetector). It agrees on the owners of slots (SlotClaims), and lets replicas replace primaries
// that failed (Election) or that an operator replaces (ManualFailover). ClusterView holds this node's knowledge.
//
//   Network ─► BusLink ─► Bus ─► Cluster::OnPacket ─► Gossip, FailureDetector, SlotClaims, Election, ManualFailover
//                          ▲                                         │
//                          └──────────────── packets ◄───────────────┴──► ClusterView ─► commands, nodes.conf
//
// It does no I/O of its own: time comes from a Pace, connections from a Network, data and clients from a ClusterHost.
// So a test can run a thousand nodes in one thread without waiting.
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
  struct Parts {  // what the constructor takes
    const Settings& settings;
    const Pace& pace;
    int64_t wall_ms;  // wall clock at the start
    Logger& log;
    uint64_t random_seed;  // of ids and delays
    const LateBound<Network>& network;
    ClusterHost& host;
  };
  // Creates the cluster. `file_text` is the content of nodes.conf; empty for a new node. Fails with the reason.
  static Result<std::unique_ptr<Cluster>, std::string> Make(const Parts& parts, Bytes file_text);
  Cluster(const Parts& parts, std::unique_ptr<ClusterView> view, Random random);

  // Declares that nodes.conf is known to agree with all nodes, so requests are served from the start.
  void TrustNodesFile() { health_.TrustNodesFile(); }
  // Listens, and takes the role that nodes.conf names. Returns the reason if that failed.
  std::optional<std::string> Start();
  void ConnectToAll();                 // all nodes without a link, as the next tick would
  bool IsConnectedToAllNodes() const;  // the links to all nodes with an address are open
  // Called ten times a second.
  void Tick();
  void EndTurn();       // saves changes, sends queued packets, and tells the host of a new topology
  void SaveAndSend();   // like EndTurn, in the middle of a long turn
  void ReadSettings();  // after a change of directives that this node announces

  // --- Commands of operators (CLUSTER …). The caller has checked that they are possible. Meet returns false for an
  // invalid address, and BumpEpoch if nothing changes.

  bool Meet(const NodeAddress& address) { return gossip_.MeetNode(address); }
  void Forget(ClusterNode& node);  // CLUSTER FORGET
  bool HasForgotten(const NodeId& id) { return gossip_.IsForgotten(id); }
  void Replicate(ClusterNode& primary);         // CLUSTER REPLICATE; `primary` is another node
  void AddSlots(const SlotSet& slots);          // CLUSTER ADDSLOTS: this node owns them now
  void DeleteSlots(const SlotSet& slots);       // CLUSTER DELSLOTS: they have no owner now
  void GiveSlot(int slot, ClusterNode& owner);  // CLUSTER SETSLOT … NODE
  enum class FailoverMode : uint8_t { kAsk, kForce, kTakeOver };
  void FailOver(FailoverMode mode);  // CLUSTER FAILOVER, on a replica
  // Claims these slots of another node, because their keys are here now.
  uint64_t TakeSlots(const SlotSet& slots);  // returns the epoch of the claim
  // Node `id` took the slots and told so in its reply to CLUSTER SYNCSLOTS TAKEOVER, before its claim with this epoch
  // arrives on the bus. If this node has forgotten node `id`, the slots get no owner for now. Their keys are then
  // deleted here.
  void ReceiveTakeover(const NodeId& id, uint64_t epoch, const SlotSet& taken);  // node `id` owns them now
  enum class ResetMode : uint8_t { kSoft, kHard };
  void Reset(ResetMode mode);                       // CLUSTER RESET
  bool BumpEpoch() { return claims_.BumpEpoch(); }  // CLUSTER BUMPEPOCH
  void SetEpoch(uint64_t epoch);                    // CLUSTER SET-CONFIG-EPOCH
  int CountFailureReports(ClusterNode& node) { return failures_.CountReports(node); }
  void SaveNow();  // saves nodes.conf, if it has changed
  // Sends PUBLISH to all nodes, and SPUBLISH to the nodes of this shard.
  void Publish(PacketType type, Bytes channel, Bytes message);

  ClusterView& view() { return *view_; }
  const ClusterView& view() const { return *view_; }
  Bus& bus() { return bus_; }
  const Bus& bus() const { return bus_; }
  int pfail_count() const { return failures_.pfail_count(); }
  PortChoice port_choice() const { return core_.settings.tls_cluster ? PortChoice::kTls : PortChoice::kTcp; }

  // Bus::User
  void OnLinkConnected(BusLink& link) override;                    // sends the first packet
  void OnPacket(BusLink& link, const BusPacket& packet) override;  // applies it

 private:
  void Save(ClusterHost::Durably durably);
  ClusterNode* IdentifySender(BusLink& link, const PacketHeader& header);       // null: unknown
  void UpdateEpochsAndOffset(ClusterNode& sender, const PacketHeader& header);  // from a packet of the sender
  void HandlePingPongOrMeet(BusLink& link, ClusterNode* sender, const BusPacket& packet);
  void LearnMyIp(const BusLink& link);  // the address to which another node has connected
  void BeginHandshakeWithSender(const BusLink& link, const PacketHeader& header);  // of a MEET, if it is unknown
  // Handles a PONG, or the first answer, of a node to which this one has connected. Returns null if the rest of the
  // packet must be ignored.
  ClusterNode* HandleAnswerFromNode(BusLink& link, ClusterNode* sender, const PacketHeader& header);
  ClusterNode* EndHandshake(ClusterNode& node, ClusterNode* known, const BusLink& link, const PacketHeader& header);
  void NotePong(ClusterNode& node);  // also clears PFAIL, if the node has it
  void UpdateAddress(ClusterNode& node, const BusLink& link, const PacketHeader& header);
  void UpdateRole(ClusterNode& sender, const PacketHeader& header);  // primary, or the primary that it follows
  // Takes over the slots of this node's primary if that has reported to follow this node for cluster-node-timeout.
  // Called for each such report.
  void HandlePrimaryFollowingMe();
  void FollowPrimaryOfPrimary();  // if this node's primary has become a replica
  NodeAddress SenderAddress(const BusLink& link, const PacketHeader& header) const;
  void HandleOtherPacket(ClusterNode& sender, const BusPacket& packet);  // any but PING, PONG and MEET
  void PingRandomNode();              // of some random nodes, the one with the oldest PONG
  void AnnounceNewPrimary();          // immediately, not with the next PING
  void CheckNode(ClusterNode& node);  // pings it when due; a silent node becomes PFAIL
  void SetMyAddress();                // from the directives
  void SetNoFailover();               // sets or clears the flag "nofailover" of this node

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
  int64_t ticks_ = 0;                        // since the start
  int64_t primary_follows_me_since_ms_ = 0;  // when the primary began to say that it follows this node; 0: it does not
  uint64_t told_version_ = 0;                // version of the view, last told to the host
  NodeId announced_primary_;                 // this node's primary, last told to other nodes; null: none
  int64_t primary_announced_at_ms_ = 0;      // when that was
};

}  // namespace respite
