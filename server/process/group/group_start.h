// GroupStart: what the nodes of a process are told about each other before they load, so that nobody has to find the
// others: a cluster with its slots and roles, or primaries, replicas and the Sentinels that watch them.
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

// Each of the servers, which must listen, reaches the others where they are, wherever they announce to be: at
// `announce`.
void RouteWithin(const std::string& announce, const std::vector<HostedServer>& hosted_servers);

class GroupStart {
 public:
  // All must outlive it.
  GroupStart(const Config& config, const NodePlan& plan, std::vector<HostedServer>& hosted_servers);

  // Each returns why they cannot start; empty: the reason is logged.

  // Requires: the nodes listen, and have ports for the bus.
  std::optional<std::string> FormCluster();
  // Requires: they listen.
  std::optional<std::string> FormService();

 private:
  // Nodes of one primary have the same one.
  void ShareEmptyHistories();
  SentinelGroupPlan::Place PlaceOf(int node) const;
  // "mymaster", as in the documentation of Redis; then "mymaster-2", and so on.
  static std::string NameOfService(int primary);
  SentinelGroupPlan PlanSentinels();
  void FollowPrimary(int node);
  std::optional<std::string> WriteLines(int sentinel, const std::string& lines);

  const Config& config_;
  const NodePlan& plan_;
  std::vector<HostedServer>& hosted_;
  Random random_;
  IdSource ids_;
};

}  // namespace respite
