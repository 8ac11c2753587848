#include "server/cluster/cluster_health.h"

#include <algorithm>

namespace respite {

namespace {

// How long a primary refuses requests after its start, in ms, unless its nodes.conf is trusted (TrustNodesFile). Other
// nodes may have taken its slots while the primary was down; in this time they tell the primary.
constexpr int64_t kRefusalAfterStartMs = 2000;
constexpr int64_t kMinRejoinMs = 500;
constexpr int64_t kMaxRejoinMs = 5000;

}  // namespace

bool ClusterHealth::HasFullCoverage() const {
  for (int slot = 0; slot < kSlotCount; ++slot) {
    const ClusterNode* owner = core_.view.Owner(slot);
    if (owner == nullptr || owner->Is(kNodeFail)) return false;
  }
  return true;
}

bool ClusterHealth::HasMajority() const {
  const auto reachable = std::ranges::count_if(core_.view.All(), [](const ClusterNode* node) {
    return node->IsPrimary() && node->slot_count != 0 && !node->IsFailing();
  });
  return reachable >= core_.view.Majority();
}

void ClusterHealth::UpdateClusterState() {
  ClusterView& view = core_.view;
  const int64_t now_ms = core_.NowMs();
  const bool awaits_news = !is_nodes_file_trusted_ && now_ms - born_ms_ < kRefusalAfterStartMs;
  if (view.me().IsPrimary() && !view.is_ok && awaits_news) return;
  const bool has_majority = HasMajority();
  if (!has_majority) in_minority_at_ms_ = now_ms;
  const bool is_ok = has_majority && (!core_.settings.cluster_require_full_coverage || HasFullCoverage());
  if (is_ok == view.is_ok) return;
  const int64_t rejoin_ms = std::clamp(core_.TimeoutMs(), kMinRejoinMs, kMaxRejoinMs);
  if (is_ok && view.me().IsPrimary() && now_ms - in_minority_at_ms_ < rejoin_ms) return;
  view.is_ok = is_ok;
  view.RecordChange();
  core_.log.Log(is_ok ? LogLevel::kNotice : LogLevel::kWarning,
                std::string("Cluster state changed: ") + (is_ok ? "ok" : "fail"));
}

}  // namespace respite
