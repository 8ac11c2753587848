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

class Gossip {
 public:
  struct Parts {
    const ClusterCore& core;
    Bus& bus;
    FailureDetector& failures;
  };
  explicit Gossip(const Parts& parts) : parts_(parts) {}

  // CLUSTER MEET: starts a handshake, unless one is under way. Returns false if the address is invalid.
  bool Greet(const NodeAddress& address);
  // Starts a handshake with an unknown node that has sent a MEET, within limits.
  void GreetBack(const NodeAddress& address);
  // Adds a node whose id is not known yet. Returns null if a handshake with this address is under way.
  ClusterNode* BeginHandshake(const NodeAddress& address, uint16_t more_flags);
  // Gives up handshakes that take too long. Called by the timer.
  void EndLateHandshakes();

  // Makes a PING, PONG or MEET that describes some nodes.
  BusPacket Compose(PacketType type, const ClusterNode* receiver);
  void Ping(ClusterNode& node, PacketType type = PacketType::kPing);
  // kSiblings: the replicas of the same primary, which rank themselves by the offset.
  enum class To : uint8_t { kAll, kSiblings };
  void BroadcastPong(To whom);
  // Sends a PONG that describes only this node to all nodes. Cost: one packet is made, and sent to each node.
  void TellOfMyself();

  // Applies the content of a PING, PONG or MEET. Requires: `sender` is known.
  void Receive(ClusterNode& sender, const BusPacket& packet);
  void ApplyExtensions(ClusterNode& sender, const PingExtensions& extensions);

  // --- Forgetting.

  void Forget(ClusterNode& node, int64_t for_ms);
  bool IsForgotten(const NodeId& id);
  // Removes the node with its links.
  void Remove(ClusterNode& node);

 private:
  // Chooses the nodes that a packet to the receiver describes.
  std::vector<const ClusterNode*> Choose(const ClusterNode* receiver);
  GossipEntry EntryOf(const ClusterNode& node) const;
  PingExtensions MyExtensions();
  void ApplyGossipEntry(ClusterNode& sender, const GossipEntry& entry);
  void UpdateKnownNode(ClusterNode& sender, ClusterNode& node, const GossipEntry& entry);
  void Learn(const GossipEntry& entry);
  NodeAddress AddressOf(const GossipEntry& entry) const;

  const Parts parts_;
  uint64_t composed_ = 0;
  std::map<NodeId, int64_t> forgotten_;  // the time until which each id is ignored
};

}  // namespace respite
