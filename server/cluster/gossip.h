// Gossip: how nodes get to know each other, and stay in touch. Each PING and PONG tells of some other nodes; a MEET
// makes the receiver trust the sender. Nodes that were forgotten are not learned again for a minute
// (cluster-blacklist-ttl).
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

  // CLUSTER MEET: greets whoever is there. False: this is no address, or somebody is being greeted there already.
  bool Greet(const NodeAddress& address);
  // Somebody unknown greets: greets back at this address, within limits.
  void GreetBack(const NodeAddress& address);
  // A node nobody has heard of yet. Null: such a handshake is under way.
  ClusterNode* BeginHandshake(const NodeAddress& address, uint16_t more_flags);
  // Gives up handshakes that take too long. For the timer.
  void EndLateHandshakes();

  // A PING, PONG or MEET that tells of some nodes.
  BusPacket Compose(PacketType type, const ClusterNode* receiver);
  void Ping(ClusterNode& node, PacketType type = PacketType::kPing);
  // To replicas of the same primary, which rank themselves by the offset; or to all.
  enum class To : uint8_t { kAll, kSiblings };
  void BroadcastPong(To whom);
  // A PONG to all that tells of this node only. Cost: one packet is made, and sent to each node.
  void TellOfMyself();

  // What a PING told. `sender` is known. `link` is where it came from.
  void Receive(ClusterNode& sender, const BusPacket& packet);
  void ApplyExtensions(ClusterNode& sender, const PingExtensions& extensions);

  // --- Forgetting.

  void Forget(ClusterNode& node, int64_t for_ms);
  bool IsForgotten(const NodeId& id);
  // Removes the node with its links.
  void Remove(ClusterNode& node);

 private:
  // Those worth telling the receiver about.
  std::vector<const ClusterNode*> Choose(const ClusterNode* receiver);
  GossipEntry EntryOf(const ClusterNode& node) const;
  PingExtensions MyExtensions();
  void ApplyGossipEntry(ClusterNode& sender, const GossipEntry& entry);
  void UpdateKnownNode(ClusterNode& sender, ClusterNode& node, const GossipEntry& entry);
  void Learn(const GossipEntry& entry);
  NodeAddress AddressOf(const GossipEntry& entry) const;

  const Parts parts_;
  uint64_t composed_ = 0;
  std::map<NodeId, int64_t> forgotten_;  // until when
};

}  // namespace respite
