// ClusterStartPlan: makes the text of nodes.conf for each node of a cluster whose nodes start together in one process.
// So the nodes need not find each other. For a new cluster, the texts define slots, roles and epochs. For an existing
// cluster, each text is the node's own file with the addresses that the nodes have now.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "server/cluster/cluster_node.h"
#include "server/cluster/nodes_text.h"
#include "server/config/node_layout.h"

namespace respite {

struct ClusterStartPlan {  // the nodes.conf texts of nodes that start together as one cluster
  struct Member {          // one of the nodes
    NodeAddress address;   // where the node listens now
    std::string text;      // content of the node's nodes.conf; empty if there is none
  };

  std::vector<std::string> texts;  // the new texts of nodes.conf, one for each member
  bool is_new = false;             // true: a new cluster, as no member had a nodes.conf
  bool members_agree = false;  // true: the texts agree on roles, epochs and slots; all nodes are members, none is down

  // Plans the start of a cluster. `members` are the nodes of the layout. Fails with the reason if files are missing or
  // do not belong together.
  static Result<ClusterStartPlan, std::string> Plan(const NodeLayout& layout, const std::vector<Member>& members,
                                                    PortChoice port, Random& random);
};

}  // namespace respite
