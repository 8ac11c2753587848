// Helpers for cluster commands: access to the cluster, and parsing of nodes and slots.
#pragma once

#include "server/catalogue/refusals.h"
#include "server/cluster/cluster.h"
#include "server/cluster/cluster_mode.h"
#include "server/cluster/cluster_router.h"
#include "server/execution/call.h"
#include "server/execution/services.h"

namespace respite {

namespace refusals {
inline constexpr char kClusterDisabled[] = "ERR This instance has cluster support disabled";
inline constexpr char kTargetNotAPrimary[] = "ERR Target node is not a master";
}  // namespace refusals

inline Cluster& RequireCluster(Call& call) {  // this server as a cluster node; throws if it is none
  Cluster* const cluster = call.services.cluster.cluster();
  if (cluster == nullptr) throw Refusal{refusals::kClusterDisabled};
  return *cluster;
}

// The beginning of the error that most subcommands give for the ID of an unknown node: "ERR Unknown node 07c3…".
inline constexpr char kUnknownNode[] = "Unknown node";  // followed by the ID

inline ClusterNode& GetNodeById(Cluster& cluster, Bytes id_text,  // the node with this ID; throws if it is not known
                                const char* refusal = kUnknownNode) {
  const auto id = NodeId::Parse(id_text);
  ClusterNode* const node = id ? cluster.view().Find(*id) : nullptr;
  if (node == nullptr) throw Refusal{"ERR " + std::string(refusal) + " " + std::string(refusals::ShownPart(id_text))};
  return *node;
}

int ParseSlotNumber(Bytes word);  // parses a slot, 0 to 16383; throws "ERR Invalid or out of range slot" otherwise

}  // namespace respite
