#include "server/observe/memory_report.h"

#include <algorithm>

#include "datatypes/keyspace.h"
#include "scripting/function_library.h"
#include "scripting/script_cache.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/clients.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/memory_gauge.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/services.h"
#include "server/replication/replication.h"
#include "server/runtime/stats.h"
#include "server/storage/append_only_file.h"
#include "server/storage/storage_subsystem.h"

namespace respite {

namespace {

constexpr size_t kMegabyte = 1024 * 1024;
constexpr size_t kTooLittleToJudge = 5 * kMegabyte;
constexpr size_t kWasteThatMatters = 10 * kMegabyte;
constexpr size_t kLargeClient = 200 * 1024;

// Returns whether large / small exceeds the limit, and the difference is large enough to matter: more than 10 MB.
bool Wasteful(size_t large, size_t small, double limit) {
  return large > small + kWasteThatMatters && MemoryReport::Ratio(large, small) > limit;
}

}  // namespace

MemoryReport MeasureMemory(const Services& services) {
  MemoryReport report;
  report.used_bytes = services.data.memory.UsedBytes();
  report.allocator = ReadAllocatorStats();
  report.resident_bytes = ResidentBytes();
  report.peak_bytes = std::max(services.env.stats.peak_memory_bytes, report.used_bytes);
  report.startup_bytes = services.env.stats.startup_memory_bytes;
  services.clients.registry.ForEach([&](const Session& session) {
    if (session.kind == SessionKind::kReplica) {
      report.replicas_bytes += session.HeldBytes() - session.out.HeldBytes() + session.out.BlockBytes();
      return;
    }
    ++report.clients;
    report.clients_bytes += session.HeldBytes();
  });
  // Divides the memory of the replication backlog, which also holds the output that waits for replicas. Without
  // replicas, all of it counts as backlog. With replicas, it counts as backlog up to repl-backlog-size, and the rest
  // counts as memory of replicas.
  const size_t buffer_bytes = services.replication.replicas().BufferBytes();
  const bool has_replicas = !services.replication.replicas().IsEmpty();
  const auto backlog_limit = static_cast<size_t>(services.env.settings.repl_backlog_size);
  report.backlog_bytes = has_replicas ? std::min(buffer_bytes, backlog_limit) : buffer_bytes;
  report.replicas_bytes += buffer_bytes - report.backlog_bytes;
  report.aof_buffer_bytes = services.storage.aof.writer().BufferedBytes();
  report.script_engine_bytes = services.execution.script_cache.EngineBytes();
  report.script_bytes = services.execution.script_cache.UsedBytes();
  report.function_engine_bytes = services.execution.function_libraries.EngineBytes();
  report.function_bytes = services.execution.function_libraries.UsedBytes();
  // Counts all memory of Lua states as overhead, unlike Redis.
  report.overhead_bytes = report.startup_bytes + report.clients_bytes + report.replicas_bytes + report.backlog_bytes +
                          report.aof_buffer_bytes + report.EngineBytes() + report.AllScriptBytes();
  for (int i = 0; i < services.data.dataset.keyspace.Count(); ++i) {
    const Database& data = services.data.dataset.keyspace[i];
    if (data.Size() == 0) continue;
    MemoryReport::Database one{.index = i,
                               .table_bytes = data.Entries().UsedBytes() + data.Size() * sizeof(Entry),
                               .expires_bytes = data.EntriesWithDeadline().UsedBytes()};
    report.keys += data.Size();
    report.overhead_bytes += one.table_bytes + one.expires_bytes;
    report.databases.push_back(one);
  }
  return report;
}

std::string MemoryDoctor(const MemoryReport& report) {
  if (report.used_bytes < kTooLittleToJudge) return "There is too little data for a judgement.\n";
  std::string findings;
  if (static_cast<double>(report.peak_bytes) > 1.5 * static_cast<double>(report.used_bytes)) {
    findings +=
        " * Peak memory: the server once used more than 150% of its present memory. The allocator may keep the "
        "difference for later, which looks like fragmentation but does no harm. MEMORY PURGE returns some of it "
        "to the system.\n\n";
  }
  if (Wasteful(report.resident_bytes, report.used_bytes, 1.4)) {
    findings +=
        " * High total RSS: the process uses more than 1.4 times its allocated memory. The cause is a past peak, "
        "or values that often change their sizes.\n\n";
  }
  if (Wasteful(report.allocator.active, report.allocator.allocated, 1.1)) {
    findings +=
        " * High allocator fragmentation: the allocator's pages are more than 1.1 times the allocated memory. It goes "
        "down as new data fills the gaps.\n\n";
  }
  if (Wasteful(report.allocator.resident, report.allocator.active, 1.1)) {
    findings +=
        " * High allocator RSS overhead: the allocator holds more than 1.1 times its active pages. MEMORY PURGE "
        "returns the rest.\n\n";
  }
  if (Wasteful(report.resident_bytes, report.allocator.resident, 1.1)) {
    findings +=
        " * High process RSS overhead: the process uses more than 1.1 times the allocator's memory; the rest is "
        "not data.\n\n";
  }
  if (report.clients > 0 && report.clients_bytes / report.clients > kLargeClient) {
    findings +=
        " * Big client buffers: clients hold more than 200K each, on average. CLIENT LIST shows which; they send long "
        "pipelines or do not read their replies.\n\n";
  }
  if (findings.empty()) return "No memory problem was found.\n";
  return "Problems with memory usage:\n\n" + findings;
}

}  // namespace respite
