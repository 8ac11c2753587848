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

std::span<const Directive> TlsDirectives() { return kTlsDirectives; }

}  // namespace respite::rows
