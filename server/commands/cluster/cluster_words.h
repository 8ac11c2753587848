// What the commands of the cluster share: the cluster itself, nodes and slots among their arguments.
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

inline Cluster& RequireCluster(Call& call) {
  Cluster* const cluster = call.services.cluster.cluster();
  if (cluster == nullptr) throw Refusal{refusals::kClusterDisabled};
  return *cluster;
}

// "ERR Unknown node 07c3…", as most subcommands say it.
inline constexpr char kUnknownNode[] = "Unknown node";

inline ClusterNode& NodeNamed(Cluster& cluster, Bytes word, const char* refusal = kUnknownNode) {
  const auto id = NodeId::Parse(word);
  ClusterNode* const node = id ? cluster.view().Find(*id) : nullptr;
  if (node == nullptr) throw Refusal{"ERR " + std::string(refusal) + " " + std::string(refusals::ShownPart(word))};
  return *node;
}

// Throws "ERR Invalid or out of range slot".
int SlotNumber(Bytes word);

}  // namespace respite
