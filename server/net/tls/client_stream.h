// ClientStream: the connection of the client tool, plain or with TLS. It waits for what it sends and receives.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/descriptor.h"
#include "server/net/tls/openssl_handles.h"

namespace respite {

// The options of redis-cli of these names. Empty: none.
struct ClientTls {
  std::string cacert;
  std::string cert;
  std::string key;
  std::string sni;
  bool is_insecure = false;  // any server will do
};

class ClientStream {
 public:
  explicit ClientStream(Descriptor socket) : socket_(std::move(socket)) {}

  // Speaks TLS from now on. Returns why that is not possible.
  std::optional<std::string> Encrypt(const ClientTls& tls);

  bool Send(Bytes bytes);
  // How many bytes came; 0 or less: the connection has ended.
  ssize_t Receive(std::span<char> room);
  // Whether the other side has closed the connection and nothing is left to receive.
  bool HasEnded() const;
  int SocketNumber() const { return socket_.Get(); }

 private:
  Descriptor socket_;
  SslContextHandle context_;
  SslHandle ssl_;  // null: plain
};

}  // namespace respite
