#include "server/observe/info/field_marks.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/bytes.h"

namespace respite {

namespace {

// Whether a field of INFO is shown if no version is emulated. kAlways: it is shown. kIfEmulated: it is shown only if
// the server emulates a version that has the field.
enum class Shown : uint8_t { kAlways, kIfEmulated };

struct FieldMark {
  Bytes name;
  VersionMark since = {};
  VersionMark until = {};
  Shown shown = Shown::kAlways;
};

// The fields of INFO that not all versions have, because they were added after Redis 6.2 or removed later. Sorted by
// name.
constexpr FieldMark kFieldMarks[] = {
    {"acl_access_denied_auth", "7.2.0"},
    {"acl_access_denied_channel", "7.2.0"},
    {"acl_access_denied_cmd", "7.2.0"},
    {"acl_access_denied_db", "valkey:9.1.0"},
    {"acl_access_denied_key", "7.2.0"},
    {"acl_access_denied_tls_cert", "8.6.0,valkey:9.0.0", {}, Shown::kIfEmulated},
    {"allocator_muzzy", "7.4.0,valkey:8.0.0", {}, Shown::kIfEmulated},
    {"aof_rewrites", "7.0.0"},
    {"aof_rewrites_consecutive_failures", "7.0.0"},
    {"async_loading", "7.0.0"},
    {"atomicvar_api", {}, "valkey:8.0.0"},
    {"availability_zone", "valkey:8.0.0"},
    {"backup_in_progress", "8.10.0"},
    {"client_output_buffer_limit_disconnections", "7.4.0,valkey:8.0.0"},
    {"client_query_buffer_limit_disconnections", "7.4.0,valkey:8.0.0"},
    {"clients_hz", "valkey:8.1.0", {}, Shown::kIfEmulated},
    {"current_active_defrag_time", "7.0.0"},
    {"current_cow_peak", "7.0.0"},
    {"current_eviction_exceeded_time", "7.0.0"},
    {"eventloop_cycles", "7.2.0"},
    {"eventloop_duration_cmd_sum", "7.2.0"},
    {"eventloop_duration_sum", "7.2.0"},
    {"evicted_clients", "7.0.0"},
    {"evicted_scripts", "7.4.0,valkey:8.0.0"},
    {"expired_fields", "valkey:9.0.0", {}, Shown::kIfEmulated},
    {"expired_keys_active", "8.6.0"},
    {"expired_keys_with_volatile_items_stale_perc", "valkey:9.0.0", {}, Shown::kIfEmulated},
    {"expired_subkeys", "7.4.0"},
    {"expired_subkeys_active", "8.6.0"},
    {"instantaneous_eventloop_cycles_per_sec", "7.2.0"},
    {"instantaneous_eventloop_duration_usec", "7.2.0"},
    {"instantaneous_input_repl_kbps", "7.0.0"},
    {"instantaneous_output_repl_kbps", "7.0.0"},
    {"io_threaded_accept_processed", "valkey:8.1.0", {}, Shown::kIfEmulated},
    {"io_threaded_freed_objects", "valkey:8.0.0", {}, Shown::kIfEmulated},
    {"io_threaded_poll_processed", "valkey:8.0.0", {}, Shown::kIfEmulated},
    {"io_threaded_total_prefetch_batches", "8.6.0,valkey:8.0.0", {}, Shown::kIfEmulated},
    {"io_threaded_total_prefetch_entries", "8.6.0,valkey:8.0.0", {}, Shown::kIfEmulated},
    {"master_current_sync_attempts", "8.2.0"},
    {"master_link_up_since_seconds", "8.2.0"},
    {"master_total_sync_attempts", "8.2.0"},
    {"mem_cluster_links", "7.0.0"},
    {"mem_cluster_slot_export", "valkey:9.0.0", {}, Shown::kIfEmulated},
    {"mem_cluster_slot_import", "valkey:9.0.0", {}, Shown::kIfEmulated},
    {"mem_cluster_slot_migration_input_buffer", "8.4.0", {}, Shown::kIfEmulated},
    {"mem_cluster_slot_migration_input_buffer_peak", "8.4.0", {}, Shown::kIfEmulated},
    {"mem_cluster_slot_migration_output_buffer", "8.4.0", {}, Shown::kIfEmulated},
    {"mem_overhead_db_hashtable_rehashing", "7.4.0,valkey:8.0.0", {}, Shown::kIfEmulated},
    {"mem_replica_full_sync_buffer", "8.0.0", {}, Shown::kIfEmulated},
    {"mem_replicas_repl_buffer", "valkey:9.1.0", {}, Shown::kIfEmulated},
    {"mem_total_replication_buffers", "7.0.0"},
    {"number_of_functions", "7.0.0"},
    {"number_of_libraries", "7.0.0"},
    {"paused_actions", "valkey:8.1.0", {}, Shown::kIfEmulated},
    {"paused_reason", "valkey:8.1.0", {}, Shown::kIfEmulated},
    {"paused_timeout_milliseconds", "valkey:8.1.0", {}, Shown::kIfEmulated},
    {"pubsubshard_channels", "7.0.0"},
    {"rdb_last_load_keys_expired", "7.0.0"},
    {"rdb_last_load_keys_loaded", "7.0.0"},
    {"rdb_saves", "7.0.0"},
    {"rdb_saves_consecutive_failures", "8.6.0"},
    {"replicas_waiting_psync", "valkey:8.0.0", {}, Shown::kIfEmulated},
    {"reply_buffer_expands", "7.0.0"},
    {"reply_buffer_shrinks", "7.0.0"},
    {"sentinel_total_tilt", "valkey:9.0.0"},
    {"server_name", "valkey:7.2.5"},
    {"slot_migration_fork_in_progress", "valkey:9.0.0", {}, Shown::kIfEmulated},
    {"total_active_defrag_time", "7.0.0"},
    {"total_blocking_keys", "7.2.0"},
    {"total_blocking_keys_on_nokey", "7.2.0"},
    {"total_disconnect_time_sec", "8.2.0"},
    {"total_eviction_exceeded_time", "7.0.0"},
    {"total_net_cluster_slot_export_bytes", "valkey:9.0.0", {}, Shown::kIfEmulated},
    {"total_net_cluster_slot_import_bytes", "valkey:9.0.0", {}, Shown::kIfEmulated},
    {"total_net_repl_input_bytes", "7.0.0"},
    {"total_net_repl_output_bytes", "7.0.0"},
    {"used_active_time_main_thread", "valkey:9.1.0", {}, Shown::kIfEmulated},
    {"used_memory_functions", "7.0.0"},
    {"used_memory_peak_time", "8.2.0"},
    {"used_memory_scripts_eval", "7.0.0"},
    {"used_memory_vm_eval", "7.0.0"},
    {"used_memory_vm_functions", "7.0.0"},
    {"used_memory_vm_total", "7.0.0"},
    {"used_memory_vm_total_human", "7.0.0"},
    {"valkey_release_stage", "valkey:8.1.0"},
    {"valkey_version", "valkey:7.2.5"},
};
static_assert(std::ranges::is_sorted(kFieldMarks, {}, &FieldMark::name));

bool Has(const Dialect& dialect, Bytes field) {
  const auto* const mark = std::ranges::lower_bound(kFieldMarks, field, {}, &FieldMark::name);
  if (mark == std::end(kFieldMarks) || mark->name != field) return true;
  if (mark->shown == Shown::kIfEmulated && !dialect.EmulatesVersion()) return false;
  return dialect.Has(mark->since) && !dialect.HasRemoved(mark->until);
}

}  // namespace

std::string FilterInfoFields(const Dialect& dialect, std::string section) {
  std::string kept;
  for (size_t at = 0; at < section.size();) {
    const size_t end = std::min(section.find('\n', at), section.size() - 1) + 1;
    const Bytes line = Bytes(section).substr(at, end - at);
    if (Has(dialect, line.substr(0, line.find(':')))) kept += line;
    at = end;
  }
  return kept;
}

}  // namespace respite
