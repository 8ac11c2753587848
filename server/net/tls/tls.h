// Tls: the keys and rules for TLS, as the directives tls-* say. Creates the TLS streams of sockets.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "server/config/settings.h"
#include "server/net/tls/openssl_handles.h"
#include "server/net/tls/tls_certificates.h"

namespace respite {

class TlsStream;

class Tls {  // the keys and rules for TLS (directives tls-*); creates the streams of sockets
 public:
  static bool IsWanted(const Settings& settings) {  // true: directives turn TLS on, for clients or between servers
    return settings.tls_port != 0 || settings.tls_cluster || settings.tls_replication;
  }

  // Reads keys and certificates again, for new connections. If that fails, changes nothing and returns the reason.
  std::optional<std::string> Configure(const Settings& settings);   // reads keys and certificates; or an error
  bool IsConfigured() const { return server_context_ != nullptr; }  // true: there are keys and certificates
  // Drops the keys and certificates. Existing connections keep the ones with which they began.
  void Drop();  // forgets keys and certificates; existing connections continue

  // Reads the CA files at the first call after Configure, because a directory may have hundreds. Requires: `settings`
  // are those of Configure.
  const TlsCertificates& Certificates(const Settings& settings);  // for INFO; without TLS: none

  // Returns the server side of a TLS connection on a connected, non-blocking socket, or null if there is no memory.
  // `clients`: whether the client must show a certificate. Requires: IsConfigured().
  std::unique_ptr<TlsStream> Accept(int descriptor, TlsAuthClients clients) const;  // the server side; null: no memory
  // Returns the client side of a TLS connection on a connected, non-blocking socket, or null if there is no memory.
  // Requires: IsConfigured().
  std::unique_ptr<TlsStream> Connect(int descriptor) const;  // the client side of TLS; null: no memory

 private:
  SslContextHandle server_context_;              // OpenSSL's settings for connections that this server accepts
  SslContextHandle client_context_;              // OpenSSL's settings for connections that this server makes
  std::optional<TlsCertificates> certificates_;  // what INFO shows of the certificates in both contexts
};

}  // namespace respite
