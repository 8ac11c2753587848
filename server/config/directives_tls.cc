// Directives of TLS.
#include <array>

#include "server/config/directive_rows.h"

namespace respite::rows {
namespace {

constexpr ChoiceName kTlsAuthClientsNames[] = {
    Named("no", TlsAuthClients::kNo),
    Named("yes", TlsAuthClients::kYes),
    Named("optional", TlsAuthClients::kOptional),
};

constexpr Directive kTlsDirectives[] = {
    {"tls-auth-clients", kStored, Choice<&Settings::tls_auth_clients>(kTlsAuthClientsNames)},
    {"tls-ca-cert-dir", kStored, OptionalText<&Settings::tls_ca_cert_dir>(), kVolatile},
    {"tls-ca-cert-file", kStored, OptionalText<&Settings::tls_ca_cert_file>(), kVolatile},
    {"tls-cert-file", kStored, OptionalText<&Settings::tls_cert_file>(), kVolatile},
    {"tls-ciphers", kStored, OptionalText<&Settings::tls_ciphers>()},
    {"tls-ciphersuites", kStored, OptionalText<&Settings::tls_ciphersuites>()},
    {"tls-client-cert-file", kStored, OptionalText<&Settings::tls_client_cert_file>(), kVolatile},
    {"tls-client-key-file", kStored, OptionalText<&Settings::tls_client_key_file>(), kVolatile},
    {"tls-client-key-file-pass", kStored, OptionalText<&Settings::tls_client_key_file_pass>()},
    {"tls-cluster", kStored, YesNo<&Settings::tls_cluster>()},
    {"tls-dh-params-file", kStored, OptionalText<&Settings::tls_dh_params_file>(), kVolatile},
    {"tls-key-file", kStored, OptionalText<&Settings::tls_key_file>(), kVolatile},
    {"tls-key-file-pass", kStored, OptionalText<&Settings::tls_key_file_pass>()},
    {"tls-port", kStored, Number<&Settings::tls_port>(0, 65535)},
    {"tls-prefer-server-ciphers", kStored, YesNo<&Settings::tls_prefer_server_ciphers>()},
    {"tls-protocols", kStored, OptionalText<&Settings::tls_protocols>()},
    {"tls-replication", kStored, YesNo<&Settings::tls_replication>()},
    {"tls-session-cache-size", kStored, Number<&Settings::tls_session_cache_size>(0, kMaxInt)},
    {"tls-session-cache-timeout", kStored, Number<&Settings::tls_session_cache_timeout>(0, kMaxInt)},
    {"tls-session-caching", kStored, YesNo<&Settings::tls_session_caching>()},
};

}  // namespace

std::span<const Directive> TlsDirectives() { return kTlsDirectives; }

}  // namespace respite::rows
