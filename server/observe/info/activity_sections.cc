// The sections clients, threads, persistence, stats, cpu, cluster and debug of INFO.
#include <sys/resource.h>

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "base/str_cat.h"
#include "server/catalogue/dialect.h"
#include "server/clients/acl/acl_log.h"
#include "server/clients/blocked_clients.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/clients.h"
#include "server/clients/pause.h"
#include "server/clients/pubsub.h"
#include "server/clients/tracking.h"
#include "server/cluster/cluster.h"
#include "server/cluster/cluster_mode.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/unit.h"
#include "server/execution/services.h"
#include "server/migration/migrate_link.h"
#include "server/migration/migrations.h"
#include "server/observe/cluster_info.h"
#include "server/observe/identity.h"
#include "server/observe/info/sections.h"
#include "server/replication/replication.h"
#include "server/runtime/stats.h"
#include "server/storage/append_only_file.h"
#include "server/storage/child_processes.h"
#include "server/storage/loading.h"
#include "server/storage/snapshots.h"
#include "server/storage/storage_subsystem.h"

namespace respite {

namespace {

std::string Seconds(const timeval& time) {
  std::string micros = std::to_string(time.tv_usec);
  return StrCat(time.tv_sec, ".", std::string(6 - micros.size(), '0'), micros);
}

timeval Sum(const timeval& one, const timeval& other) {
  timeval sum;
  timeradd(&one, &other, &sum);
  return sum;
}

rusage UsageOf(__rusage_who_t who) {
  rusage usage{};
  getrusage(who, &usage);
  return usage;
}

int64_t Whole(double value) { return static_cast<int64_t>(value); }

// Returns the number of blocked clients. As in Redis, a client that waits because of CLIENT PAUSE counts as blocked.
int64_t CountBlocked(const Clients& clients) {
  int64_t blocked = 0;
  clients.ForEach([&](const Session& session) { blocked += session.IsBlocked() ? 1 : 0; });
  return blocked;
}

void AddPause(InfoText& text, const Services& services) {
  const Pause& pause = services.clients.pause;
  const bool is_timed = pause.scope() != Pause::Scope::kNone;
  const int64_t left_ms = is_timed ? pause.until_ms() - services.env.clock.MonotonicMs() : 0;
  const std::string_view held = pause.scope() == Pause::Scope::kAll ? "all" : "write";
  text.Add("paused_reason", pause.Reason())
      .Add("paused_actions", pause.IsOn() ? held : "none")
      .Add("paused_timeout_milliseconds", std::max<int64_t>(left_ms, 0));
}

void AddTraffic(InfoText& text, const ServerStats& stats) {
  constexpr double kKilo = 1024;
  text.Add("total_connections_received", stats.connections)
      .Add("total_commands_processed", stats.commands)
      .Add("instantaneous_ops_per_sec", Whole(stats.ops.PerSecond()))
      .Add("total_net_input_bytes", stats.net_input_bytes)
      .Add("total_net_output_bytes", stats.net_output_bytes)
      .AddZeros({"total_net_repl_input_bytes", "total_net_repl_output_bytes", "total_net_cluster_slot_import_bytes",
                 "total_net_cluster_slot_export_bytes"})
      .AddRatio("instantaneous_input_kbps", stats.input.PerSecond() / kKilo)
      .AddRatio("instantaneous_output_kbps", stats.output.PerSecond() / kKilo)
      .AddRatio("instantaneous_input_repl_kbps", 0)
      .AddRatio("instantaneous_output_repl_kbps", 0)
      .Add("rejected_connections", stats.rejected_connections)
      .Add("sync_full", stats.sync_full)
      .Add("sync_partial_ok", stats.sync_partial_ok)
      .Add("sync_partial_err", stats.sync_partial_err);
}

void AddKeys(InfoText& text, const Services& services) {
  const KeyspaceStats& stats = services.data.dataset.stats;
  const int64_t since_us = services.env.stats.eviction_exceeded_since_us;
  const auto exceeded_us = since_us == 0 ? 0 : static_cast<uint64_t>(services.env.real_clock.NowUs() - since_us);
  const bool is_redis =
      !services.env.dialect.EmulatesVersion() || services.env.dialect.traits.valkey_version_number == 0;
  // Redis lists the counts of expired hash fields (expired_subkeys) before expired_keys. Valkey lists its count
  // (expired_fields) after expired_keys.
  if (is_redis)
    text.Add("expired_subkeys", stats.expired_fields).Add("expired_subkeys_active", stats.expired_fields_active);
  text.Add("expired_keys", stats.expired_keys)
      .Add("expired_keys_active", stats.expired_keys_active)
      .Add("expired_fields", stats.expired_fields)
      .AddRatio("expired_stale_perc", 100 * stats.expired_stale_share)
      .AddRatio("expired_keys_with_volatile_items_stale_perc", 0)
      .Add("expired_time_cap_reached_count", stats.expire_cycles_out_of_time)
      .Add("expire_cycle_cpu_milliseconds", stats.expire_cycle_us / 1000)
      .Add("evicted_keys", stats.evicted_keys)
      .Add("evicted_clients", services.env.stats.evicted_clients)
      .Add("evicted_scripts", services.env.stats.evicted_scripts)
      .Add("total_eviction_exceeded_time", (services.env.stats.eviction_exceeded_us + exceeded_us) / 1000)
      .Add("current_eviction_exceeded_time", exceeded_us / 1000)
      .Add("keyspace_hits", stats.hits)
      .Add("keyspace_misses", stats.misses);
}

void AddChild(InfoText& text, const Services& services) {
  const ChildProcesses::Figures child = services.storage.child_processes.CurrentFigures();
  const auto done = static_cast<double>(child.progress.keys_done);
  text.Add("current_cow_peak", child.progress.cow_peak_bytes)
      .Add("current_cow_size", child.progress.cow_bytes)
      .Add("current_cow_size_age", child.cow_age_s)
      .AddRatio("current_fork_perc", child.keys_total == 0 ? 0 : 100 * done / static_cast<double>(child.keys_total))
      .Add("current_save_keys_processed", child.progress.keys_done)
      .Add("current_save_keys_total", child.keys_total);
}

void AddSnapshots(InfoText& text, const Services& services) {
  const Snapshots::Figures figures = services.storage.snapshots.CurrentFigures();
  text.Add("rdb_changes_since_last_save", services.data.dataset.stats.dirty)
      .Add(
          "rdb_bgsave_in_progress",
          services.storage.snapshots.IsRunning() || services.storage.child_processes.Does(ChildWork::kTransfer) ? 1 : 0)
      .Add("rdb_last_save_time", figures.last_save_s)
      .Add("rdb_last_bgsave_status", figures.last_outcome == Snapshots::Outcome::kDone ? "ok" : "err")
      .Add("rdb_last_bgsave_time_sec", figures.last_duration_s)
      .Add("rdb_current_bgsave_time_sec", figures.current_duration_s)
      .Add("rdb_saves", figures.saves)
      .Add("rdb_saves_consecutive_failures", figures.failures_in_a_row)
      .Add("rdb_last_cow_size", figures.last_cow_bytes)
      .Add("rdb_last_load_keys_expired", services.storage.loading.KeysExpired())
      .Add("rdb_last_load_keys_loaded", services.storage.loading.KeysLoaded());
}

void AddLoading(InfoText& text, const Services& services) {
  const Loading::Figures figures = services.storage.loading.CurrentFigures();
  text.Add("loading_start_time", figures.start_s)
      .Add("loading_total_bytes", figures.total_bytes)
      .Add("loading_rdb_used_mem", figures.rdb_used_mem_bytes)
      .Add("loading_loaded_bytes", figures.loaded_bytes)
      .AddRatio("loading_loaded_perc", figures.loaded_percent)
      .Add("loading_eta_seconds", figures.eta_s);
}

void AddLoop(InfoText& text, const ServerStats& stats) {
  text.Add("total_reads_processed", stats.total_reads)
      .Add("total_writes_processed", stats.total_writes)
      .AddZeros({"io_threaded_reads_processed", "io_threaded_writes_processed", "io_threaded_freed_objects",
                 "io_threaded_accept_processed", "io_threaded_poll_processed", "io_threaded_total_prefetch_batches",
                 "io_threaded_total_prefetch_entries"})
      .Add("client_query_buffer_limit_disconnections", stats.query_limit_disconnections)
      .Add("client_output_buffer_limit_disconnections", stats.output_limit_disconnections)
      .Add("reply_buffer_shrinks", stats.reply_buffer_shrinks)
      .Add("reply_buffer_expands", stats.reply_buffer_expands)
      .Add("eventloop_cycles", stats.turns)
      .Add("eventloop_duration_sum", stats.turn_us)
      .Add("eventloop_duration_cmd_sum", stats.command_us)
      .Add("instantaneous_eventloop_cycles_per_sec", Whole(stats.turn_rate.PerSecond()))
      .Add("instantaneous_eventloop_duration_usec", Whole(stats.turn_length.MeanRatio()));
}

size_t ClusterLinks(const Services& services) {
  size_t links = 0;
  if (const Cluster* cluster = services.cluster.cluster()) cluster->bus().ForEachLink([&](const BusLink&) { ++links; });
  return links;
}

}  // namespace

namespace {

struct WatchingClients {    // clients that wait for messages or for changes
  size_t subscribed = 0;    // number of clients with subscriptions
  size_t watching = 0;      // number of clients that WATCH keys
  size_t watched_keys = 0;  // number of keys that they watch; a key counts for each client
};

WatchingClients CountWatching(const Clients& clients) {
  WatchingClients count;
  clients.ForEach([&](const Session& session) {
    if (session.subscriptions != nullptr) ++count.subscribed;
    if (session.transaction == nullptr || session.transaction->watches == nullptr) return;
    ++count.watching;
    count.watched_keys += session.transaction->watches->places.size();
  });
  return count;
}

}  // namespace

std::string ClientsSection(const Services& services) {
  const int64_t now_s = services.env.clock.MonotonicMs() / 1000;
  InfoText text("Clients");
  text.Add("connected_clients", services.clients.registry.OpenCount() - services.replication.replicas().All().size())
      .Add("cluster_connections", ClusterLinks(services))
      .Add("maxclients", services.env.settings.maxclients)
      .Add("client_recent_max_input_buffer", services.env.stats.client_input.Most(now_s))
      .Add("client_recent_max_output_buffer", services.env.stats.client_output.Most(now_s))
      .Add("blocked_clients", CountBlocked(services.clients.registry))
      .Add("tracking_clients", services.clients.tracking.ClientCount());
  std::optional<WatchingClients> count;
  if (services.env.dialect.traits.counts_watching_clients) count = CountWatching(services.clients.registry);
  if (count) text.Add("pubsub_clients", count->subscribed).Add("watching_clients", count->watching);
  text.Add("clients_in_timeout_table", services.clients.blocked.ClientsWithDeadlineCount());
  if (count) text.Add("total_watched_keys", count->watched_keys);
  text.Add("total_blocking_keys", services.clients.blocked.Keys())
      .Add("total_blocking_keys_on_nokey", services.clients.blocked.DeletionWatchedKeyCount());
  AddPause(text, services);
  return text.Take();
}

std::string ThreadsSection(const Services& services) {
  InfoText text("Threads");
  text.Add("io_thread_0", StrCat("clients=", services.clients.registry.OpenCount(), ",reads=",
                                 services.env.stats.total_reads, ",writes=", services.env.stats.total_writes));
  return text.Take();
}

void AddAof(InfoText& text, const AppendOnlyFile& aof, const Backup& backup) {
  text.Add("aof_enabled", aof.IsOn() ? 1 : 0)
      .Add("aof_rewrite_in_progress", aof.IsRewriting() || backup.IsWritingBase() ? 1 : 0)
      .Add("aof_rewrite_scheduled", aof.IsRewriteScheduled() ? 1 : 0)
      .Add("aof_last_rewrite_time_sec", aof.LastRewriteSeconds())
      .Add("aof_current_rewrite_time_sec", aof.CurrentRewriteSeconds())
      .Add("aof_last_bgrewrite_status", aof.LastRewriteSucceeded() ? "ok" : "err")
      .Add("aof_rewrites", aof.RewriteCount())
      .Add("aof_rewrites_consecutive_failures", aof.ConsecutiveFailures())
      .Add("aof_last_write_status", aof.writer().WriteOrSyncError() ? "err" : "ok")
      .Add("aof_last_cow_size", aof.LastCowBytes())
      .Add("aof_load_failed_commands", aof.FailedCommandCount());
}

void AddAofSizes(InfoText& text, const AppendOnlyFile& aof) {
  text.Add("aof_current_size", aof.TotalBytes())
      .Add("aof_base_size", aof.BaseBytes())
      .Add("aof_pending_rewrite", aof.IsRewriteScheduled() ? 1 : 0)
      .Add("aof_buffer_length", aof.writer().BufferedBytes())
      .Add("aof_pending_bio_fsync", aof.writer().PendingSyncs())
      .Add("aof_delayed_fsync", aof.writer().DelayedWrites());
}

std::string PersistenceSection(const Services& services) {
  InfoText text("Persistence");
  const bool is_async = services.storage.loading.IsAsync();
  text.Add("loading", services.storage.loading.IsActive() && !is_async ? 1 : 0).Add("async_loading", is_async ? 1 : 0);
  AddChild(text, services);
  AddSnapshots(text, services);
  AddAof(text, services.storage.aof, services.storage.backup);
  text.Add("backup_in_progress", services.storage.backup.IsInProgress() ? 1 : 0);
  text.AddZeros({"module_fork_in_progress", "module_fork_last_cow_size", "slot_migration_fork_in_progress"});
  if (services.storage.aof.IsOn()) AddAofSizes(text, services.storage.aof);
  if (services.storage.loading.IsActive()) AddLoading(text, services);
  return text.Take();
}

std::string StatsSection(const Services& services) {
  const ServerStats& stats = services.env.stats;
  InfoText text("Stats");
  AddTraffic(text, stats);
  AddKeys(text, services);
  text.Add("pubsub_channels", services.clients.pubsub.TopicCount(PubSubKind::kChannel))
      .Add("pubsub_patterns", services.clients.pubsub.TopicCount(PubSubKind::kPattern))
      .Add("pubsubshard_channels", services.clients.pubsub.TopicCount(PubSubKind::kShardChannel))
      .Add("latest_fork_usec", stats.last_fork_us)
      .Add("total_forks", stats.forks)
      .Add("migrate_cached_sockets", services.migrations.blocking_links().Count() + services.migrations.CountLinks())
      .AddZeros({"slave_expires_tracked_keys", "active_defrag_hits", "active_defrag_misses", "active_defrag_key_hits",
                 "active_defrag_key_misses", "total_active_defrag_time", "current_active_defrag_time"})
      .Add("tracking_total_keys", services.clients.tracking.KeyCount())
      .Add("tracking_total_items", services.clients.tracking.ItemCount())
      .Add("tracking_total_prefixes", services.clients.tracking.PrefixCount())
      .Add("unexpected_error_replies", services.storage.aof.FailedCommandCount() + stats.unexpected_errors)
      .Add("total_error_replies", stats.error_replies)
      .Add("dump_payload_sanitizations", stats.payload_sanitizations);
  AddLoop(text, stats);
  const auto denials = [&stats](AclLogEntry::Reason reason) { return stats.acl_denials[static_cast<size_t>(reason)]; };
  text.Add("acl_access_denied_auth", denials(AclLogEntry::Reason::kAuth))
      .Add("acl_access_denied_cmd", denials(AclLogEntry::Reason::kCommand))
      .Add("acl_access_denied_key", denials(AclLogEntry::Reason::kKey))
      .Add("acl_access_denied_channel", denials(AclLogEntry::Reason::kChannel))
      .Add("acl_access_denied_tls_cert", 0)
      .Add("acl_access_denied_db", denials(AclLogEntry::Reason::kDatabase));
  return text.Take();
}

std::string CpuSection(const Services&) {
  const rusage own = UsageOf(RUSAGE_SELF);
  const rusage children = UsageOf(RUSAGE_CHILDREN);
  const rusage thread = UsageOf(RUSAGE_THREAD);
  InfoText text("CPU");
  text.Add("used_cpu_sys", Seconds(own.ru_stime))
      .Add("used_cpu_user", Seconds(own.ru_utime))
      .Add("used_cpu_sys_children", Seconds(children.ru_stime))
      .Add("used_cpu_user_children", Seconds(children.ru_utime))
      .Add("used_cpu_sys_main_thread", Seconds(thread.ru_stime))
      .Add("used_cpu_user_main_thread", Seconds(thread.ru_utime))
      .Add("used_active_time_main_thread", Seconds(Sum(thread.ru_stime, thread.ru_utime)));
  return text.Take();
}

std::string ClusterSection(const Services& services) {
  return InfoText("Cluster").Add("cluster_enabled", services.env.settings.cluster_enabled ? 1 : 0).Take();
}

std::string ClusterInfoSection(const Services& services) {
  const Cluster* cluster = services.cluster.cluster();
  return InfoText("Cluster Info").Take() + (cluster == nullptr ? "" : ClusterInfoText(*cluster, services.env.dialect));
}

std::string DebugSection(const Services& services) {
  const ServerStats& stats = services.env.stats;
  InfoText text("Debug");
  text.Add("eventloop_duration_aof_sum", stats.aof_us)
      .Add("eventloop_duration_cron_sum", stats.timer_us)
      .Add("eventloop_duration_max", stats.longest_turn_us)
      .Add("eventloop_cmd_per_cycle_max", stats.max_commands_in_turn);
  return text.Take();
}

}  // namespace respite
