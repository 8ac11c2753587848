#include "server/observe/cluster_info.h"

#include <array>
#include <numeric>

#include "base/bytes.h"
#include "server/cluster/cluster.h"

namespace respite {

namespace {

struct SlotFigures {  // numbers of slots
  int assigned = 0;
  int pfail = 0;
  int failed = 0;
};

SlotFigures CountSlots(const ClusterView& view) {
  SlotFigures figures;
  for (int slot = 0; slot < kSlotCount; ++slot) {
    const ClusterNode* owner = view.Owner(slot);
    if (owner == nullptr) continue;
    ++figures.assigned;
    if (owner->Is(kNodeFail)) {
      ++figures.failed;
    } else if (owner->Is(kNodePfail)) {
      ++figures.pfail;
    }
  }
  return figures;
}

struct NodeFigures {  // numbers of nodes; a voting node is a primary with slots
  uint64_t pfail = 0;
  uint64_t failed = 0;
  uint64_t voting_pfail = 0;
  uint64_t voting_failed = 0;
};

NodeFigures CountNodes(const ClusterView& view) {
  NodeFigures figures;
  for (const ClusterNode* node : view.All()) {
    const bool votes = node->IsPrimary() && node->slot_count != 0;
    if (node->Is(kNodeFail)) {
      ++figures.failed;
      figures.voting_failed += votes ? 1 : 0;
    } else if (node->Is(kNodePfail)) {
      ++figures.pfail;
      figures.voting_pfail += votes ? 1 : 0;
    }
  }
  return figures;
}

void AddLine(std::string& text, Bytes name, uint64_t value) {
  text.append(name).append(":").append(std::to_string(value)).append("\r\n");
}

void AddNodes(std::string& text, const ClusterView& view) {
  const NodeFigures nodes = CountNodes(view);
  AddLine(text, "cluster_nodes_pfail", nodes.pfail);
  AddLine(text, "cluster_nodes_fail", nodes.failed);
  AddLine(text, "cluster_voting_nodes_pfail", nodes.voting_pfail);
  AddLine(text, "cluster_voting_nodes_fail", nodes.voting_failed);
}

// Adds one line for each message type that was counted, and one line with the sum of these counts.
void AddMessages(std::string& text, const Bus::Counts& counts, const std::string& direction) {
  uint64_t sum = 0;
  for (size_t type = 0; type < counts.size(); ++type) {
    sum += counts[type];
    if (counts[type] == 0) continue;
    AddLine(text, "cluster_stats_messages_" + std::string(NameOf(static_cast<PacketType>(type))) + "_" + direction,
            counts[type]);
  }
  AddLine(text, "cluster_stats_messages_" + direction, sum);
}

uint64_t Sum(const Bus::Counts& counts) { return std::accumulate(counts.begin(), counts.end(), uint64_t{0}); }

uint64_t PubSubBytes(const Bus::Counts& bytes) {
  return bytes[static_cast<size_t>(PacketType::kPublish)] + bytes[static_cast<size_t>(PacketType::kPublishShard)];
}

void AddBytes(std::string& text, const Bus& bus) {
  const auto module = static_cast<size_t>(PacketType::kModule);
  AddLine(text, "cluster_stats_bytes_sent", Sum(bus.sent_bytes()));
  AddLine(text, "cluster_stats_bytes_received", Sum(bus.received_bytes()));
  AddLine(text, "cluster_stats_pubsub_bytes_sent", PubSubBytes(bus.sent_bytes()));
  AddLine(text, "cluster_stats_pubsub_bytes_received", PubSubBytes(bus.received_bytes()));
  AddLine(text, "cluster_stats_module_bytes_sent", bus.sent_bytes()[module]);
  AddLine(text, "cluster_stats_module_bytes_received", bus.received_bytes()[module]);
}

}  // namespace

std::string ClusterInfoText(const Cluster& cluster, const Dialect& dialect) {
  const bool is_long = dialect.traits.cluster_info_counts_nodes_and_bytes;
  const ClusterView& view = cluster.view();
  const ClusterNode& me = view.me();
  const SlotFigures slots = CountSlots(view);
  std::string text = std::string("cluster_state:") + (view.is_ok ? "ok" : "fail") + "\r\n";
  AddLine(text, "cluster_slots_assigned", static_cast<uint64_t>(slots.assigned));
  AddLine(text, "cluster_slots_ok", static_cast<uint64_t>(slots.assigned - slots.pfail - slots.failed));
  AddLine(text, "cluster_slots_pfail", static_cast<uint64_t>(slots.pfail));
  AddLine(text, "cluster_slots_fail", static_cast<uint64_t>(slots.failed));
  if (is_long) AddNodes(text, view);
  AddLine(text, "cluster_known_nodes", view.All().size());
  AddLine(text, "cluster_size", static_cast<uint64_t>(view.Size()));
  AddLine(text, "cluster_current_epoch", view.current_epoch);
  AddLine(text, "cluster_my_epoch", me.primary != nullptr ? me.primary->config_epoch : me.config_epoch);
  AddMessages(text, cluster.bus().sent(), "sent");
  AddMessages(text, cluster.bus().received(), "received");
  if (is_long) AddBytes(text, cluster.bus());
  AddLine(text, "total_cluster_links_buffer_limit_exceeded", cluster.bus().over_limit_link_count());
  return text;
}

}  // namespace respite
