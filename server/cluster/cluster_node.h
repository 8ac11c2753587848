// ClusterNode: what this server knows of one node of the cluster. This server's own node also has a ClusterNode. All
// times are readings of the BusClock: Unix time that never goes back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/cluster/bus_packet.h"
#include "server/cluster/node_id.h"

namespace respite {

class BusLink;

// Default distance of a node's bus port from its port for clients.
inline constexpr int kBusPortDistance = 10000;

struct NodeAddress {  // where a node listens; a port is 0 if there is none
  std::string ip;
  uint16_t tcp_port = 0;  // port for clients without TLS
  uint16_t tls_port = 0;  // port for clients with TLS
  uint16_t bus_port = 0;  // port of the cluster bus, for other nodes
  bool operator==(const NodeAddress&) const = default;
};

// Family of the address from which a client connects.
enum class IpFamily : uint8_t { kIpv4, kIpv6 };

struct ClusterNode {      // what this server knows of one node, perhaps itself
  struct FailureReport {  // one primary has reported that it does not reach the node
    NodeId reporter;      // the primary that does not reach the node
    int64_t at_ms;        // when the primary last reported it (Unix time)
  };

  NodeId id;
  NodeId shard;                        // id of the node's shard
  bool is_shard_known = false;         // false: `shard` was not announced, and is random or the shard of the primary
  uint16_t flags = 0;                  // NodeFlag bits
  NodeAddress address;                 // where the node listens
  std::string hostname;                // cluster-announce-hostname of the node
  std::string client_ipv4;             // IP that IPv4 clients are told; empty: address.ip
  std::string client_ipv6;             // IP that IPv6 clients are told; empty: address.ip
  std::string internal_secret;         // what the node, a Redis server, announced for logins between nodes; empty: none
  std::string availability_zone;       // availability-zone of the node
  std::string human_name;              // cluster-announce-human-nodename of the node
  uint64_t config_epoch = 0;           // the epoch with which the node claims its slots
  ClusterNode* primary = nullptr;      // the primary of a replica; null: not known, or this is no replica
  std::vector<ClusterNode*> replicas;  // the replicas of a primary, in no order
  int slot_count = 0;                  // number of slots that the node owns; maintained by ClusterView

  int64_t born_ms = 0;              // when this server added the node, or started (Unix time)
  int64_t ping_sent_ms = 0;         // when the unanswered PING was sent, or connecting failed (Unix time); 0: neither
  int64_t pong_received_ms = 0;     // when the node last sent a PONG, to this or another node (Unix time)
  int64_t data_received_ms = 0;     // when anything last arrived from the node (Unix time)
  int64_t failed_at_ms = 0;         // when the node became FAIL, or this server started with FAIL (Unix time)
  int64_t voted_at_ms = 0;          // when this server last voted for a replica of this primary (Unix time)
  int64_t orphaned_at_ms = 0;       // Unix time since which ReplicaMigration::IsOrphaned is true; 0: it is false
  int64_t offset = 0;               // replication offset that the node last reported
  int64_t replica_offset = 0;       // `offset` when the node last reported to be a replica; 0: never
  int64_t offset_at_ms = 0;         // when the node reported `offset` (Unix time)
  uint64_t last_random_gossip = 0;  // number of the last gossip packet for which the node was chosen at random
  std::vector<FailureReport> reports;  // reports of primaries that do not reach the node

  // The two links between this server and the node, which Bus maintains.
  std::shared_ptr<BusLink> outbound_link;  // the link that this server opened to the node; null: none
  std::shared_ptr<BusLink> inbound_link;   // the link that the node opened to this server; null: none

  bool Is(NodeFlag flag) const { return (flags & flag) != 0; }
  void Set(NodeFlag flag) { flags |= flag; }
  void Clear(NodeFlag flag) { flags &= static_cast<uint16_t>(~flag); }        // removes a flag
  bool IsPrimary() const { return Is(kNodePrimary); }                         // false: a replica, or of unknown role
  bool IsReplica() const { return Is(kNodeReplica); }                         // false: a primary, or of unknown role
  bool IsMyself() const { return Is(kNodeMyself); }                           // true: the node is this server
  bool IsFailing() const { return (flags & (kNodePfail | kNodeFail)) != 0; }  // true: the node is PFAIL or FAIL
  bool HasAddress() const { return !Is(kNodeNoAddress); }                     // true: where the node listens is known
  const std::string& IpFor(IpFamily family) const {  // IP of the node for clients of this family
    const std::string& announced = family == IpFamily::kIpv6 ? client_ipv6 : client_ipv4;
    return announced.empty() ? address.ip : announced;
  }
  std::string LogName() const { return id.String() + " (" + human_name + ")"; }  // id and name, for the log
  // Returns how many replicas of this primary, apart from `one`, may be promoted: those that are not failed and do not
  // have the flag "nofailover".
  int OtherElectableReplicaCount(const ClusterNode& one) const {  // how many other replicas may be promoted
    int count = 0;
    for (const ClusterNode* replica : replicas) {
      count += replica == &one || replica->Is(kNodeFail) || replica->Is(kNodeNoFailover) ? 0 : 1;
    }
    return count;
  }
  int WorkingReplicaCount() const {  // how many replicas of this primary are not FAIL
    int count = 0;
    for (const ClusterNode* replica : replicas) count += replica->Is(kNodeFail) ? 0 : 1;
    return count;
  }
};

}  // namespace respite
