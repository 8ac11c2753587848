// MyRole: this node becomes the replica of another, or a primary.
#pragma once

#include <functional>
#include <utility>

#include "server/cluster/cluster_core.h"

namespace respite {

class MyRole {
 public:
  explicit MyRole(const ClusterCore& core) : core_(core) {}

  // What else ends with a change of role.
  void OnChange(std::function<void()> handler) { on_change_ = std::move(handler); }

  // Has no slots from now on. Requires: a primary other than this node.
  void Follow(ClusterNode& primary);
  void Promote();
  // The primary has moved: connects to its new address.
  void FollowAgain() { Connect(History::Owner::kSame); }

 private:
  void Connect(History::Owner owner);

  const ClusterCore& core_;
  std::function<void()> on_change_;
};

}  // namespace respite
