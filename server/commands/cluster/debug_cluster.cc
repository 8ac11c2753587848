#include "server/commands/cluster/debug_cluster.h"

#include "server/commands/cluster/cluster_commands.h"
#include "server/execution/services.h"

namespace respite {

void DropClusterPackets(Call& call) {
  const int64_t type = Args::Integer(call.args[2]);
  if (Cluster* cluster = call.services.cluster.cluster()) cluster->bus().filter.type = static_cast<int>(type);
  call.reply.Ok();
}

void CloseLinkOnDrop(Call& call) {
  const bool closes = Args::Integer(call.args[2]) != 0;
  if (Cluster* cluster = call.services.cluster.cluster()) cluster->bus().filter.closes_link = closes;
  call.reply.Ok();
}

void KillClusterLink(Call& call) {
  Cluster& cluster = RequireCluster(call);
  ClusterNode& node = GetNodeById(cluster, call.args[4]);
  const Bytes direction = call.args[3];
  const bool is_all = EqualsIgnoreCase(direction, "all");
  const bool is_to = EqualsIgnoreCase(direction, "to");
  const bool is_from = EqualsIgnoreCase(direction, "from");
  if (!EqualsIgnoreCase(call.args[2], "kill"))
    throw refusals::SubcommandSyntax(call.services.env.dialect, "debug", call.args[1]);
  if (!is_all && !is_to && !is_from)
    throw Refusal{"ERR Unknown direction " + std::string(refusals::ShownPart(direction))};
  if (is_all || is_to) cluster.bus().DropOutboundLink(node);
  if (is_all || is_from) cluster.bus().DropInboundLink(node);
  call.reply.Ok();
}

}  // namespace respite
