// Gossip: lets nodes learn of each other and stay in touch. Each PING and PONG describes some other nodes; a MEET
// makes the receiver trust the sender. Forgotten nodes are not learned again for cluster-blacklist-ttl.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "server/cluster/bus.h"
#include "server/cluster/cluster_core.h"

namespace respite {

class FailureDetector;

class Gossip {  // lets nodes learn of each other
 public:
  struct Parts {  // what the constructor takes
    const ClusterCore& core;
    Bus& bus;
    FailureDetector& failures;
  };
  explicit Gossip(const Parts& parts) : parts_(parts) {}

  bool MeetNode(const NodeAddress& address);                 // CLUSTER MEET; false: the address is invalid
  void BeginHandshakeAfterMeet(const NodeAddress& address);  // with an unknown node, within limits
  // Adds a node whose id is not known yet. Returns null if a handshake with this address is under way.
  ClusterNode* BeginHandshake(const NodeAddress& address, uint16_t more_flags);  // null: one is under way already
  // Gives up handshakes that take too long. Called by the timer.
  void EndLateHandshakes();

  // Makes a PING, PONG or MEET that describes some nodes.
  BusPacket ComposePing(PacketType type, const ClusterNode* receiver);
  void Ping(ClusterNode& node, PacketType type = PacketType::kPing);
  // kSiblings: the replicas of the same primary, which rank themselves by the offset.
  enum class To : uint8_t { kAll, kSiblings };
  void BroadcastPong(To whom);
  void AnnounceMyself();  // sends all nodes a PONG without gossip of other nodes

  // Applies the content of a PING, PONG or MEET. Requires: `sender` is known.
  void Receive(ClusterNode& sender, const BusPacket& packet);                   // a PING, PONG or MEET
  void ApplyExtensions(ClusterNode& sender, const PingExtensions& extensions);  // of the sender

  // --- Forgetting.

  void Forget(ClusterNode& node, int64_t for_ms);  // removes it, and ignores its id for this time
  bool IsForgotten(const NodeId& id);              // the node must not be added again yet
  // Removes the node with its links.
  void Remove(ClusterNode& node);  // and closes its links

 private:
  std::vector<const ClusterNode*> ChooseNodesForGossip(const ClusterNode* receiver);  // for a packet to `receiver`
  GossipEntry MakeGossipEntry(const ClusterNode& node) const;                         // what a packet says of it
  PingExtensions MyExtensions();                                         // what this node announces of itself
  void ApplyGossipEntry(ClusterNode& sender, const GossipEntry& entry);  // what it says of another node
  void UpdateKnownNode(ClusterNode& sender, ClusterNode& node, const GossipEntry& entry);
  void AddGossipedNode(const GossipEntry& entry);         // a node that was not known yet
  NodeAddress AddressOf(const GossipEntry& entry) const;  // of the node that it describes

  const Parts parts_;                    // from the constructor
  uint64_t composed_ = 0;                // packets with gossip made so far
  std::map<NodeId, int64_t> forgotten_;  // the time until which each id is ignored
};

}  // namespace respite
