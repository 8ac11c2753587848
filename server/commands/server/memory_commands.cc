// MEMORY: the memory usage of data and server.
#include <utility>
#include <variant>
#include <vector>

#include "base/memory.h"
#include "base/str_cat.h"
#include "server/catalogue/dialect.h"
#include "server/catalogue/refusals.h"
#include "server/commands/families.h"
#include "server/commands/help.h"
#include "server/execution/call.h"
#include "server/execution/services.h"
#include "server/observe/memory_report.h"

namespace respite {

namespace {

struct MemoryDoctorCommand {
  static constexpr CommandSpec spec = {
      .syntax = "MEMORY|DOCTOR",
      .summary = "Reports problems with memory usage.",
      .since = "4.0.0",
      .complexity = "O(1)",
      .group = CommandGroup::kServer,
      .tips = "nondeterministic_output request_policy:all_shards response_policy:special"};
  static void Run(Call& call) { call.reply.Verbatim(MemoryDoctor(MeasureMemory(call.services)), "txt"); }
};

struct MemoryHelp {
  static constexpr CommandSpec spec = {.syntax = "MEMORY|HELP",
                                       .summary = "Lists the subcommands of MEMORY.",
                                       .since = "4.0.0",
                                       .complexity = "O(1)",
                                       .group = CommandGroup::kServer,
                                       .flags = kLoading | kStale};
  static void Run(Call& call) {
    WriteHelp(call, {"DOCTOR", "    Looks for memory problems.", "MALLOC-STATS", "    The allocator's own report.",
                     "PURGE", "    Gives unused memory back to the system.", "STATS",
                     "    Figures about the server's memory usage.", "USAGE <key> [SAMPLES <count>]",
                     "    The memory usage of <key> and its value in bytes. Of large collections <count> elements are",
                     "    measured (5 unless told, 0 for all)."});
  }
};

struct MemoryMallocStats {
  static constexpr CommandSpec spec = {
      .syntax = "MEMORY|MALLOC-STATS",
      .summary = "Shows the report of the memory allocator.",
      .since = "4.0.0",
      .complexity = "Depends on how much memory is allocated.",
      .group = CommandGroup::kServer,
      .tips = "nondeterministic_output request_policy:all_shards response_policy:special"};
  static void Run(Call& call) {
    std::string report = AllocatorReport();
    if (report.empty()) return call.reply.Bulk("Stats not supported for the current allocator");
    call.reply.Verbatim(report, "txt");
  }
};

struct MemoryPurge {
  static constexpr CommandSpec spec = {.syntax = "MEMORY|PURGE",
                                       .summary = "Returns unused memory to the system.",
                                       .since = "4.0.0",
                                       .complexity = "Depends on how much memory is allocated.",
                                       .group = CommandGroup::kServer,
                                       .tips = "request_policy:all_shards response_policy:all_succeeded"};
  static void Run(Call& call) {
    PurgeAllocator();
    call.reply.Ok();
  }
};

// Collects the fields of MEMORY STATS that the emulated version has. A server without `emulate` has the fields of Redis
// 7.2.
class StatsWriter {
 public:
  explicit StatsWriter(const Dialect& dialect) : version_(dialect.version.value_or(kDefaultVersion)) {}

  void Count(Bytes name, size_t value, const VersionMark& since = {}, const VersionMark& until = {}) {
    const bool is_gone = !until.IsEmpty() && until.IsIn(version_);
    if (since.IsIn(version_) && !is_gone) pairs_.emplace_back(name, static_cast<int64_t>(value));
  }
  void Ratio(Bytes name, double value) { pairs_.emplace_back(name, value); }
  // Adds a field with the difference `large` - `small`, which may be negative.
  void Excess(Bytes name, size_t large, size_t small) {
    pairs_.emplace_back(name, static_cast<int64_t>(large) - static_cast<int64_t>(small));
  }

  size_t Size() const { return pairs_.size(); }
  void WriteTo(Reply& reply) const {
    for (const auto& [name, value] : pairs_) {
      reply.Bulk(name);
      std::holds_alternative<double>(value) ? reply.Double(std::get<double>(value))
                                            : reply.Integer(std::get<int64_t>(value));
    }
  }

 private:
  const ServerVersion version_;
  std::vector<std::pair<Bytes, std::variant<int64_t, double>>> pairs_;
};

struct MemoryStats {
  static constexpr CommandSpec spec = {
      .syntax = "MEMORY|STATS",
      .summary = "Returns figures about the server's memory usage.",
      .since = "4.0.0",
      .complexity = "O(1)",
      .group = CommandGroup::kServer,
      .tips = "nondeterministic_output request_policy:all_shards response_policy:special"};
  static void Run(Call& call) {
    const MemoryReport report = MeasureMemory(call.services);
    StatsWriter parts(call.services.env.dialect);
    WriteParts(parts, report);
    StatsWriter totals(call.services.env.dialect);
    WriteTotals(totals, report);
    WriteAllocator(totals, report);
    call.reply.Map(parts.Size() + report.databases.size() + totals.Size());
    parts.WriteTo(call.reply);
    for (const MemoryReport::Database& database : report.databases) WriteDatabase(call, database);
    totals.WriteTo(call.reply);
  }

 private:
  static constexpr VersionMark kSinceTables = "7.4.0,valkey:8.0.0";

  static void WriteParts(StatsWriter& writer, const MemoryReport& report) {
    writer.Count("peak.allocated", report.peak_bytes);
    writer.Count("total.allocated", report.used_bytes);
    writer.Count("startup.allocated", report.startup_bytes);
    writer.Count("replication.backlog", report.backlog_bytes);
    writer.Count("replica.fullsync.buffer", 0, "8.0.0");
    writer.Count("replicas.repl.buffer", 0, "valkey:9.1.0");
    writer.Count("clients.slaves", report.replicas_bytes);
    writer.Count("clients.normal", report.clients_bytes);
    writer.Count("cluster.links", 0, "7.0.0");
    writer.Count("cluster.slot_import", 0, "valkey:9.0.0");
    writer.Count("cluster.slot_export", 0, "valkey:9.0.0");
    writer.Count("aof.buffer", report.aof_buffer_bytes);
    writer.Count("lua.caches", report.script_bytes);
    writer.Count("functions.caches", report.function_bytes, "7.0.0");
    writer.Count("script.VMs", report.EngineBytes(), "8.0.0");
  }
  static void WriteDatabase(Call& call, const MemoryReport::Database& database) {
    StatsWriter writer(call.services.env.dialect);
    writer.Count("overhead.hashtable.main", database.table_bytes);
    writer.Count("overhead.hashtable.expires", database.expires_bytes);
    writer.Count("overhead.hashtable.slot-to-keys", 0, "7.0.0", "7.4.0,valkey:8.0.0");
    call.reply.Bulk(StrCat("db.", database.index));
    call.reply.Map(writer.Size());
    writer.WriteTo(call.reply);
  }
  static void WriteTotals(StatsWriter& writer, const MemoryReport& report) {
    size_t table_bytes = 0;
    for (const MemoryReport::Database& database : report.databases) table_bytes += database.table_bytes;
    writer.Count("overhead.db.hashtable.lut", table_bytes, kSinceTables);
    writer.Count("overhead.db.hashtable.rehashing", 0, kSinceTables);  // tables never rehash as a whole
    writer.Count("overhead.total", report.overhead_bytes);
    writer.Count("db.dict.rehashing.count", 0, kSinceTables);
    writer.Count("keys.count", report.keys);
    writer.Count("keys.bytes-per-key", report.BytesPerKey());
    writer.Count("dataset.bytes", report.DatasetBytes());
    writer.Ratio("dataset.percentage", 100 * MemoryReport::Ratio(report.DatasetBytes(), report.BytesSinceStartup()));
    writer.Ratio("peak.percentage", 100 * MemoryReport::Ratio(report.used_bytes, report.peak_bytes));
  }
  static void WriteAllocator(StatsWriter& writer, const MemoryReport& report) {
    const AllocatorStats& allocator = report.allocator;
    writer.Count("allocator.allocated", allocator.allocated);
    writer.Count("allocator.active", allocator.active);
    writer.Count("allocator.resident", allocator.resident);
    writer.Count("allocator.muzzy", allocator.muzzy, kSinceTables);
    writer.Ratio("allocator-fragmentation.ratio", report.AllocatorFragmentationRatio());
    writer.Excess("allocator-fragmentation.bytes", allocator.active, allocator.allocated);
    writer.Ratio("allocator-rss.ratio", report.AllocatorResidentRatio());
    writer.Excess("allocator-rss.bytes", allocator.resident, allocator.active);
    writer.Ratio("rss-overhead.ratio", report.ProcessResidentRatio());
    writer.Excess("rss-overhead.bytes", report.resident_bytes, allocator.resident);
    writer.Ratio("fragmentation", report.FragmentationRatio());
    writer.Excess("fragmentation.bytes", report.resident_bytes, report.used_bytes);
  }
};

struct MemoryUsage {
  static constexpr CommandSpec spec = {.syntax = "MEMORY|USAGE key [SAMPLES count:integer]",
                                       .summary = "Returns the memory usage of a key in bytes.",
                                       .since = "4.0.0",
                                       .complexity = "O(N) for N elements that are measured",
                                       .group = CommandGroup::kServer,
                                       .flags = kReadOnly,
                                       .keys = {Key(2, kKeyRO)}};
  static void Run(Call& call) {
    Bytes key = call.args.Next();
    const size_t samples = TakeSamples(call.args);
    // As in Redis, MEMORY USAGE also measures keys that have expired but were not removed yet.
    const Entry* entry = call.db.Data().Find(key);
    if (entry == nullptr) return call.reply.Null();
    call.reply.Integer(static_cast<int64_t>(entry->UsedBytes(samples) + TableShare(*entry)));
  }

 private:
  static size_t TakeSamples(Args& args) {
    int64_t samples = 5;
    while (!args.AtEnd()) {
      if (!args.TakeTokenWith("SAMPLES", 1)) throw Refusal{refusals::kSyntax};
      samples = args.NextInteger();
      if (samples < 0) throw Refusal{refusals::kSyntax};
    }
    return static_cast<size_t>(samples);
  }
  // The memory that a key needs in an index at the usual load, for MEMORY USAGE: 64 bytes have seven slots, of which
  // about four are used. A share of the actual index would be misleading, because it would make a key of an almost
  // empty database look huge.
  static constexpr size_t kSlotBytes = 16;
  // Returns the memory that the key needs in indexes. A key with a deadline is in two indexes.
  static size_t TableShare(const Entry& entry) { return entry.Deadline() == kNoDeadline ? kSlotBytes : 2 * kSlotBytes; }
};

struct MemoryContainer {
  static constexpr CommandSpec spec = {.syntax = "MEMORY",
                                       .summary = "Contains the subcommands about memory.",
                                       .since = "4.0.0",
                                       .complexity = "Depends on the subcommand.",
                                       .group = CommandGroup::kServer,
                                       .arity = -2};
};

constexpr auto kMemoryCommands = Family<MemoryContainer, MemoryDoctorCommand, MemoryHelp, MemoryMallocStats,
                                        MemoryPurge, MemoryStats, MemoryUsage>();

}  // namespace

std::span<const CommandCard> MemoryCommands() { return kMemoryCommands; }

}  // namespace respite
