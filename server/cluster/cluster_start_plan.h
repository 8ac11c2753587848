// ClusterStartPlan: all nodes of a cluster start at the same time, in one process. So they need not find each other: a
// new cluster gets its slots, roles and epochs here, and one that was there before learns the present addresses of all.
//
// It only makes texts of nodes.conf, one for each node, out of those that the nodes have.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "server/cluster/cluster_node.h"
#include "server/cluster/nodes_text.h"
#include "server/config/node_layout.h"

namespace respite {

struct ClusterStartPlan {
  struct Member {
    NodeAddress address;
    std::string text;  // of its nodes.conf; empty: there is none
  };

  std::vector<std::string> texts;
  bool is_new = false;     // nobody had a file
  bool is_agreed = false;  // the texts say the same, and the cluster has no other nodes

  // `members` are the nodes of the layout. Fails with the reason: files that are missing or do not belong together.
  static Result<ClusterStartPlan, std::string> Plan(const NodeLayout& layout, const std::vector<Member>& members,
                                                    PortChoice port, Random& random);
};

}  // namespace respite
