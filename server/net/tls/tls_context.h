// Contexts of OpenSSL, made from the directives tls-*: certificate, key, whom to trust, protocols, ciphers, sessions.
//
// Every file is read when a context is made and never again: a certificate that changes on the disk is in force after
// the next CONFIG SET. A connection keeps the context that it began with.
#pragma once

#include <string>

#include "base/result.h"
#include "server/config/settings.h"
#include "server/net/tls/openssl_handles.h"

namespace respite {

// For connections that clients make. The error is the line of the log that says which directive is to blame.
Result<SslContextHandle, std::string> MakeTlsServerContext(const Settings& settings);

// For connections to other servers. Shows the client certificate, or the server's if there is none.
Result<SslContextHandle, std::string> MakeTlsClientContext(const Settings& settings);

}  // namespace respite
