// GroupStart: tells the nodes of a process about each other before they load, so that no discovery is needed. It forms
// a cluster with its slots and roles, or primaries, replicas and the Sentinels that watch them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "server/cluster/cluster_start_plan.h"
#include "server/config/config.h"
#include "server/process/group/hosted_server.h"
#include "server/process/group/node_plan.h"
#include "server/sentinel/sentinel_group_plan.h"

namespace respite {

// Routes connections between these servers to their real addresses, although the servers announce the host in
// `announce`. Requires: they listen.
void RouteToRealAddresses(const std::string& announce, const std::vector<HostedServer>& hosted_servers);

class GroupStart {  // tells the nodes about each other
 public:
  // All must outlive the object.
  GroupStart(const Config& config, const NodePlan& plan, std::vector<HostedServer>& hosted_servers);

  // FormCluster and FormSentinelGroup return nullopt on success, or an error text. The text is empty if the reason is
  // already logged.

  // Gives each node its first nodes.conf. Returns why the cluster cannot start, or nullopt. Requires: the nodes listen,
  // and have ports for the bus.
  std::optional<std::string> FormCluster();
  // Makes the replicas follow their primaries, and writes the directives of the Sentinels. Returns the error, or
  // nullopt. Requires: the nodes listen.
  std::optional<std::string> FormSentinelGroup();

 private:
  // Sets the history of empty nodes. A primary and its replicas get the same history.
  void ShareReplidsOfEmptyNodes();
  SentinelGroupPlan::Place PlaceOf(int node) const;  // address and role of the node
  // Returns "mymaster", as in the documentation of Redis, then "mymaster-2", and so on.
  static std::string SentinelMasterName(int primary);
  SentinelGroupPlan PlanSentinels();  // their configuration lines
  void FollowPrimary(int node);       // makes the node a replica
  std::optional<std::string> WriteSentinelLines(int sentinel,
                                                const std::string& lines);  // to the file of this Sentinel

  const Config& config_;  // configuration of the process
  const NodePlan& plan_;
  std::vector<HostedServer>& hosted_;  // all servers of the process
  Random random_;                      // for random choices
  IdSource ids_;
};

}  // namespace respite
