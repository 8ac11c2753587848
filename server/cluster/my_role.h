// MyRole: changes the role of this node to primary, or to replica of another node.
#pragma once

#include <functional>
#include <utility>

#include "server/cluster/cluster_core.h"

namespace respite {

class MyRole {  // changes the role of this cluster node: primary or replica
 public:
  explicit MyRole(const ClusterCore& core) : core_(core) {}

  // Sets the handler that is called after each change of role.
  void SetRoleChangeHandler(std::function<void()> handler) { on_change_ = std::move(handler); }  // runs after changes

  void Follow(ClusterNode& primary);  // makes this node a replica without slots; `primary` is another node
  void Promote();                     // makes this node a primary
  void ReconnectToPrimary() { ConnectToPrimary(History::Owner::kSame); }  // connects to the address that it has now

 private:
  void ConnectToPrimary(History::Owner owner);  // `owner`: kSame if the data here is of the primary's history

  const ClusterCore& core_;
  std::function<void()> on_change_;  // runs after each change of role
};

}  // namespace respite
