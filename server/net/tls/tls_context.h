// OpenSSL contexts made from the directives tls-*: certificate, key, trusted CAs, protocols, ciphers, sessions.
//
// Files are read only when a context is made: at the start, and by CONFIG SET of a directive tls-* other than tls-port
// and tls-auth-clients. Until then, a changed certificate file has no effect. A connection keeps the context with which
// it began.
#pragma once

#include <string>

#include "base/result.h"
#include "server/config/settings.h"
#include "server/net/tls/openssl_handles.h"

namespace respite {

// Makes a context for connections that this server accepts. The error is a line for the log that says what failed.
Result<SslContextHandle, std::string> MakeTlsServerContext(const Settings& settings);  // for accepted connections

// Makes a context for connections to other servers. The context uses the client certificate and key if both are
// configured, otherwise those of the server.
Result<SslContextHandle, std::string> MakeTlsClientContext(const Settings& settings);  // for outgoing connections

}  // namespace respite
