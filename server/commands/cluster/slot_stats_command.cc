// CLUSTER SLOT-STATS: shows the number of keys, the memory, the CPU time and the network traffic of each slot.
#include <algorithm>
#include <iterator>
#include <vector>

#include "base/str_cat.h"
#include "datatypes/keyspace.h"
#include "server/cluster/slot_stats.h"
#include "server/commands/cluster/cluster_commands.h"
#include "server/commands/families.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/execution/services.h"

namespace respite {

namespace {

constexpr char kUnknownMetric[] = "ERR Unrecognized sort metric for ORDERBY.";
constexpr char kBadLimit[] = "ERR Limit has to lie in between 1 and 16384 (maximum number of slots).";
constexpr char kTwice[] = "ERR Multiple filters of the same type are disallowed.";

enum class Metric : uint8_t { kKeyCount, kMemory, kCpu, kBytesIn, kBytesOut };

struct Named {
  Bytes name;
  Metric metric;
  uint8_t enabled_by;  // kSlotStats… bit that shows the metric; 0: it is always shown
};
constexpr Named kMetrics[] = {
    {"key-count", Metric::kKeyCount, 0},
    {"memory-bytes", Metric::kMemory, kSlotStatsMem},
    {"cpu-usec", Metric::kCpu, kSlotStatsCpu},
    {"network-bytes-in", Metric::kBytesIn, kSlotStatsNet},
    {"network-bytes-out", Metric::kBytesOut, kSlotStatsNet},
};

bool IsShown(const Call& call, const Named& one) {
  return one.enabled_by == 0 || (call.services.env.settings.cluster_slot_stats & one.enabled_by) != 0;
}

// Returns the memory of the slot's keys and values, as MEMORY USAGE estimates it. Cost: O(keys of the slot).
uint64_t MemoryOfSlot(const Call& call, int slot) {
  uint64_t bytes = 0;
  Keyspace& keyspace = call.services.data.dataset.keyspace;
  for (int db = 0; db < keyspace.Count(); ++db) {
    keyspace[db].by_slot()->ForEachWhile(slot, [&](const Entry* entry) {
      bytes += entry->UsedBytes();
      return true;
    });
  }
  return bytes;
}

uint64_t MetricValue(const Call& call, int slot, Metric metric) {
  const SlotStats& stats = *call.services.cluster.slot_stats();
  switch (metric) {
    case Metric::kKeyCount:
      return call.services.data.dataset.keyspace.CountKeysInSlot(slot);
    case Metric::kMemory:
      return MemoryOfSlot(call, slot);
    case Metric::kCpu:
      return stats.Of(slot).cpu_us;
    case Metric::kBytesIn:
      return stats.Of(slot).bytes_in;
    case Metric::kBytesOut:
      break;
  }
  return stats.Of(slot).bytes_out;
}

// Returns those slots from `first` to `last` that this node owns, or whose owner it replicates.
std::vector<int> SlotsBetween(Cluster& cluster, int first, int last) {
  ClusterView& view = cluster.view();
  const ClusterNode* const mine = &view.PrimaryOf(view.me());
  std::vector<int> slots;
  for (int slot = first; slot <= last; ++slot) {
    if (view.Owner(slot) == mine) slots.push_back(slot);
  }
  return slots;
}

void WriteSlotStats(Call& call, std::span<const int> slots) {
  std::vector<Named> metrics;
  std::ranges::copy_if(kMetrics, std::back_inserter(metrics), [&](const Named& one) { return IsShown(call, one); });
  call.reply.Array(slots.size());
  for (const int slot : slots) {
    call.reply.Array(2);
    call.reply.Integer(slot);
    call.reply.Map(metrics.size());
    for (const Named& one : metrics) {
      call.reply.Bulk(one.name);
      call.reply.Integer(static_cast<int64_t>(MetricValue(call, slot, one.metric)));
    }
  }
}

void WriteRangeStats(Call& call, Cluster& cluster) {
  const int first = ParseSlotNumber(call.args.Next());
  const int last = ParseSlotNumber(call.args.Next());
  if (first > last) {
    throw Refusal{StrCat("ERR Start slot number ", first, " is greater than end slot number ", last)};
  }
  WriteSlotStats(call, SlotsBetween(cluster, first, last));
}

Metric TakeMetric(Call& call) {
  const Bytes word = call.args.Next();
  for (const Named& one : kMetrics) {
    if (EqualsIgnoreCase(word, one.name) && IsShown(call, one)) return one.metric;
  }
  throw Refusal{kUnknownMetric};
}

struct OrderOptions {
  int64_t limit = kSlotCount;
  bool ascends = false;
};

OrderOptions TakeOrderOptions(Call& call) {
  OrderOptions options;
  int limits = 0;
  int orders = 0;
  while (!call.args.AtEnd()) {
    if (call.args.TakeTokenWith("LIMIT", 1)) {
      options.limit = Args::Integer(call.args.Next(), kBadLimit);
      if (options.limit < 1 || options.limit > kSlotCount) throw Refusal{kBadLimit};
      ++limits;
    } else if (call.args.TakeToken("ASC")) {
      options.ascends = true;
      ++orders;
    } else if (call.args.TakeToken("DESC")) {
      options.ascends = false;
      ++orders;
    } else {
      throw Refusal{refusals::kSyntax};
    }
    if (limits > 1 || orders > 1) throw Refusal{kTwice};
  }
  return options;
}

// Writes the reply of CLUSTER SLOT-STATS ORDERBY: the slots ordered by a metric, at most as many as LIMIT says. Slots
// with equal values are in ascending order of their numbers, even if the sort is descending.
void WriteOrderedStats(Call& call, Cluster& cluster) {
  const Metric metric = TakeMetric(call);
  const OrderOptions options = TakeOrderOptions(call);
  std::vector<std::pair<uint64_t, int>> ranked;
  for (const int slot : SlotsBetween(cluster, 0, kSlotCount - 1)) {
    const uint64_t value = MetricValue(call, slot, metric);
    ranked.emplace_back(options.ascends ? value : ~value, slot);
  }
  std::sort(ranked.begin(), ranked.end());
  ranked.resize(std::min(ranked.size(), static_cast<size_t>(options.limit)));
  std::vector<int> slots;
  slots.reserve(ranked.size());
  for (const auto& [rank, slot] : ranked) slots.push_back(slot);
  WriteSlotStats(call, slots);
}

struct ClusterSlotStats {
  static constexpr CommandSpec spec = {
      .syntax =
          "CLUSTER|SLOT-STATS filter(SLOTSRANGE slotsrange{start-slot:integer end-slot:integer}|ORDERBY "
          "orderby{metric [LIMIT limit:integer] [order(ASC|DESC)]})",
      .summary = "Reports keys, time and traffic of each slot of this shard.",
      .since = "8.2.0,valkey:8.0.0",
      .complexity = "O(N) for N slots; O(N log N) with ORDERBY",
      .group = CommandGroup::kCluster,
      .flags = kStale | kLoading,
      .tips = "nondeterministic_output request_policy:all_shards",
      .arity = -4};
  static void Run(Call& call) {
    Cluster& cluster = RequireCluster(call);
    const Bytes subcommand = call.args[1];
    if (call.args.Left() == 3 && call.args.TakeToken("SLOTSRANGE")) return WriteRangeStats(call, cluster);
    if (call.args.Left() >= 2 && call.args.TakeToken("ORDERBY")) return WriteOrderedStats(call, cluster);
    throw refusals::SubcommandSyntax(call.services.env.dialect, "CLUSTER", subcommand);
  }
};

constexpr auto kClusterSlotStatsCommands = Family<ClusterSlotStats>();

}  // namespace

std::span<const CommandCard> ClusterSlotStatsCommands() { return kClusterSlotStatsCommands; }

}  // namespace respite
