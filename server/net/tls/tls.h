// Tls: the keys and rules by which this server speaks TLS, as the directives tls-* say. Makes the TLS end of sockets.
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
  // The directives ask for TLS: with clients, or with other servers.
  static bool IsWanted(const Settings& settings) {
    return settings.tls_port != 0 || settings.tls_cluster || settings.tls_replication;
  }

  // Reads keys and certificates anew, for connections to come. Returns why that failed; then all is as it was.
  std::optional<std::string> Configure(const Settings& settings);
  bool Configured() const { return server_ != nullptr; }
  // Forgets the keys; connections keep theirs.
  void Drop();

  // The server's end of a connected, non-blocking socket. Null when there is no memory for it. Requires: Configured.
  std::unique_ptr<TlsStream> Accept(int descriptor, TlsAuthClients clients) const;
  // The client's end.
  std::unique_ptr<TlsStream> Connect(int descriptor) const;

 private:
  SslContextHandle server_;
  SslContextHandle client_;
};

}  // namespace respite
