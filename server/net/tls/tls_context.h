// OpenSSL contexts made from the directives tls-*: certificate, key, trusted CAs, protocols, ciphers, sessions.
//
// Files are read only when a context is made, so a changed certificate file takes effect with the next CONFIG SET of a
// TLS directive. A connection keeps the context with which it began.
#pragma once

#include <string>

#include "base/result.h"
#include "server/config/settings.h"
#include "server/net/tls/openssl_handles.h"

namespace respite {

// Makes a context for connections from clients. The error is a log line that names the faulty directive.
Result<SslContextHandle, std::string> MakeTlsServerContext(const Settings& settings);  // for accepted connections

// Makes a context for connections to other servers. It uses the client certificate, or the server's if no client
// certificate is configured.
Result<SslContextHandle, std::string> MakeTlsClientContext(const Settings& settings);  // for outgoing connections

}  // namespace respite
