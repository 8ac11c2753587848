// GroupStart: before the servers of one process load their data, tells them about each other, so that they need no
// discovery. They become a cluster with slots and roles, or primaries with replicas, and the Sentinels that watch them.
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

// Makes connections between these servers go to their real addresses, although the servers announce the host in
// `announce`. Requires: the servers listen.
void RouteToRealAddresses(const std::string& announce,  // links to the announced host go to the servers themselves
                          const std::vector<HostedServer>& hosted_servers);

class GroupStart {  // makes the servers of a process a cluster, or replicas with Sentinels
 public:
  // All arguments must outlive the object.
  GroupStart(const Config& config, const NodePlan& plan, std::vector<HostedServer>& hosted_servers);

  // FormCluster and FormSentinelGroup return nullopt on success, or an error text. The error text is empty if the
  // reason is already logged.

  // Gives each node the initial nodes of the cluster, which the node uses instead of its nodes.conf. Requires: the
  // nodes listen, and have ports for the bus.
  std::optional<std::string> FormCluster();  // gives each node the initial cluster; nullopt: done; otherwise the error
  // Makes the replicas follow their primaries, and writes the directives of the Sentinels. Requires: the nodes listen.
  std::optional<std::string> FormSentinelGroup();  // makes replicas follow, configures Sentinels; returns the error

 private:
  // Makes a new replication ID for each primary, and gives it to the primary and its replicas, except those that have
  // data.
  void ShareReplidsOfEmptyNodes();  // a primary and its replicas, if without data, get one replication ID
  SentinelGroupPlan::Place PlaceOf(int node) const;  // host and port at which other servers reach this node
  // The first primary is called "mymaster", as in the documentation of Redis. The second one is called "mymaster-2",
  // and so on.
  static std::string SentinelMasterName(int primary);  // "mymaster", "mymaster-2" …; `primary` counts from 0
  SentinelGroupPlan MakeSentinelPlan();  // addresses, new ids and passwords, for the lines of each sentinel.conf
  void FollowPrimary(int node);          // makes a replica follow its primary; sets masterauth
  std::optional<std::string> WriteSentinelLines(int sentinel,  // writes the Sentinel's file, and reads it; or an error
                                                const std::string& lines);

  const Config& config_;                       // configuration of the process
  const NodePlan& plan_;                       // number, roles and settings of the nodes
  std::vector<HostedServer>& hosted_servers_;  // all servers of the process
  Random random_;                              // random numbers for IDs
  IdSource ids_;
};

}  // namespace respite
