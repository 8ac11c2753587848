// MyRole: changes the role of this node to primary, or to replica of another node.
#pragma once

#include <functional>
#include <utility>

#include "server/cluster/cluster_core.h"

namespace respite {

class MyRole {
 public:
  explicit MyRole(const ClusterCore& core) : core_(core) {}

  // Sets the handler that is called after each change of role.
  void OnChange(std::function<void()> handler) { on_change_ = std::move(handler); }

  // Makes this node a replica without slots. Requires: a primary other than this node.
  void Follow(ClusterNode& primary);
  void Promote();
  // Connects to the primary again, for example after a change of its address.
  void FollowAgain() { Connect(History::Owner::kSame); }

 private:
  void Connect(History::Owner owner);

  const ClusterCore& core_;
  std::function<void()> on_change_;
};

}  // namespace respite
