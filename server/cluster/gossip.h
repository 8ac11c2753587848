// Gossip: lets nodes learn of each other and stay in touch. Each PING and PONG describes some other nodes; a MEET makes
// the receiver trust the sender. A node that CLUSTER FORGET has removed is not added again for cluster-blacklist-ttl.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "server/cluster/bus.h"
#include "server/cluster/cluster_core.h"

namespace respite {

class FailureDetector;

class Gossip {  // spreads what nodes know of each other, in PING, PONG and MEET packets
 public:
  struct Parts {  // the arguments of the constructor
    const ClusterCore& core;
    Bus& bus;
    FailureDetector& failure_detector;  // is told which nodes the other primaries reach, and which they do not
  };
  explicit Gossip(const Parts& parts) : parts_(parts) {}

  bool MeetNode(const NodeAddress& address);                 // CLUSTER MEET: begins a handshake; false: invalid address
  void BeginHandshakeAfterMeet(const NodeAddress& address);  // after a MEET packet; does nothing if 1000 handshakes run
  // Adds the node at this address with a random id, because its id is not known yet. Returns null if a handshake with
  // this address is under way.
  ClusterNode* BeginHandshake(const NodeAddress& address,  // adds the unknown node; null: a handshake is under way
                              uint16_t more_flags);
  void EndLateHandshakes();  // removes nodes whose handshake takes too long; stops ignoring ids whose time has ended

  // Makes a PING, PONG or MEET for `receiver` (null: a node that is not known here). The packet also describes some
  // other nodes.
  BusPacket ComposePing(PacketType type, const ClusterNode* receiver);  // makes a packet with gossip for `receiver`
  void Ping(ClusterNode& node, PacketType type = PacketType::kPing);    // sends PING or MEET
  // Receivers of a PONG. kAll: all nodes. kSiblings: only the replicas of the same primary, which compare their offsets
  // before an election.
  enum class To : uint8_t { kAll, kSiblings };
  void BroadcastPong(To whom);  // sends a PONG to all nodes, or to the replicas of the same primary
  void AnnounceMyself();        // sends all nodes a PONG about this node only

  void Receive(ClusterNode& sender, const BusPacket& packet);  // applies a received PING, PONG or MEET
  // Records what the sender says of itself: host name, human-readable node name, client addresses and shard. Forgets
  // nodes that the sender has forgotten, except the sender, this node and its primary.
  void ApplyExtensions(ClusterNode& sender, const PingExtensions& extensions);  // applies what the sender announces

  // --- Forgetting.

  void Forget(ClusterNode& node, int64_t for_ms);  // removes the node, and ignores its id for `for_ms` milliseconds
  bool IsForgotten(const NodeId& id);              // true: the id is ignored after CLUSTER FORGET, here or elsewhere
  void Remove(ClusterNode& node);                  // removes the node from the view, and closes its links

 private:
  std::vector<const ClusterNode*> ChooseNodesForGossip(const ClusterNode* receiver);  // nodes to describe to `receiver`
  GossipEntry MakeGossipEntry(const ClusterNode& node) const;                         // describes `node` for a packet
  PingExtensions MyExtensions();  // this node's names, shard and client addresses, and the nodes that it has forgotten
  void ApplyGossipEntry(ClusterNode& sender,  // applies what `sender` says of another node
                        const GossipEntry& entry);
  void UpdateKnownNode(ClusterNode& sender, ClusterNode& node,  // applies what `sender` says of the known `node`
                       const GossipEntry& entry);
  void AddGossipedNode(const GossipEntry& entry);         // adds a node of which this node has only heard from others
  NodeAddress AddressOf(const GossipEntry& entry) const;  // where the described node listens

  const Parts parts_;                             // the arguments of the constructor
  uint64_t composed_packet_count_ = 0;            // how many packets with gossip were made
  std::map<NodeId, int64_t> forgotten_until_ms_;  // ignored ids, and until when each is ignored (Unix time)
};

}  // namespace respite
