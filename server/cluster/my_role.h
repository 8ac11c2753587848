// MyRole: changes the role of this node to primary, or to replica of another node.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "server/cluster/cluster_core.h"

namespace respite {

class MyRole {  // changes the role of this cluster node: primary or replica
 public:
  explicit MyRole(const ClusterCore& core) : core_(core) {}

  void SetRoleChangeHandler(std::function<void()> handler) {  // `handler` runs after each Follow and promotion
    on_change_ = std::move(handler);
  }

  void Follow(ClusterNode& primary);  // makes this node a replica of `primary`, which is another node
  void Promote();                     // makes this node a primary
  void ReconnectToPrimary() {         // connects to the primary's address, if it has changed or connecting had failed
    ConnectToPrimary(History::kMaxOffset);
  }

 private:
  // `shared_until`: how many bytes of this node's history the primary is known to share. nullopt: the primary may have
  // another history.
  void ConnectToPrimary(std::optional<int64_t> shared_until);  // connects to the primary; nullopt: histories may differ

  const ClusterCore& core_;
  std::function<void()> on_change_;  // runs after each Follow and each promotion
};

}  // namespace respite
