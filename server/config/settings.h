// Settings: the value of each directive of redis.conf as a typed member, for direct access by hot code:
//
//   if (used_bytes > settings.maxmemory) ...
//
// Each member is named after its directive ("tcp-keepalive" is `tcp_keepalive`) and initialised with the default of
// Redis 7.2. The member `save` is empty instead: Config::SetDefaultSavePoints adds kDefaultSavePoints for most servers.
// A member has the unit of its directive, which is noted here. directive.h parses, prints and checks values; Config
// changes the members.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "datatypes/encoding_limits.h"
#include "server/catalogue/key_event.h"
#include "server/catalogue/version_mark.h"
#include "server/config/folder.h"

namespace respite {

inline constexpr int kHighestPort = 65535;

enum class Supervision : uint8_t { kNone, kAutoDetect, kSystemd, kUpstart };
enum class OomScoreAdjust : uint8_t { kOff, kRelative, kAbsolute };
enum class Permission : uint8_t { kNever, kAlways, kLocalConnections };
enum class AclPubsubDefault : uint8_t { kResetChannels, kAllChannels };
enum class PropagationErrorBehavior : uint8_t { kIgnore, kPanic, kPanicOnReplicas };
enum class AppendFsync : uint8_t { kNever, kEverySecond, kAlways };
enum class RdbVersionCheck : uint8_t { kStrict, kRelaxed };
enum class SanitizeDumpPayload : uint8_t { kNever, kAlways, kClients };
enum class DisklessLoad : uint8_t { kDisabled, kOnEmptyDb, kSwapDb, kFlushBeforeLoad };
enum class ClusterEndpointType : uint8_t { kIp, kHostname, kUnknown };
enum class TlsAuthClients : uint8_t { kNo, kYes, kOptional };
enum class EvictionPolicy : uint8_t {
  kNoEviction,
  kAllKeysLru,
  kAllKeysLfu,
  kAllKeysRandom,
  kAllKeysLrm,
  kVolatileLru,
  kVolatileLfu,
  kVolatileRandom,
  kVolatileTtl,
  kVolatileLrm,
};

// Bits of shutdown-on-sigint and shutdown-on-sigterm. Each stands for an option of the command SHUTDOWN.
inline constexpr uint32_t kShutdownDefault = 0;
inline constexpr uint32_t kShutdownSave = 1;    // option SAVE
inline constexpr uint32_t kShutdownNoSave = 2;  // option NOSAVE
inline constexpr uint32_t kShutdownNow = 4;     // option NOW
inline constexpr uint32_t kShutdownForce = 8;   // option FORCE

struct SavePoint {  // a pair of `save 3600 1`: save after 3600 s with at least 1 change
  int64_t seconds;  // how long ago the last save must be, in s
  int64_t changes;  // how many changes there must be since the last save

  bool operator==(const SavePoint&) const = default;
};
// The save points of a server that has a configuration file, or runs in a container, and sets no `save`
// (Config::SetDefaultSavePoints has the exact conditions).
inline constexpr std::array<SavePoint, 3> kDefaultSavePoints = {{{3600, 1}, {300, 100}, {60, 10000}}};  // as in Redis

enum OutputBufferClass : uint8_t { kOutputNormal, kOutputReplica, kOutputPubsub, kOutputBufferClassCount };

struct OutputBufferLimit {   // limits of a client's unsent output, at which the client is closed
  uint64_t hard_bytes = 0;   // unsent bytes with which the client is closed; 0: no limit
  uint64_t soft_bytes = 0;   // unsent bytes with which the client is closed after soft_seconds; 0: no limit
  int64_t soft_seconds = 0;  // how long output may have soft_bytes or more

  bool operator==(const OutputBufferLimit&) const = default;
};
using OutputBufferLimits = std::array<OutputBufferLimit, kOutputBufferClassCount>;

struct PrimaryAddress {  // value of `replicaof`: the address of the primary to replicate
  std::string host;      // host name or IP address of the primary
  int port;              // port of the primary

  std::string Text() const { return host + ":" + std::to_string(port); }  // "host:port"
};

inline constexpr int kAutoPort = -1;  // `port auto`: the system chooses a free port
inline constexpr int kMinHz = 1;
inline constexpr int kMaxHz = 500;

// What CLUSTER SLOT-STATS shows in addition to the number of keys (directive cluster-slot-stats-enabled).
inline constexpr uint8_t kSlotStatsCpu = 1;
inline constexpr uint8_t kSlotStatsNet = 2;
inline constexpr uint8_t kSlotStatsMem = 4;

struct Settings : EncodingLimits {  // the current values of all directives
  // Directives of the network and of clients.
  std::vector<std::string> bind = {"*", "-::*"};  // addresses to listen on; with "-": optional
  std::string bind_source_addr;                   // local address of connections to other servers; empty: any
  OutputBufferLimits client_output_buffer_limit = {
      {{0, 0, 0}, {uint64_t{256} << 20, uint64_t{64} << 20, 60}, {uint64_t{32} << 20, uint64_t{8} << 20, 60}}};
  std::string availability_zone;                           // a text that INFO and HELLO show
  uint64_t client_query_buffer_limit = uint64_t{1} << 30;  // maximum bytes of a client's input that has not run yet
  int events_per_io_thread = 2;                            // without effect
  int lookahead = 16;                                      // how many requests are parsed ahead; without effect
  bool mptcp = false;                                      // clients may connect by Multipath TCP; without effect
  bool gopher_enabled = false;                             // Gopher, which Redis 6 speaks; without effect
  bool lua_replicate_commands = true;                      // scripts are replicated by their effects; always so here
  bool repl_mptcp = false;                                 // replicas connect by Multipath TCP; without effect
  bool io_threads_always_active = false;                   // without effect
  int min_io_threads_avoid_copy_reply = 7;                 // without effect
  int min_string_size_avoid_copy_reply = 16384;            // without effect
  int min_string_size_avoid_copy_reply_threaded = 65536;   // without effect
  std::string rdma_bind;                                   // addresses for RDMA; only an empty text is accepted
  int rdma_completion_vector = -1;                         // without effect
  int rdma_port = 0;                                       // port for RDMA; only 0 is accepted
  int rdma_rx_size = 1 << 20;                              // without effect
  int io_threads = 1;                                      // without effect
  bool io_threads_do_reads = false;                        // without effect
  uint32_t maxclients = 10000;                             // number of clients at the same time
  int max_new_connections_per_cycle = 10;                  // connections that the event loop accepts per turn
  int max_new_tls_connections_per_cycle = 1;               // TLS connections that the event loop accepts per turn
  int64_t maxmemory_clients = 0;     // limit for the memory of all clients in bytes; -n: n % of maxmemory; 0: none
  std::string announce;              // "HOST:{port}" that nodes announce to clients; empty: their actual addresses
  bool node_threads = false;         // each node of `nodes` has its own thread
  std::string nodes;                 // a NodeLayout such as "3x1"; empty: a single server
  int port = 6379;                   // kAutoPort: any free port; 0: no TCP
  int bound_port = 0;                // the port in use, set by the listener; not a directive
  std::string port_file;             // path of the file that receives the ports; empty: none
  int prefetch_batch_max_size = 16;  // without effect
  bool protected_mode = true;        // without a password, only local clients are served
  int64_t proto_max_bulk_len = int64_t{512} << 20;  // maximum bytes of one argument, and of a string
  int sentinels = 0;                                // number of Sentinels of this process, which monitor `nodes`
  uint32_t socket_mark_id = 0;                      // SO_MARK of sockets; 0: none
  int tcp_backlog = 511;                            // length of the queue of connections that were not accepted yet
  int tcp_keepalive = 300;                          // seconds without traffic before a keepalive probe; 0: off
  int timeout = 0;                                  // seconds after which an idle client is closed; 0: never
  uint64_t tracking_table_max_keys = 1000000;       // keys that client-side caching remembers; 0: no limit
  std::string unixsocket;                           // path of the unix socket; empty: none
  std::string unixsocketgroup;                      // group of the file of the unix socket; empty: unchanged
  uint32_t unixsocketperm = 0;                      // file mode bits of the unix socket; 0: according to umask

  // Directives of the process: log, signals, protection, statistics.
  AclPubsubDefault acl_pubsub_default = AclPubsubDefault::kResetChannels;  // channels of new users: none or all
  std::string aclfile;                                                     // path of the file with users; empty: none
  int64_t acllog_max_len = 128;                                            // maximum number of entries of ACL LOG
  bool always_show_logo = false;                          // the log shows the logo also without a terminal
  std::string bio_cpulist;                                // processors of background threads; empty: any
  int64_t busy_reply_threshold = 5000;                    // milliseconds after which a script is busy: clients get BUSY
  bool crash_log_enabled = true;                          // a crash writes a report to the log
  std::string debug_context;                              // a text of the operator, which crash reports show
  bool crash_memcheck_enabled = true;                     // a crash report tests the memory
  bool daemonize = false;                                 // the server runs in the background
  std::string dir;                                        // absolute path of the folder for RDB and AOF files
  Folder* folder = &ProcessFolder::Instance();            // the folder `dir`, for file access; not a directive
  bool disable_thp = true;                                // turns transparent huge pages off
  bool dynamic_hz = true;                                 // more timer ticks with more clients
  Emulated emulate = Emulated::kNone;                     // the version to imitate; kNone: all features of all versions
  bool enable_debug_assert = false;                       // without effect
  bool extended_redis_compatibility = false;              // an emulated Valkey calls itself Redis
  Permission enable_debug_command = Permission::kNever;   // who may use DEBUG
  Permission enable_module_command = Permission::kNever;  // who may use MODULE
  Permission enable_protected_configs = Permission::kNever;  // who may set protected directives
  int64_t exit_on_idle = 0;               // milliseconds without clients after which the process ends; 0: off
  bool exit_with_parent = false;          // shut down when the launching process ends
  bool hide_user_data_from_log = false;   // log lines and crash reports contain no arguments of clients
  int hz = 10;                            // timer ticks per second, 1-500
  std::string ignore_warnings;            // without effect
  std::string hash_seed;                  // text that fixes the order of keys in SCAN; empty: random
  int64_t latency_monitor_threshold = 0;  // events of at least this many milliseconds are recorded; 0: off
  bool latency_tracking = true;           // the server keeps a latency histogram for each command
  std::vector<double> latency_tracking_info_percentiles = {50.0, 99.0, 99.9};  // percentiles of INFO latencystats
  std::vector<std::string> load;                                // paths of fixtures (files of test data) to load
  std::string locale_collate;                                   // locale for SORT … ALPHA
  LogFormat log_format = LogFormat::kLegacy;                    // Redis' line format, logfmt or JSON
  LogTimeFormat log_timestamp_format = LogTimeFormat::kLegacy;  // how log lines write the time
  std::string logfile;                                          // path of the log; empty: standard output
  LogLevel loglevel = LogLevel::kNotice;                        // lines of lower levels are not logged
  OomScoreAdjust oom_score_adj = OomScoreAdjust::kOff;          // how oom_score_adj_values are used; kOff: not at all
  std::array<int, 3> oom_score_adj_values = {0, 200, 800};      // scores of a primary, a replica and a background child
  std::string pidfile;                                          // path of the file with the process ID; empty: none
  std::string proc_title_template = "{title} {listen-addr} {server-mode}";  // title of the process in ps
  // If a command of the primary fails on a read-only replica: kIgnore continues, the other values abort the replica.
  PropagationErrorBehavior propagation_error_behavior = PropagationErrorBehavior::kIgnore;  // kIgnore: do not abort
  int ready_fd = 0;              // file descriptor that gets the ports when the server is ready; 0: none
  std::string requirepass;       // password of the user `default`; empty: none
  std::string record;            // path of the file that records the traffic of clients; empty: none
  std::optional<uint64_t> seed;  // start value of random choices, for equal runs; nullopt: random
  std::string server_cpulist;    // processors of the main threads; empty: any
  bool set_proc_title = true;    // the process changes its title in ps
  uint64_t script_memory_limit = uint64_t{256} << 20;    // bytes for all scripts together; the same for functions
  uint32_t shutdown_on_sigint = kShutdownDefault;        // kShutdown… bits: options of this shutdown
  uint32_t shutdown_on_sigterm = kShutdownDefault;       // kShutdown… bits: options of this shutdown
  int shutdown_timeout = 10;                             // seconds that a shutdown waits for replicas
  int64_t slowlog_log_slower_than = 10000;               // microseconds from which a command is logged; negative: off
  int64_t slowlog_max_len = 128;                         // maximum number of entries of SLOWLOG
  int64_t commandlog_request_larger_than = 1024 * 1024;  // bytes from which a request is logged; negative: off
  int64_t commandlog_large_request_max_len = 128;        // maximum number of logged large requests
  int64_t commandlog_reply_larger_than = 1024 * 1024;    // bytes from which a reply is logged; negative: off
  int64_t commandlog_large_reply_max_len = 128;          // maximum number of logged large replies
  bool starts_empty = false;                             // true: startup loads no RDB file (--test); not a directive
  std::string start_dir;                          // working directory at the start of the server; not a directive
  Supervision supervised = Supervision::kNone;    // to which supervisor the server reports: systemd or upstart
  bool syslog_enabled = false;                    // each log line is also sent to syslog
  int syslog_facility = 16 << 3;                  // a facility of <syslog.h>; this is LOG_LOCAL0
  std::string syslog_ident = "redis";             // name of the program in syslog
  Permission test_commands = Permission::kNever;  // who may use TEST, the command for test harnesses
  bool test_maint_notifications = false;          // CLIENT MAINT_NOTIFICATIONS exists
  std::string test_world_idle = "10m";            // time after which TEST WORLD ends an unused isolated server
  bool use_exit_on_panic = false;                 // a crash ends the process with exit code 1, not by abort
  int watchdog_period = 0;  // milliseconds that the event loop hangs before a stack trace is logged; 0: off

  // Directives of the keyspace: memory, eviction, expiry, encodings of values.
  int active_defrag_cycle_max = 25;                 // without effect
  int active_defrag_cycle_min = 1;                  // without effect
  int active_defrag_cycle_us = 500;                 // without effect
  uint64_t active_defrag_ignore_bytes = 100 << 20;  // without effect
  int64_t active_defrag_max_scan_fields = 1000;     // without effect
  int active_defrag_threshold_lower = 10;           // without effect
  int active_defrag_threshold_upper = 100;          // without effect
  int active_expire_effort = 1;                     // 1-10; larger: more CPU time to find expired keys
  bool activedefrag = false;                        // without effect
  bool activerehashing = true;                      // without effect
  int databases = 16;                               // number of databases
  uint64_t hll_sparse_max_bytes = 3000;             // bytes; larger HyperLogLogs become dense
  bool jemalloc_bg_thread = true;                   // jemalloc returns unused pages on threads of its own
  bool lazyfree_lazy_eviction = false;              // evicted values are freed in the background
  bool lazyfree_lazy_expire = false;                // expired values are freed in the background
  bool lazyfree_lazy_server_del = false;  // values that commands such as RENAME replace are freed in the background
  bool lazyfree_lazy_user_del = false;    // DEL frees values in the background, as UNLINK does
  bool lazyfree_lazy_user_flush = false;  // FLUSHALL and FLUSHDB without an option act as with ASYNC
  bool import_mode = false;               // Valkey: another server imports data here; expired keys are not removed
  bool key_memory_histograms = false;     // INFO keysizes also shows how much memory the values use
  int lfu_decay_time = 1;                 // minutes after which an LFU counter is decremented; 0: never
  int lfu_log_factor = 10;                // larger: LFU counters grow more slowly
  int list_compress_depth = 0;            // without effect
  uint64_t maxmemory = 0;                 // limit of used memory in bytes; 0: no limit
  int maxmemory_eviction_tenacity = 10;   // 0-100; larger: evictions may take longer
  EvictionPolicy maxmemory_policy = EvictionPolicy::kNoEviction;  // which keys are evicted when maxmemory is exceeded
  int maxmemory_samples = 5;                                      // number of keys to choose from for each eviction
  bool vset_force_single_threaded_execution = false;              // without effect: commands use one thread
  uint32_t notify_keyspace_events = 0;                            // kNotify… bits: which key events are published

  // Directives of persistence: RDB and AOF.
  bool aof_disable_auto_gc = false;               // old append-only files are kept
  int64_t aof_load_corrupt_tail_max_size = 0;     // a malformed end of fewer bytes is removed at the start; 0: never
  bool aof_load_failed_commands = false;          // the server starts even if commands of the append-only file fail
  bool aof_load_truncated = true;                 // the server starts with a file that ends within a command
  std::string aof_rewrite_cpulist;                // processors of the child that rewrites the AOF; empty: any
  bool aof_rewrite_incremental_fsync = true;      // a rewrite syncs its file repeatedly, not only at the end
  bool aof_timestamp_enabled = false;             // the append-only file contains timestamps
  bool aof_use_rdb_preamble = true;               // a rewrite writes the data as RDB, not as commands
  std::string appenddirname = "appendonlydir";    // folder of the append-only files, in `dir`
  std::string appendfilename = "appendonly.aof";  // how the names of the append-only files begin
  AppendFsync appendfsync = AppendFsync::kEverySecond;   // when the append-only file is synced
  bool appendonly = false;                               // changes are written to the append-only file
  int64_t auto_aof_rewrite_min_size = 64 * 1024 * 1024;  // bytes; a smaller file is not rewritten automatically
  int auto_aof_rewrite_percentage = 100;                 // growth in percent that starts a rewrite; 0: never
  std::string backupdirname = "backupdir";               // folder of the files of a backup, in `dir`
  int64_t backup_sealed_ttl = 0;                         // seconds until a sealed backup is removed; 0: never
  std::string bgsave_cpulist;                            // processors of the child that saves; empty: any
  std::string dbfilename = "dump.rdb";                   // name of the RDB file in `dir`
  int key_load_delay = 0;                                // microseconds to wait after each loaded key, for tests
  int64_t loading_process_events_interval_bytes = 1024 * 1024 * 2;  // clients are served after each such part of a load
  bool no_appendfsync_on_rewrite = false;                           // no fsync of the AOF while a child writes
  std::string preload_file;  // "aof:PATH" or "rdb:PATH": loaded at startup instead of the server's files; empty: none
  bool rdb_del_sync_files = false;         // RDB files that only replication needed are deleted
  int rdb_key_save_delay = 0;              // microseconds to wait after each saved key, for tests
  bool rdb_save_incremental_fsync = true;  // a save syncs its file repeatedly, not only at the end
  bool rdbchecksum = true;                 // RDB files end with a checksum
  bool rdbcompression = true;              // RDB files and DUMP compress long texts
  RdbVersionCheck rdb_version_check = RdbVersionCheck::kStrict;  // kRelaxed: RDB files of unknown versions are loaded
  SanitizeDumpPayload sanitize_dump_payload = SanitizeDumpPayload::kNever;  // whether RESTORE fully checks its payload
  std::vector<SavePoint> save;              // when to save a snapshot; empty: never automatically
  bool stop_writes_on_bgsave_error = true;  // writes are refused after a failed RDB save, if there are save points

  // Directives of replication.
  std::string masterauth;                   // password for the primary; empty: none
  std::string masteruser;                   // user for the primary; empty: `default`
  int min_replicas_max_lag = 10;            // a good replica has acknowledged within this many seconds; 0: off
  int min_replicas_to_write = 0;            // writes are refused if there are fewer good replicas; 0: off
  int64_t repl_backlog_size = 1024 * 1024;  // bytes of the replication backlog
  int64_t repl_backlog_ttl = 60 * 60;       // seconds until a backlog without replicas is freed; 0: never
  bool repl_disable_tcp_nodelay = false;    // links to replicas may delay small packets
  DisklessLoad repl_diskless_load = DisklessLoad::kDisabled;  // when a replica loads from the socket, without a file
  bool repl_diskless_sync = true;                             // a primary sends snapshots without writing a file
  int repl_diskless_sync_delay = 5;                           // seconds to wait for more replicas before a transfer
  int repl_diskless_sync_max_replicas = 0;        // the transfer starts when this many replicas wait; 0: off
  bool repl_rdb_channel = false;                  // without effect
  uint64_t replica_full_sync_buffer_limit = 0;    // bytes; without effect
  int repl_ping_replica_period = 10;              // seconds between pings to replicas
  int repl_timeout = 60;                          // seconds without data after which a link is closed
  std::string replica_announce_ip;                // address that this replica reports; empty: the actual one
  int replica_announce_port = 0;                  // port that this replica reports; 0: the actual one
  bool replica_announced = true;                  // false: Sentinels do not list this replica
  bool replica_ignore_command_errors = false;     // the link stays open if a command of the primary fails
  bool replica_ignore_disk_write_errors = false;  // false: a replica that cannot write its files aborts
  bool replica_ignore_maxmemory = true;           // a replica evicts no keys on its own
  bool replica_lazy_flush = false;                // a full synchronisation frees the old data in the background
  int replica_priority = 100;                     // Sentinels prefer a lower number; 0: never promoted
  bool replica_read_only = true;                  // a replica refuses writes of clients
  bool replica_serve_stale_data = true;           // a replica without a link to its primary answers requests
  std::optional<PrimaryAddress> replicaof;        // the primary to replicate; nullopt: this server is a primary

  // Directives of cluster mode.
  bool cluster_allow_pubsubshard_when_down = true;  // sharded Pub/Sub works while the cluster is down
  bool cluster_allow_reads_when_down = false;       // reads work while the cluster is down
  bool cluster_allow_replica_migration = true;      // replicas, or primaries that lose all slots, may join a primary
  int cluster_announce_bus_port = 0;                // bus port that this node announces; 0: the actual one
  std::string cluster_announce_client_ipv4;         // address of this node for IPv4 clients; empty: none
  std::string cluster_announce_client_ipv6;         // address of this node for IPv6 clients; empty: none
  std::string cluster_announce_hostname;            // host name that this node announces; empty: none
  std::string cluster_announce_human_nodename;      // name of this node in logs; empty: none
  std::string cluster_announce_ip;                  // address that this node announces; empty: the actual one
  int cluster_announce_port = 0;                    // port that this node announces; 0: the actual one
  int cluster_announce_tls_port = 0;                // TLS port that this node announces; 0: the actual one
  int64_t cluster_blacklist_ttl = 60;               // seconds during which CLUSTER FORGET keeps a node away
  std::string cluster_config_file = "nodes.conf";   // file in which the node stores the cluster's state
  int cluster_databases = 1;                        // number of databases in cluster mode
  bool cluster_enabled = false;                     // this server is a node of a cluster
  uint64_t cluster_link_sendbuf_limit = 0;          // maximum unsent bytes of a link of the cluster bus; 0: no limit
  int cluster_manual_failover_timeout = 5000;       // milliseconds after which a manual failover fails
  int cluster_migration_barrier = 1;                // replicas that a primary must keep when one migrates
  int64_t cluster_node_timeout = 15000;             // milliseconds after which an unreachable node is failing
  int64_t cluster_ping_interval = 0;  // ms after a node's last pong before a ping; 0: half of cluster_node_timeout
  int cluster_port = 0;               // port of the cluster bus; 0: client port + 10000
  ClusterEndpointType cluster_preferred_endpoint_type = ClusterEndpointType::kIp;  // how redirections name nodes
  bool cluster_replica_no_failover = false;   // this replica never starts an automatic failover
  int cluster_replica_validity_factor = 10;   // no failover with data older than about this × node timeout; 0: any age
  bool cluster_require_full_coverage = true;  // requests are refused while a slot has no owner
  int cluster_slot_migration_handoff_max_lag_bytes = 1 << 20;        // without effect
  int cluster_slot_migration_max_archived_tasks = 32;                // without effect
  int64_t cluster_slot_migration_sync_buffer_drain_timeout = 60000;  // without effect
  int cluster_compatibility_sample_ratio = 0;                        // without effect
  int cluster_message_gossip_perc = 10;                              // without effect
  int cluster_slot_migration_write_pause_timeout = 10000;            // without effect
  int cluster_slot_migration_log_max_len = 1000;  // maximum number of entries in the log of slot migrations
  uint8_t cluster_slot_stats =
      0;  // kSlotStats… bits: the statistics of slots that are kept (cluster-slot-stats-enabled)
  int64_t slot_migration_max_failover_repl_bytes = 0;  // most unsent bytes at which a migration pauses writes; -1: any

  int cluster_announce_client_port = 0;             // port that clients of this node use; without effect
  int cluster_announce_client_tls_port = 0;         // TLS port that clients of this node use; without effect
  bool cluster_config_save_is_best_effort = false;  // `cluster-config-save-behavior best-effort`; without effect

  // Directives of TLS.
  TlsAuthClients tls_auth_clients = TlsAuthClients::kYes;  // whether clients need a certificate
  std::string tls_ca_cert_dir;                             // folder of trusted CA certificates
  std::string tls_ca_cert_file;                            // file of trusted CA certificates
  std::string tls_cert_file;                               // certificate of this server
  std::string tls_ciphers;                                 // ciphers permitted up to TLSv1.2; empty: OpenSSL's
  std::string tls_ciphersuites;                            // ciphers permitted in TLSv1.3; empty: OpenSSL's
  std::string tls_client_cert_file;        // certificate for links to other servers; empty: tls_cert_file
  std::string tls_client_key_file;         // private key of tls_client_cert_file
  std::string tls_client_key_file_pass;    // password of tls_client_key_file
  bool tls_cluster = false;                // the cluster bus uses TLS
  std::string tls_dh_params_file;          // Diffie-Hellman parameters; empty: OpenSSL's
  std::string tls_key_file;                // private key of tls_cert_file
  std::string tls_key_file_pass;           // password of tls_key_file
  int tls_port = 0;                        // port for TLS; 0: no TLS
  bool tls_prefer_server_ciphers = false;  // this server's order of ciphers counts, not the client's
  std::string tls_protocols;               // for example "TLSv1.2 TLSv1.3"; empty: the default
  bool tls_replication = false;            // links to primaries, and of Sentinels and slot migrations, use TLS
  int tls_session_cache_size = 20 * 1024;  // maximum number of TLS sessions that can be resumed
  int tls_session_cache_timeout = 300;     // seconds during which a TLS session can be resumed
  bool tls_session_caching = true;         // clients may resume TLS sessions

  int DatabaseCount() const { return cluster_enabled ? cluster_databases : databases; }  // number of databases
  // Returns the port to report if only one can be reported: the plain port, or the TLS port if there is no plain port.
  int MainPort() const { return bound_port != 0 ? bound_port : tls_port; }  // the plain port, or else the TLS port
};

}  // namespace respite
