// Tls: the keys and rules for TLS from the directives tls-*. Creates the TLS streams of sockets.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "server/config/settings.h"
#include "server/net/tls/openssl_handles.h"

namespace respite {

class TlsStream;

class Tls {
 public:
  // Returns whether the directives enable TLS, for clients or between servers.
  static bool IsWanted(const Settings& settings) {
    return settings.tls_port != 0 || settings.tls_cluster || settings.tls_replication;
  }

  // Reads keys and certificates again, for new connections. Returns the reason if that failed; nothing changes then.
  std::optional<std::string> Configure(const Settings& settings);
  bool Configured() const { return server_ != nullptr; }
  // Drops the keys; existing connections keep the former ones.
  void Drop();

  // Returns the server's end of a connected, non-blocking socket; null if memory is exhausted. Requires: Configured.
  std::unique_ptr<TlsStream> Accept(int descriptor, TlsAuthClients clients) const;
  // Returns the client's end of a connected, non-blocking socket; null if memory is exhausted. Requires: Configured.
  std::unique_ptr<TlsStream> Connect(int descriptor) const;

 private:
  SslContextHandle server_;
  SslContextHandle client_;
};

}  // namespace respite
