#include <algorithm>

#include "base/clock.h"
#include "base/memory.h"
#include "base/str_cat.h"
#include "scripting/function_library.h"
#include "scripting/script_cache.h"
#include "server/cluster/cluster.h"
#include "server/cluster/cluster_mode.h"
#include "server/config/directive_table.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/eviction.h"
#include "server/dataset/lazy_free_thread.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/services.h"
#include "server/observe/info/sections.h"
#include "server/observe/memory_report.h"
#include "server/replication/replication.h"
#include "server/runtime/stats.h"

namespace respite {

namespace {

double Ratio(size_t part, size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}
int64_t Difference(size_t a, size_t b) { return static_cast<int64_t>(a) - static_cast<int64_t>(b); }

void AddTotals(InfoText& text, const MemoryReport& memory, const ServerStats& stats, size_t resident_bytes) {
  const size_t peak_bytes = stats.peak_memory_bytes;
  text.Add("used_memory", memory.used_bytes)
      .AddHumanBytes("used_memory_human", memory.used_bytes)
      .Add("used_memory_rss", resident_bytes)
      .AddHumanBytes("used_memory_rss_human", resident_bytes)
      .Add("used_memory_peak", peak_bytes)
      .AddHumanBytes("used_memory_peak_human", peak_bytes)
      .Add("used_memory_peak_time", stats.peak_memory_time_s)
      .AddPercent("used_memory_peak_perc", 100 * Ratio(memory.used_bytes, peak_bytes))
      .Add("used_memory_overhead", memory.overhead_bytes)
      .Add("used_memory_startup", memory.startup_bytes)
      .Add("used_memory_dataset", memory.DatasetBytes())
      .AddPercent("used_memory_dataset_perc", memory.DatasetPercent());
}

void AddScripts(InfoText& text, const MemoryReport& memory, const Services& services) {
  text.Add("used_memory_lua", memory.script_engine_bytes)
      .Add("used_memory_vm_eval", memory.script_engine_bytes)
      .AddHumanBytes("used_memory_lua_human", memory.script_engine_bytes)
      .Add("used_memory_scripts_eval", memory.script_bytes)
      .Add("number_of_cached_scripts", services.execution.script_cache.Size())
      .Add("number_of_functions", services.execution.function_libraries.FunctionCount())
      .Add("number_of_libraries", services.execution.function_libraries.All().size())
      .Add("used_memory_vm_functions", memory.function_engine_bytes)
      .Add("used_memory_vm_total", memory.EngineBytes())
      .AddHumanBytes("used_memory_vm_total_human", memory.EngineBytes())
      .Add("used_memory_functions", memory.function_bytes)
      .Add("used_memory_scripts", memory.AllScriptBytes())
      .AddHumanBytes("used_memory_scripts_human", memory.AllScriptBytes());
}

void AddFragmentation(InfoText& text, const AllocatorStats& allocator, size_t used_bytes, size_t resident_bytes) {
  text.AddRatio("allocator_frag_ratio", Ratio(allocator.active, allocator.allocated))
      .Add("allocator_frag_bytes", Difference(allocator.active, allocator.allocated))
      .AddRatio("allocator_rss_ratio", Ratio(allocator.resident, allocator.active))
      .Add("allocator_rss_bytes", Difference(allocator.resident, allocator.active))
      .AddRatio("rss_overhead_ratio", Ratio(resident_bytes, allocator.resident))
      .Add("rss_overhead_bytes", Difference(resident_bytes, allocator.resident))
      .AddRatio("mem_fragmentation_ratio", Ratio(resident_bytes, used_bytes))
      .Add("mem_fragmentation_bytes", Difference(resident_bytes, used_bytes));
}

// Returns the statistics of the allocator. If the allocator has none, returns figures of the process instead, as Redis
// does.
AllocatorStats AllocatorOrProcess(size_t used_bytes, size_t resident_bytes) {
  AllocatorStats allocator = ReadAllocatorStats();
  if (allocator.active != 0) return allocator;
  return {.allocated = used_bytes, .active = resident_bytes, .resident = resident_bytes, .retained = 0, .muzzy = 0};
}

size_t ClusterLinkBytes(const Services& services) {
  size_t bytes = 0;
  const Cluster* cluster = services.cluster.cluster();
  if (cluster != nullptr) cluster->bus().ForEachLink([&](const BusLink& link) { bytes += link.HeldBytes(); });
  return bytes;
}

}  // namespace

std::string MemorySection(const Services& services) {
  const Settings& settings = services.env.settings;
  const MemoryReport memory = MeasureMemory(services);
  const size_t resident_bytes = ResidentBytes();
  const AllocatorStats allocator = AllocatorOrProcess(memory.used_bytes, resident_bytes);
  services.env.stats.NotePeakMemory(memory.used_bytes, services.env.clock.WallMs() / 1000);

  InfoText text("Memory");
  AddTotals(text, memory, services.env.stats, resident_bytes);
  text.Add("allocator_allocated", allocator.allocated)
      .Add("allocator_active", allocator.active)
      .Add("allocator_resident", allocator.resident)
      .Add("allocator_muzzy", allocator.muzzy)
      .Add("total_system_memory", SystemMemory())
      .AddHumanBytes("total_system_memory_human", SystemMemory());
  AddScripts(text, memory, services);
  text.Add("maxmemory", settings.maxmemory)
      .AddHumanBytes("maxmemory_human", settings.maxmemory)
      .Add("maxmemory_policy", ValueText(*FindDirective("maxmemory-policy"), settings));
  AddFragmentation(text, allocator, memory.used_bytes, resident_bytes);
  text.Add("mem_not_counted_for_evict", services.data.eviction.UncountedBytes())
      .Add("mem_replication_backlog", memory.backlog_bytes)
      .Add("mem_total_replication_buffers", services.replication.replicas().BufferBytes())
      .AddZeros({"mem_replica_full_sync_buffer", "mem_replicas_repl_buffer"})
      .Add("mem_clients_slaves", memory.replicas_bytes)
      .Add("mem_clients_normal", memory.clients_bytes)
      .AddZeros({"mem_cluster_slot_migration_output_buffer", "mem_cluster_slot_migration_input_buffer",
                 "mem_cluster_slot_migration_input_buffer_peak"})
      .Add("mem_cluster_links", ClusterLinkBytes(services))
      .AddZeros({"mem_cluster_slot_import", "mem_cluster_slot_export"})
      .Add("mem_aof_buffer", memory.aof_buffer_bytes)
      .Add("mem_allocator", AllocatorName())
      .Add("mem_overhead_db_hashtable_rehashing", 0)
      .Add("active_defrag_running", 0)
      .Add("lazyfree_pending_objects", services.data.lazy_free_thread.PendingObjects())
      .Add("lazyfreed_objects", services.data.lazy_free_thread.FreedObjects());
  return text.Take();
}

std::string EnginesSection(const Services& services) {
  const size_t bytes =
      services.execution.script_cache.EngineBytes() + services.execution.function_libraries.EngineBytes();
  constexpr size_t kOverheadBytes = 64;  // of the list of engines; as in Valkey
  return InfoText("Scripting Engines")
      .Add("engines_count", 1)
      .Add("engines_total_used_memory", bytes)
      .Add("engines_total_memory_overhead", kOverheadBytes)
      .Add("engine_0",
           StrCat("name=LUA,module=lua,abi_version=4,used_memory=", bytes, ",memory_overhead=", kOverheadBytes))
      .Take();
}

}  // namespace respite
