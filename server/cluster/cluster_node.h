// ClusterNode: a node of the cluster, this node included, as this node knows it. All times are those of the BusClock.
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

// Addresses of a node. A port is 0 if there is none.
struct NodeAddress {
  std::string ip;
  uint16_t tcp_port = 0;  // for clients
  uint16_t tls_port = 0;  // for clients
  uint16_t bus_port = 0;  // for other nodes
  bool operator==(const NodeAddress&) const = default;
};

// Family of the address from which a client connects.
enum class IpFamily : uint8_t { kIpv4, kIpv6 };

struct ClusterNode {      // what this node knows of a node
  struct FailureReport {  // a primary does not reach this node
    NodeId reporter;
    int64_t at_ms;
  };

  NodeId id;
  NodeId shard;                        // the shard id
  bool is_shard_known = false;         // false: `shard` is random until the node announces it
  uint16_t flags = 0;                  // NodeFlag bits
  NodeAddress address;                 // where the node listens
  std::string hostname;                // cluster-announce-hostname of the node
  std::string client_ipv4;             // the address for IPv4 clients, if not `address`
  std::string client_ipv6;             // the address for IPv6 clients, if not `address`
  std::string human_name;              // cluster-announce-human-nodename of the node
  uint64_t config_epoch = 0;           // with which it claims its slots
  ClusterNode* primary = nullptr;      // of a replica, if known; ClusterView keeps both directions
  std::vector<ClusterNode*> replicas;  // unordered
  int slot_count = 0;                  // maintained by ClusterView

  int64_t born_ms = 0;       // when this node added it
  int64_t ping_sent_ms = 0;  // 0: no PONG is awaited
  int64_t pong_received_ms = 0;
  int64_t data_received_ms = 0;        // when anything last arrived from it
  int64_t failed_at_ms = 0;            // when it became FAIL
  int64_t voted_at_ms = 0;             // when this node last voted for a replica of this primary
  int64_t orphaned_at_ms = 0;          // since when this primary has no working replica; 0: it has one
  int64_t offset = 0;                  // replication offset that the node last reported
  int64_t offset_at_ms = 0;            // when that was
  uint64_t gossiped_in = 0;            // number of the last packet whose gossip described the node
  std::vector<FailureReport> reports;  // of primaries that do not reach the node

  // Maintained by Bus.
  std::shared_ptr<BusLink> link;     // opened by this node
  std::shared_ptr<BusLink> inbound;  // opened by that node

  bool Is(NodeFlag flag) const { return (flags & flag) != 0; }
  void Set(NodeFlag flag) { flags |= flag; }
  void Clear(NodeFlag flag) { flags &= static_cast<uint16_t>(~flag); }
  bool IsPrimary() const { return Is(kNodePrimary); }
  bool IsReplica() const { return Is(kNodeReplica); }
  bool IsMyself() const { return Is(kNodeMyself); }
  bool IsFailing() const { return (flags & (kNodeSuspect | kNodeFailed)) != 0; }  // PFAIL or FAIL
  bool HasAddress() const { return !Is(kNodeNoAddress); }
  const std::string& IpFor(IpFamily family) const {  // for clients of this address family
    const std::string& announced = family == IpFamily::kIpv6 ? client_ipv6 : client_ipv4;
    return announced.empty() ? address.ip : announced;
  }
  std::string LogName() const { return id.String() + " (" + human_name + ")"; }
  // Returns the number of replicas other than `one` that may replace this primary.
  int OtherElectableReplicaCount(const ClusterNode& one) const {
    int count = 0;
    for (const ClusterNode* replica : replicas) {
      count += replica == &one || replica->Is(kNodeFailed) || replica->Is(kNodeNoFailover) ? 0 : 1;
    }
    return count;
  }
  int WorkingReplicaCount() const {  // replicas that are not FAIL
    int count = 0;
    for (const ClusterNode* replica : replicas) count += replica->Is(kNodeFailed) ? 0 : 1;
    return count;
  }
};

}  // namespace respite
