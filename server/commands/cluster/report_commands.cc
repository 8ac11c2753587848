// CLUSTER INFO, NODES, SHARDS, SLOTS, REPLICAS, LINKS, MYID, COUNT-FAILURE-REPORTS and similar subcommands: report this
// node's view of its cluster.
#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "base/str_cat.h"
#include "server/catalogue/dialect.h"
#include "server/cluster/slots/slot_migrations.h"
#include "server/commands/cluster/cluster_commands.h"
#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/dataset.h"
#include "server/execution/services.h"
#include "server/observe/cluster_info.h"

namespace respite {

namespace {

constexpr char kNotAPrimary[] = "ERR The specified node is not a master";

NodesFormat FormatFor(const Call& call) {
  const ClientAddresses& addresses = call.session.Caller().addresses;
  return {.port = addresses.is_encrypted ? PortChoice::kTls : PortChoice::kTcp,
          .form = NodeForm::kClient,
          .family = addresses.IsIpv6() ? IpFamily::kIpv6 : IpFamily::kIpv4};
}

// --- CLUSTER INFO.

// Returns what Redis since 8.4 adds to CLUSTER INFO. Keys of slots that have left this node are deleted without a task
// of their own ("trim" in Redis), so the counters of trims are 0.
std::string MigrationLines(const Services& services) {
  if (!services.env.dialect.traits.cluster_info_has_migrations) return {};
  const auto active = std::ranges::count_if(services.slot_migrations.Jobs(), [](const SlotJob& job) {
    return job.state != SlotJob::State::kSuccess && job.state != SlotJob::State::kFailed &&
           job.state != SlotJob::State::kCancelled;
  });
  return StrCat("cluster_slot_migration_active_tasks:", active,
                "\r\n"
                "cluster_slot_migration_active_trim_running:0\r\n"
                "cluster_slot_migration_active_trim_current_job_keys:0\r\n"
                "cluster_slot_migration_active_trim_current_job_trimmed:0\r\n"
                "cluster_slot_migration_stats_active_trim_started:0\r\n"
                "cluster_slot_migration_stats_active_trim_completed:0\r\n"
                "cluster_slot_migration_stats_active_trim_cancelled:0\r\n");
}

// --- The descriptions of nodes in CLUSTER SLOTS and CLUSTER SHARDS.

int64_t OffsetOf(const Call& call, const ClusterNode& node) {
  if (node.IsMyself()) return call.services.data.dataset.history.offset;
  return History::PlainOffset(node.offset);
}

// Returns the zone of the node, or an empty text if there is none or the emulated version does not show it.
Bytes ShownZone(const Call& call, const ClusterNode& node) {
  return call.services.env.dialect.Has("valkey:9.1.0") ? Bytes(node.availability_zone) : Bytes();
}

void WriteEndpoint(Call& call, const ClusterNode& node) {
  const auto endpoint = call.services.cluster.router().EndpointFor(call.session.Caller(), node);
  if (endpoint) return call.reply.Bulk(*endpoint);
  call.reply.Null();
}

// Writes the description of a node in CLUSTER SLOTS: endpoint, port and ID. In versions that have such metadata (trait
// slots_have_metadata), adds the node's other addresses.
void WriteNode(Call& call, const ClusterNode& node) {
  const ClusterEndpointType preferred = call.services.env.settings.cluster_preferred_endpoint_type;
  const bool shows_ip = preferred != ClusterEndpointType::kIp;
  const bool shows_hostname = preferred != ClusterEndpointType::kHostname && !node.hostname.empty();
  const bool has_metadata = call.services.env.dialect.traits.slots_have_metadata;
  call.reply.Array(has_metadata ? 4 : 3);
  WriteEndpoint(call, node);
  call.reply.Integer(ClusterRouter::PortFor(call.session.Caller(), node));
  call.reply.Bulk(node.id.Text());
  if (!has_metadata) return;
  const Bytes zone = ShownZone(call, node);
  call.reply.Map((shows_ip ? 1 : 0) + (shows_hostname ? 1 : 0) + (zone.empty() ? 0 : 1));
  if (shows_ip) {
    call.reply.Bulk("ip");
    call.reply.Bulk(ClusterRouter::IpFor(call.session.Caller(), node));
  }
  if (shows_hostname) {
    call.reply.Bulk("hostname");
    call.reply.Bulk(node.hostname);
  }
  if (zone.empty()) return;
  call.reply.Bulk("availability-zone");
  call.reply.Bulk(zone);
}

// Writes for CLUSTER SLOTS a range of slots with its owner, and with those replicas of the owner that have data and
// have not failed.
void WriteOwnedRange(Call& call, const SlotRange& range, const ClusterNode& owner) {
  std::vector<const ClusterNode*> replicas;
  for (const ClusterNode* replica : owner.replicas) {
    if (!replica->Is(kNodeFail) && OffsetOf(call, *replica) != 0) replicas.push_back(replica);
  }
  call.reply.Array(3 + replicas.size());
  call.reply.Integer(range.first);
  call.reply.Integer(range.last);
  WriteNode(call, owner);
  for (const ClusterNode* replica : replicas) WriteNode(call, *replica);
}

Bytes HealthOf(const Call& call, const ClusterNode& node) {
  if (node.Is(kNodeFail)) return "fail";
  return node.IsReplica() && OffsetOf(call, node) == 0 ? "loading" : "online";
}

void WriteTextField(Call& call, Bytes name, Bytes value) {
  call.reply.Bulk(name);
  call.reply.Bulk(value);
}

void WriteNumberField(Call& call, Bytes name, int64_t value) {
  call.reply.Bulk(name);
  call.reply.Integer(value);
}

void WriteShardNode(Call& call, const ClusterNode& node) {
  const bool has_tcp = node.address.tcp_port != 0;
  const bool has_tls = node.address.tls_port != 0;
  const Bytes zone = ShownZone(call, node);
  constexpr size_t kAlways = 6;
  call.reply.Map(kAlways + (has_tcp ? 1 : 0) + (has_tls ? 1 : 0) + (node.hostname.empty() ? 0 : 1) +
                 (zone.empty() ? 0 : 1));
  WriteTextField(call, "id", node.id.Text());
  if (has_tcp) WriteNumberField(call, "port", node.address.tcp_port);
  if (has_tls) WriteNumberField(call, "tls-port", node.address.tls_port);
  WriteTextField(call, "ip", ClusterRouter::IpFor(call.session.Caller(), node));
  call.reply.Bulk("endpoint");
  WriteEndpoint(call, node);
  if (!node.hostname.empty()) WriteTextField(call, "hostname", node.hostname);
  WriteTextField(call, "role", node.IsReplica() ? "replica" : "master");
  WriteNumberField(call, "replication-offset", OffsetOf(call, node));
  WriteTextField(call, "health", HealthOf(call, node));
  if (!zone.empty()) WriteTextField(call, "availability-zone", zone);
}

void WriteShard(Call& call, const ClusterView& view, const std::vector<const ClusterNode*>& nodes) {
  std::vector<SlotRange> ranges;
  for (const ClusterNode* node : nodes) {
    if (node->slot_count != 0) ranges = RangesOf(view.SlotsOf(*node));
  }
  const bool has_id = call.services.env.dialect.traits.shards_have_ids;
  call.reply.Map(has_id ? 3 : 2);
  call.reply.Bulk("slots");
  call.reply.Array(ranges.size() * 2);
  for (const SlotRange& range : ranges) {
    call.reply.Integer(range.first);
    call.reply.Integer(range.last);
  }
  call.reply.Bulk("nodes");
  call.reply.Array(nodes.size());
  for (const ClusterNode* node : nodes) WriteShardNode(call, *node);
  if (has_id) WriteTextField(call, "id", nodes[0]->shard.Text());
}

void WriteLink(Call& call, const BusLink& link) {
  call.reply.Map(6);
  WriteTextField(call, "direction", link.direction() == BusLink::Direction::kTo ? "to" : "from");
  WriteTextField(call, "node", link.node->id.Text());
  WriteNumberField(call, "create-time", link.born_ms);
  WriteTextField(call, "events", link.UnsentBytes() != 0 ? "rw" : "r");
  WriteNumberField(call, "send-buffer-allocated", static_cast<int64_t>(link.UnsentBytes()));
  WriteNumberField(call, "send-buffer-used", static_cast<int64_t>(link.UnsentBytes()));
}

void ListReplicas(Call& call) {
  Cluster& cluster = RequireCluster(call);
  const ClusterNode& node = GetNodeById(cluster, call.args.Next());
  if (node.IsReplica()) throw Refusal{kNotAPrimary};
  call.reply.Array(node.replicas.size());
  for (const ClusterNode* replica : node.replicas) {
    call.reply.Bulk(NodeLine(cluster.view(), *replica, FormatFor(call)));
  }
}

struct ClusterInfo {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|INFO",
                                       .summary = "Returns the state of the cluster.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kStale,
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call) {
    const Cluster& cluster = RequireCluster(call);
    call.reply.Verbatim(ClusterInfoText(cluster, call.services.env.dialect) + MigrationLines(call.services), "txt");
  }
};

struct ClusterNodes {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|NODES",
                                       .summary = "Describes all nodes, one line for each.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N nodes",
                                       .group = CommandGroup::kCluster,
                                       .flags = kStale,
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call) {
    call.reply.Verbatim(NodesText(RequireCluster(call).view(), FormatFor(call), 0), "txt");
  }
};

struct ClusterMyId {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|MYID",
                                       .summary = "Tells the id of this node.",
                                       .since = "3.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kStale};
  static void Run(Call& call) { call.reply.Bulk(RequireCluster(call).view().me().id.Text()); }
};

struct ClusterMyShardId {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|MYSHARDID",
                                       .summary = "Returns the ID of the shard of this node.",
                                       .since = "7.2.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kStale,
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call) { call.reply.Bulk(RequireCluster(call).view().me().shard.Text()); }
};

struct ClusterReplicas {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|REPLICAS node-id",
                                       .summary = "Lists the replicas of a master.",
                                       .since = "5.0.0",
                                       .complexity = "O(N) for N replicas",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale,
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call) { ListReplicas(call); }
};

struct ClusterSlaves {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|SLAVES node-id",
                                       .summary = "The old name of CLUSTER REPLICAS.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N replicas",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale,
                                       .tips = "nondeterministic_output",
                                       .deprecated_since = "5.0.0",
                                       .replaced_by = "`CLUSTER REPLICAS`"};
  static void Run(Call& call) { ListReplicas(call); }
};

struct ClusterCountFailureReports {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|COUNT-FAILURE-REPORTS node-id",
                                       .summary = "Counts the active failure reports about a node.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N failure reports",
                                       .group = CommandGroup::kCluster,
                                       .flags = kAdmin | kStale,
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call) {
    Cluster& cluster = RequireCluster(call);
    call.reply.Integer(cluster.CountFailureReports(GetNodeById(cluster, call.args.Next())));
  }
};

struct ClusterSlots {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|SLOTS",
                                       .summary = "Maps the hash slots to nodes.",
                                       .since = "3.0.0",
                                       .complexity = "O(N) for N nodes",
                                       .group = CommandGroup::kCluster,
                                       .flags = kLoading | kStale,
                                       .tips = "nondeterministic_output",
                                       .deprecated_since = "7.0.0",
                                       .replaced_by = "`CLUSTER SHARDS`"};
  static void Run(Call& call) {
    const ClusterView& view = RequireCluster(call).view();
    std::vector<std::pair<SlotRange, const ClusterNode*>> ranges;
    for (int slot = 0; slot < kSlotCount; ++slot) {
      const ClusterNode* owner = view.Owner(slot);
      if (owner == nullptr) continue;
      if (!ranges.empty() && ranges.back().second == owner && ranges.back().first.last == slot - 1) {
        ranges.back().first.last = slot;
      } else {
        ranges.push_back({{slot, slot}, owner});
      }
    }
    call.reply.Array(ranges.size());
    for (const auto& [range, owner] : ranges) WriteOwnedRange(call, range, *owner);
  }
};

struct ClusterShards {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|SHARDS",
                                       .summary = "Maps the hash slots to shards and their nodes.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N nodes",
                                       .group = CommandGroup::kCluster,
                                       .flags = kLoading | kStale,
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call) {
    const ClusterView& view = RequireCluster(call).view();
    std::map<NodeId, std::vector<const ClusterNode*>> shards;
    for (const auto& [id, node] : view.nodes()) {
      if (!node->Is(kNodeHandshake)) shards[node->shard].push_back(node.get());
    }
    call.reply.Array(shards.size());
    for (const auto& [id, nodes] : shards) WriteShard(call, view, nodes);
  }
};

struct ClusterLinks {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|LINKS",
                                       .summary = "Lists the links to the other nodes.",
                                       .since = "7.0.0",
                                       .complexity = "O(N) for N links",
                                       .group = CommandGroup::kCluster,
                                       .flags = kStale,
                                       .tips = "nondeterministic_output"};
  static void Run(Call& call) {
    const Bus& bus = RequireCluster(call).bus();
    std::vector<const BusLink*> links;
    bus.ForEachLink([&](const BusLink& link) { links.push_back(&link); });
    call.reply.Array(links.size());
    for (const BusLink* link : links) WriteLink(call, *link);
  }
};

struct ClusterHelp {
  static constexpr CommandSpec spec = {.syntax = "CLUSTER|HELP",
                                       .summary = "Lists the subcommands of CLUSTER.",
                                       .since = "5.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kCluster,
                                       .flags = kLoading | kStale};
  static void Run(Call& call) {
    RequireCluster(call);
    WriteHelp(call, {"ADDSLOTS <slot> [<slot> ...]",
                     "    Assign slots to this node.",
                     "ADDSLOTSRANGE <start> <end> [<start> <end> ...]",
                     "    Assign ranges of slots to this node.",
                     "BUMPEPOCH",
                     "    Raise the config epoch of this node.",
                     "COUNT-FAILURE-REPORTS <node-id>",
                     "    The number of failure reports about a node.",
                     "COUNTKEYSINSLOT <slot>",
                     "    The number of keys in a slot.",
                     "DELSLOTS <slot> [<slot> ...]",
                     "    Take slots from their owners, as this node sees it.",
                     "DELSLOTSRANGE <start> <end> [<start> <end> ...]",
                     "    The same for ranges of slots.",
                     "FAILOVER [FORCE|TAKEOVER]",
                     "    Make this replica the master of its shard.",
                     "FLUSHSLOTS",
                     "    Drop all slots of this node.",
                     "FORGET <node-id>",
                     "    Remove a node from the cluster.",
                     "GETKEYSINSLOT <slot> <count>",
                     "    Some keys in a slot.",
                     "INFO",
                     "    The state of the cluster.",
                     "KEYSLOT <key>",
                     "    The slot of a key.",
                     "LINKS",
                     "    The connections to other nodes.",
                     "MEET <ip> <port> [<bus-port>]",
                     "    Join the cluster of another node.",
                     "MYID",
                     "    The id of this node.",
                     "MYSHARDID",
                     "    The id of the shard of this node.",
                     "NODES",
                     "    All nodes, one per line.",
                     "REPLICAS <node-id>",
                     "    The replicas of a master.",
                     "REPLICATE <node-id>",
                     "    Make this node a replica of a master.",
                     "RESET [HARD|SOFT]",
                     "    Leave the cluster.",
                     "SAVECONFIG",
                     "    Write the cluster's configuration to disk.",
                     "SET-CONFIG-EPOCH <epoch>",
                     "    Set the config epoch of a node that is alone.",
                     "SETSLOT <slot> (IMPORTING <node-id>|MIGRATING <node-id>|STABLE|NODE <node-id>)",
                     "    Change what this node knows of a slot.",
                     "SHARDS",
                     "    The slots and nodes of each shard.",
                     "SLOTS",
                     "    Ranges of slots with their nodes."});
  }
};

constexpr auto kClusterReportCommands =
    Family<ClusterCountFailureReports, ClusterHelp, ClusterInfo, ClusterLinks, ClusterMyId, ClusterMyShardId,
           ClusterNodes, ClusterReplicas, ClusterShards, ClusterSlaves, ClusterSlots>();

}  // namespace

std::span<const CommandCard> ClusterReportCommands() { return kClusterReportCommands; }

}  // namespace respite
