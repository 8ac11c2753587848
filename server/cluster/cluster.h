// Cluster: makes this server a node of a cluster. Does no I/O of its own: time comes from a RealClock, connections from
// a Network, data and clients from a ClusterHost. So a test can run a thousand nodes in one thread without waiting.
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

class Cluster final : public Bus::User {  // this server as a node of a cluster: its view, bus packets and commands
 public:
  struct Parts {                  // the arguments of the constructor
    const Settings& settings;     // the directives of this server
    const RealClock& real_clock;  // monotonic; TEST CLOCK cannot move it
    int64_t wall_ms;              // Unix time when the server starts
    Logger& log;
    uint64_t random_seed;               // seed for random node ids and delays
    const LateBound<Network>& network;  // makes and accepts connections
    ClusterHost& host;
  };
  // Creates the cluster. `file_text` is the content of nodes.conf; empty for a new node. Fails with the reason.
  static Result<std::unique_ptr<Cluster>, std::string> Make(const Parts& parts, Bytes file_text);
  Cluster(const Parts& parts, std::unique_ptr<ClusterView> view, Random random);

  // Lets a primary serve requests immediately after its start. Without this call, it first refuses them for two seconds
  // (kRefusalAfterStartMs), the time to learn whether other nodes have taken its slots. Must be called only if the
  // nodes.conf files of all nodes agree (ClusterStartPlan).
  void TrustNodesFile() { health_.TrustNodesFile(); }  // lets a primary serve requests from the start
  std::optional<std::string> Start();  // listens on the bus, takes its role from nodes.conf; returns the error
  void ConnectToAll();                 // connects now to all nodes to which there is no link; Tick also does this
  bool IsConnectedToAllNodes() const;  // true: a link to each node with a known address is open
  void Tick();                         // does the periodic work; called ten times a second
  void EndTurn();                      // does SaveAndSend; tells the host if nodes or slots have changed
  void SaveAndSend();                  // decides cluster_state if requested, saves nodes.conf if changed, sends packets
  void ApplySettings();                // applies changed directives, such as cluster-announce-ip

  // --- Commands of operators (CLUSTER …). The caller has checked that the command is allowed in the present state.

  bool Meet(const NodeAddress& address) { return gossip_.MeetNode(address); }  // CLUSTER MEET; false: bad address
  void Forget(ClusterNode& node);        // CLUSTER FORGET: removes the node, and ignores its id for a while
  bool HasForgotten(const NodeId& id) {  // true: the id is ignored after CLUSTER FORGET, here or elsewhere
    return gossip_.IsForgotten(id);
  }
  void Replicate(ClusterNode& primary);  // CLUSTER REPLICATE: makes this node a replica of `primary`
  void LeavePrimary();  // CLUSTER REPLICATE NO ONE: makes a replica an empty primary in a shard of its own
  void AddSlots(const SlotSet& slots);     // CLUSTER ADDSLOTS: makes this node the owner; ends their imports
  void DeleteSlots(const SlotSet& slots);  // CLUSTER DELSLOTS: leaves the slots without an owner
  // Makes `owner` the owner of the slot. If this ends an import into this node, this node takes a new epoch and tells
  // all nodes. If the slot was migrating from this node, and has no keys here any more, the migration ends. If this
  // node gives away its last slot, it becomes a replica of `owner` (cluster-allow-replica-migration).
  void GiveSlot(int slot, ClusterNode& owner);  // CLUSTER SETSLOT … NODE: makes `owner` the owner of the slot
  // kAsk: the primary pauses writes until this replica has all data. kForce: CLUSTER FAILOVER FORCE asks only for
  // votes. kTakeOver: CLUSTER FAILOVER TAKEOVER, without votes. kIfPrimaryIsGone: the primary has requested its
  // failover because it stops (SHUTDOWN FAILOVER); this replica asks for votes once the primary accepts no connection
  // any more.
  enum class FailoverMode : uint8_t { kAsk, kForce, kTakeOver, kIfPrimaryIsGone };
  void FailOver(FailoverMode mode);  // CLUSTER FAILOVER: begins to replace the primary by this replica
  // Makes this node the owner of the slots, after their keys were moved from the former owner to this node.
  void TakeSlots(const SlotSet& slots);  // makes this node the owner
  enum class ResetMode : uint8_t { kSoft, kHard };
  void Reset(ResetMode mode);  // CLUSTER RESET: leaves the cluster; a replica loses its keys; kHard: new id
  bool BumpEpoch() { return slot_claims_.BumpEpoch(); }  // takes a new largest epoch; false: this node has it already
  void SetEpoch(uint64_t epoch);                         // CLUSTER SET-CONFIG-EPOCH: sets this new node's epoch
  int CountFailureReports(ClusterNode& node) {           // how many primaries lately reported `node` down
    return failure_detector_.CountFreshReports(node);
  }
  void SaveNow();                                               // saves nodes.conf, if RequestSave was called
  void Publish(PacketType type, Bytes channel, Bytes message);  // PUBLISH: sends to all nodes; SPUBLISH: to this shard

  ClusterView& view() { return *view_; }
  const ClusterView& view() const { return *view_; }
  Bus& bus() { return bus_; }
  const Bus& bus() const { return bus_; }
  int pfail_count() const { return failure_detector_.pfail_count(); }  // how many nodes were PFAIL at the last tick
  PortChoice port_choice() const {  // whether the TCP or the TLS port stands first in nodes.conf
    return core_.settings.tls_cluster ? PortChoice::kTls : PortChoice::kTcp;
  }

  // The functions of Bus::User.
  void OnLinkConnected(BusLink& link) override;                    // sends PING or MEET as the first packet on the link
  void OnPacket(BusLink& link, const BusPacket& packet) override;  // handles a packet of another node

 private:
  void Save(ClusterHost::Durably durably);    // writes nodes.conf; if that fails, this node sends nothing more
  ClusterNode* IdentifySender(BusLink& link,  // returns the sender, and records whose link this is; null: unknown
                              const PacketHeader& header);
  void UpdateEpochsAndOffset(ClusterNode& sender,  // records the epochs and the offset that the packet reports
                             const PacketHeader& header);
  void HandlePingPongOrMeet(BusLink& link,  // handles all three types; answers PING and MEET by PONG
                            ClusterNode* sender, const BusPacket& packet);
  void LearnMyIp(const BusLink& link);  // takes the link's local IP as this node's, unless cluster-announce-ip is set
  void BeginHandshakeWithSender(const BusLink& link,  // begins a handshake with an unknown node that sent MEET
                                const PacketHeader& header);
  // Handles a packet on a link that this node opened: checks that the sender is link.node. If another node has
  // answered, closes the link, and forgets the address of link.node. If link.node is in handshake, ends the handshake.
  ClusterNode* HandleAnswerFromNode(BusLink& link,  // returns the sender; null: ignore the rest of the packet
                                    ClusterNode* sender, const PacketHeader& header);
  // Ends the handshake with `node`. `known` is the node that already has the id of the answer; null: there is none, or
  // it is in handshake itself.
  //   a new id:        gives `node` the id, and returns `node`
  //   a known node:    removes `node`, updates the address of `known`, and returns null
  //   an invalid id, or the id of a node in handshake:   returns null
  // After null, the caller must ignore the rest of the packet.
  ClusterNode* EndHandshake(ClusterNode& node,  // sets id of `node`; null: ignore the packet
                            ClusterNode* known, const BusLink& link, const PacketHeader& header);
  void RecordPong(ClusterNode& node);  // notes a PONG of `node`: no PING is pending now; calls ClearFailureOnAnswer
  // Called when `node` has sent a packet on `link`. If the packet shows a new address of `node`, stores it and closes
  // the connection to the old address; a tick connects again. Does nothing if this node itself opened `link`, because
  // `link` was made to the known address.
  void UpdateAddress(ClusterNode& node, const BusLink& link,  // stores the sender's new address, and reconnects
                     const PacketHeader& header);
  void UpdateRole(ClusterNode& sender, const PacketHeader& header);  // records whether the sender is primary or replica
  // Called for each packet in which this node's primary says that it is a replica of this node. If the primary has said
  // so for cluster-node-timeout, and HasDataToReplacePrimary() is true, this node takes over the primary's slots.
  void HandlePrimaryFollowingMe();  // the primary says it is my replica: takes over its slots after a while
  void FollowPrimaryOfPrimary();    // if this node's primary is now a replica, follows the primary of that replica
  NodeAddress SenderAddress(const BusLink& link,  // returns the address where the sender of the packet listens
                            const PacketHeader& header) const;
  void HandleOtherPacket(ClusterNode& sender,  // handles a packet other than PING, PONG and MEET
                         const BusPacket& packet);
  void PingRandomNode();                // pings the node with the oldest PONG among a few random ones
  void AnnounceNewPrimary();            // tells all nodes if this replica follows another primary than before
  void MonitorNode(ClusterNode& node);  // pings the node when due; marks it PFAIL if silent; drops a stuck link
  void SetMyAddress();                  // sets this node's address from cluster-announce-… and the ports
  void UpdateNoFailoverFlag();  // sets "nofailover" on a replica that may not be elected or lacks data; else clears it

  BusClock clock_;  // Unix time that never goes back, for packets and timeouts
  Random random_;   // for random node ids and delays
  std::unique_ptr<ClusterView> view_;
  ClusterCore core_;
  Bus bus_;
  FailureDetector failure_detector_;  // decides which nodes are PFAIL or FAIL
  Gossip gossip_;                     // spreads what nodes know of each other
  MyRole role_;
  SlotClaims slot_claims_;                   // decides who owns a slot when nodes disagree
  ManualFailover manual_failover_;           // carries out CLUSTER FAILOVER
  Election election_;                        // asks for votes, by which this replica replaces its primary
  ReplicaMigration migration_;               // moves this replica to a primary without working replicas
  ClusterHealth health_;                     // decides cluster_state
  int64_t tick_count_ = 0;                   // how many times Tick was called
  int64_t primary_follows_me_since_ms_ = 0;  // since when my primary says it is my replica (Unix time); 0: it does not
  uint64_t reported_view_version_ = 0;       // version of the ClusterView at the last OnTopologyChanged
  NodeId announced_primary_;             // primary of this node at the start or in the last announcement; null: none
  int64_t primary_announced_at_ms_ = 0;  // when this node last told all nodes of its new primary (Unix time)
};

}  // namespace respite
