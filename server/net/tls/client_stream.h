// ClientStream: the connection of the client tool, plain or with TLS. Sending and receiving block.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/descriptor.h"
#include "server/net/tls/openssl_handles.h"

namespace respite {

// The TLS options of redis-cli with these names. Empty: not set.
struct ClientTls {
  std::string cacert;
  std::string cert;
  std::string key;
  std::string sni;
  bool is_insecure = false;  // accepts any server certificate
};

class ClientStream {
 public:
  explicit ClientStream(Descriptor socket) : socket_(std::move(socket)) {}

  // Starts TLS. Returns the reason if that failed.
  std::optional<std::string> Encrypt(const ClientTls& tls);

  bool Send(Bytes bytes);
  // Returns the number of received bytes; 0 or less if the connection has ended.
  ssize_t Receive(std::span<char> room);
  // Returns whether the other side has closed the connection and nothing is left to receive.
  bool HasEnded() const;
  int SocketNumber() const { return socket_.Get(); }

 private:
  Descriptor socket_;
  SslContextHandle context_;
  SslHandle ssl_;  // null: plain
};

}  // namespace respite
