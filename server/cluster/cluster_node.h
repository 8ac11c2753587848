// ClusterNode: what this node knows of a node of its cluster, itself included. All times are of the BusClock.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/cluster/bus_packet.h"
#include "server/cluster/node_id.h"

namespace respite {

class BusLink;

// The bus of a node is so far above its port for clients, if nothing else is said.
inline constexpr int kBusPortDistance = 10000;

// Where a node is reached. Ports are 0 where there is none.
struct NodeAddress {
  std::string ip;
  uint16_t tcp_port = 0;
  uint16_t tls_port = 0;
  uint16_t bus_port = 0;
  bool operator==(const NodeAddress&) const = default;
};

// Of the address from which a client came.
enum class IpFamily : uint8_t { kIpv4, kIpv6 };

struct ClusterNode {
  struct FailureReport {
    NodeId reporter;
    int64_t at_ms;
  };

  NodeId id;
  NodeId shard;
  bool is_shard_known = false;  // else `shard` is random until the node has told it
  uint16_t flags = 0;           // NodeFlag bits
  NodeAddress address;
  std::string hostname;
  std::string client_ipv4;  // where clients of IPv4 reach it, if not at `address`
  std::string client_ipv6;
  std::string human_name;
  uint64_t config_epoch = 0;
  ClusterNode* primary = nullptr;      // of a replica, if we know it; ClusterView keeps both directions
  std::vector<ClusterNode*> replicas;  // in no order
  int slot_count = 0;                  // of ClusterView

  int64_t born_ms = 0;
  int64_t ping_sent_ms = 0;  // 0: no answer is due
  int64_t pong_received_ms = 0;
  int64_t data_received_ms = 0;
  int64_t failed_at_ms = 0;
  int64_t voted_at_ms = 0;     // when we last voted for a replica of this primary
  int64_t orphaned_at_ms = 0;  // since when this primary has no working replica; 0: it has
  int64_t offset = 0;          // of the history, as it last said
  int64_t offset_at_ms = 0;
  uint64_t gossiped_in = 0;  // the number of the PING that last told of it
  std::vector<FailureReport> reports;

  // Of the Bus. The first was dialed, the second accepted from this node.
  std::shared_ptr<BusLink> link;
  std::shared_ptr<BusLink> inbound;

  bool Is(NodeFlag flag) const { return (flags & flag) != 0; }
  void Set(NodeFlag flag) { flags |= flag; }
  void Clear(NodeFlag flag) { flags &= static_cast<uint16_t>(~flag); }
  bool IsPrimary() const { return Is(kNodePrimary); }
  bool IsReplica() const { return Is(kNodeReplica); }
  bool IsMyself() const { return Is(kNodeMyself); }
  bool IsFailing() const { return (flags & (kNodeSuspect | kNodeFailed)) != 0; }
  bool HasAddress() const { return !Is(kNodeNoAddress); }
  const std::string& IpFor(IpFamily family) const {
    const std::string& announced = family == IpFamily::kIpv6 ? client_ipv6 : client_ipv4;
    return announced.empty() ? address.ip : announced;
  }
  // For the log.
  std::string LogName() const { return id.String() + " (" + human_name + ")"; }
  int WorkingReplicas() const {
    int count = 0;
    for (const ClusterNode* replica : replicas) count += replica->Is(kNodeFailed) ? 0 : 1;
    return count;
  }
};

}  // namespace respite
