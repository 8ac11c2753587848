#include "server/node/shutdown_failover.h"

#include <string>

#include "base/log.h"
#include "base/number_text.h"
#include "server/cluster/cluster.h"
#include "server/cluster/cluster_mode.h"
#include "server/execution/services.h"
#include "server/replication/replication.h"

namespace respite {

namespace {

// Returns whether the replica knows the request CLUSTER FAILOVER … REPLICAID of Valkey 9. A replica of an older version
// would count the request as an error of the replication stream.
bool KnowsRequest(const Replica& replica) {
  constexpr int64_t kFirstMajorVersion = 9;
  const auto major = ParseInteger(Bytes(replica.version).substr(0, replica.version.find('.')));
  return major && *major >= kFirstMajorVersion;
}

// Returns the cluster node of a connected replica; null if the node is not known.
const ClusterNode* NodeOf(const ClusterView& view, const Session& session) {
  const std::string host = Replicas::HostOf(session);
  const int port = session.replica->listening_port;
  for (const ClusterNode* node : view.All()) {
    const bool is_at_port = node->address.tcp_port == port || node->address.tls_port == port;
    if (node->primary == &view.me() && is_at_port && node->address.ip == host) return node;
  }
  return nullptr;
}

}  // namespace

void RequestFailoverOnShutdown(const Services& services) {
  const Cluster* const cluster = services.cluster.cluster();
  if (cluster == nullptr) return;
  const ClusterView& view = cluster->view();
  if (!view.me().IsPrimary() || view.me().slot_count == 0) return;
  const ClusterNode* best = nullptr;
  int64_t best_offset = -1;
  for (const Session* session : services.replication.replicas().All()) {
    const Replica& replica = *session->replica;
    const bool qualifies = Replicas::IsOnlineWithData(replica) && KnowsRequest(replica);
    const ClusterNode* const node = qualifies ? NodeOf(view, *session) : nullptr;
    if (node == nullptr || replica.acked_offset <= best_offset) continue;
    best = node;
    best_offset = replica.acked_offset;
  }
  if (best == nullptr) {
    services.env.log.Notice("Unable to find a replica to perform the auto failover on shutdown.");
    return;
  }
  const std::string id = best->id.String();
  services.env.log.Notice("Perform auto failover to replica " + id + " on shutdown.");
  services.replication.stream().AppendRequest({"CLUSTER", "FAILOVER", "FORCE", "REPLICAID", id});
  services.replication.replicas().Deliver();
}

}  // namespace respite
