// Directives of the network: listeners, clients and their limits; and TLS.
#include <array>

#include "server/config/announced_place.h"
#include "server/config/directive_rows.h"
#include "server/config/node_layout.h"
#include "server/config/special_directives.h"

namespace respite::rows {
namespace {

Objection CheckNodes(Bytes text) {
  if (text.empty()) return {};
  const auto layout = NodeLayout::Parse(text);
  return layout.ok() ? Objection{} : Objection{layout.error()};
}

Objection CheckAnnounce(Bytes text) {
  if (text.empty()) return {};
  const auto place = AnnouncedHost::Parse(text);
  return place.ok() ? Objection{} : Objection{place.error()};
}

// As Valkey without RDMA, which is how distributions build it.
constexpr char kNoRdma[] = "No RDMA building support.";
Objection CheckRdmaBind(Bytes addresses) { return addresses.empty() ? Objection{} : kNoRdma; }
Objection CheckRdmaPort(int64_t port) { return port == 0 ? Objection{} : kNoRdma; }

constexpr int kMaxSentinels = 32;

constexpr Directive kNetworkDirectives[] = {
    // `announce`, like all directives that only Respite has, is hidden from CONFIG GET *, because some test suites set
    // every directive that CONFIG GET * shows.
    {"announce", kEffective, OptionalText<&Settings::announce>(CheckAnnounce), kImmutable | kHidden},
    Since("valkey:8.0.0", {"availability-zone", kEffective, Text<&Settings::availability_zone>(), kHidden}),
    {"bind", kEffective, kBind, kMultiArgument | kVolatile},
    Since("7.0.0", {"bind-source-addr", kEffective, OptionalText<&Settings::bind_source_addr>()}),
    {"client-output-buffer-limit", kEffective, kClientOutputBufferLimit, kMultiArgument | kVolatile},
    {"client-query-buffer-limit", kEffective, Memory<&Settings::client_query_buffer_limit>(1024 * 1024, kMaxLong),
     kDebug},
    UnlistedSince(
        "valkey:8.1.0",
        Until("valkey:9.1.0", Since("valkey:8.0.0", {"events-per-io-thread", kMeaningless,
                                                     Number<&Settings::events_per_io_thread>(0, kMaxInt), kHidden}))),
    MutableSince("valkey:9.0.0",
                 {"io-threads", kMeaningless, Number<&Settings::io_threads>(1, 128), kDebug | kImmutable}),
    Until("8.0.0,valkey:8.1.0",
          {"io-threads-do-reads", kMeaningless, YesNo<&Settings::io_threads_do_reads>(), kDebug | kImmutable}),
    UnlistedSince("7.0.0",
                  Until("7.0.0", {"gopher-enabled", kMeaningless, YesNo<&Settings::gopher_enabled>(), kHidden})),
    Since("valkey:9.1.0",
          {"io-threads-always-active", kMeaningless, YesNo<&Settings::io_threads_always_active>(), kUnlisted}),
    Since("8.4.0", {"lookahead", kMeaningless, Number<&Settings::lookahead>(1, kMaxInt), kHidden}),
    Since("7.4.0,valkey:8.0.0", {"max-new-connections-per-cycle", kEffective,
                                 Number<&Settings::max_new_connections_per_cycle>(1, 1000), kHidden}),
    Since("7.4.0,valkey:8.0.0", {"max-new-tls-connections-per-cycle", kEffective,
                                 Number<&Settings::max_new_tls_connections_per_cycle>(1, 1000), kHidden}),
    {"maxclients", kEffective, Number<&Settings::maxclients>(1, kMaxUint)},
    Since("7.0.0", {"maxmemory-clients", kEffective, MemoryOrPercent<&Settings::maxmemory_clients>(-100, kMaxLong)}),
    Since("valkey:9.1.0", {"min-io-threads-avoid-copy-reply", kMeaningless,
                           Number<&Settings::min_io_threads_avoid_copy_reply>(0, kMaxInt), kUnlisted}),
    Since("valkey:9.1.0", {"min-string-size-avoid-copy-reply", kMeaningless,
                           Number<&Settings::min_string_size_avoid_copy_reply>(0, kMaxInt), kUnlisted}),
    Since("valkey:9.1.0", {"min-string-size-avoid-copy-reply-threaded", kMeaningless,
                           Number<&Settings::min_string_size_avoid_copy_reply_threaded>(0, kMaxInt), kUnlisted}),
    Since("valkey:9.0.0", {"mptcp", kMeaningless, YesNo<&Settings::mptcp>(), kImmutable | kHidden}),
    // `node-threads` and `nodes` are hidden from CONFIG GET *, because some test suites set every directive that it
    // shows.
    {"node-threads", kEffective, YesNo<&Settings::node_threads>(), kImmutable | kHidden},
    {"nodes", kEffective, OptionalText<&Settings::nodes>(CheckNodes), kImmutable | kHidden},
    {"port", kEffective, kPort},
    // `port-file`, like all directives that only Respite has, is hidden from CONFIG GET *. Some test suites set every
    // directive that CONFIG GET * shows, and expect only Redis' directives to be immutable.
    {"port-file", kEffective, OptionalText<&Settings::port_file>(), kImmutable | kHidden},
    Since("valkey:8.0.0",
          {"prefetch-batch-max-size", kMeaningless, Number<&Settings::prefetch_batch_max_size>(0, 128), kHidden}),
    {"protected-mode", kEffective, YesNo<&Settings::protected_mode>()},
    {"proto-max-bulk-len", kEffective, Memory<&Settings::proto_max_bulk_len>(1024 * 1024, kMaxLong), kDebug},
    Since("valkey:8.1.0", {"rdma-bind", kMeaningless, OptionalText<&Settings::rdma_bind>(CheckRdmaBind), kHidden}),
    Since("valkey:8.1.0", {"rdma-completion-vector", kMeaningless, Number<&Settings::rdma_completion_vector>(-1, 1024),
                           kImmutable | kHidden}),
    Since("valkey:8.1.0", {"rdma-port", kMeaningless, Number<&Settings::rdma_port>(0, 65535, CheckRdmaPort), kHidden}),
    Since("valkey:8.1.0", {"rdma-rx-size", kMeaningless, Number<&Settings::rdma_rx_size>(64 * 1024, 16 * 1024 * 1024),
                           kImmutable | kHidden}),
    Since("valkey:9.0.0", {"repl-mptcp", kMeaningless, YesNo<&Settings::repl_mptcp>(), kImmutable | kHidden}),
    {"sentinels", kEffective, Number<&Settings::sentinels>(0, kMaxSentinels), kImmutable | kHidden},
    Since("7.0.0", {"socket-mark-id", kEffective, Number<&Settings::socket_mark_id>(0, kMaxUint), kImmutable}),
    {"tcp-backlog", kEffective, Number<&Settings::tcp_backlog>(0, kMaxInt), kImmutable},
    {"tcp-keepalive", kEffective, Number<&Settings::tcp_keepalive>(0, kMaxInt)},
    {"timeout", kEffective, Number<&Settings::timeout>(0, kMaxInt)},
    {"tracking-table-max-keys", kEffective, Number<&Settings::tracking_table_max_keys>(0, kMaxLong)},
    {"unixsocket", kEffective, OptionalText<&Settings::unixsocket>(), kImmutable},
    Since("valkey:8.0.0",
          {"unixsocketgroup", kEffective, OptionalText<&Settings::unixsocketgroup>(), kImmutable | kHidden}),
    {"unixsocketperm", kEffective, Octal<&Settings::unixsocketperm>(0, 0777), kImmutable},
};

constexpr ChoiceName kTlsAuthClientsNames[] = {
    Named("no", TlsAuthClients::kNo),
    Named("yes", TlsAuthClients::kYes),
    Named("optional", TlsAuthClients::kOptional),
};

constexpr Directive kTlsDirectives[] = {
    {"tls-auth-clients", kEffective, Choice<&Settings::tls_auth_clients>(kTlsAuthClientsNames)},
    {"tls-ca-cert-dir", kEffective, OptionalText<&Settings::tls_ca_cert_dir>(), kVolatile},
    {"tls-ca-cert-file", kEffective, OptionalText<&Settings::tls_ca_cert_file>(), kVolatile},
    {"tls-cert-file", kEffective, OptionalText<&Settings::tls_cert_file>(), kVolatile},
    {"tls-ciphers", kEffective, OptionalText<&Settings::tls_ciphers>()},
    {"tls-ciphersuites", kEffective, OptionalText<&Settings::tls_ciphersuites>()},
    {"tls-client-cert-file", kEffective, OptionalText<&Settings::tls_client_cert_file>(), kVolatile},
    {"tls-client-key-file", kEffective, OptionalText<&Settings::tls_client_key_file>(), kVolatile},
    {"tls-client-key-file-pass", kEffective, OptionalText<&Settings::tls_client_key_file_pass>(), kSensitive},
    {"tls-cluster", kEffective, YesNo<&Settings::tls_cluster>()},
    {"tls-dh-params-file", kEffective, OptionalText<&Settings::tls_dh_params_file>(), kVolatile},
    {"tls-key-file", kEffective, OptionalText<&Settings::tls_key_file>(), kVolatile},
    {"tls-key-file-pass", kEffective, OptionalText<&Settings::tls_key_file_pass>(), kSensitive},
    {"tls-port", kEffective, Number<&Settings::tls_port>(0, 65535)},
    {"tls-prefer-server-ciphers", kEffective, YesNo<&Settings::tls_prefer_server_ciphers>()},
    {"tls-protocols", kEffective, OptionalText<&Settings::tls_protocols>()},
    {"tls-replication", kEffective, YesNo<&Settings::tls_replication>()},
    {"tls-session-cache-size", kEffective, Number<&Settings::tls_session_cache_size>(0, kMaxInt)},
    {"tls-session-cache-timeout", kEffective, Number<&Settings::tls_session_cache_timeout>(0, kMaxInt)},
    {"tls-session-caching", kEffective, YesNo<&Settings::tls_session_caching>()},
};

}  // namespace

std::span<const Directive> NetworkDirectives() { return kNetworkDirectives; }

std::span<const Directive> TlsDirectives() { return kTlsDirectives; }

}  // namespace respite::rows
