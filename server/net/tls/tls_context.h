// OpenSSL contexts made from the directives tls-*: certificate, key, trusted CAs, protocols, ciphers, sessions.
//
// Files are read only when a context is made: a changed certificate takes effect with the next CONFIG SET. A connection
// keeps the context that it began with.
#pragma once

#include <string>

#include "base/result.h"
#include "server/config/settings.h"
#include "server/net/tls/openssl_handles.h"

namespace respite {

// For connections from clients. The error is a log line that names the faulty directive.
Result<SslContextHandle, std::string> MakeTlsServerContext(const Settings& settings);

// For connections to other servers. Presents the client certificate, or the server's if there is none.
Result<SslContextHandle, std::string> MakeTlsClientContext(const Settings& settings);

}  // namespace respite
