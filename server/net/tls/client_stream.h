// ClientStream: the connection of respite-cli to a server, plain or with TLS. Sending and receiving block.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/descriptor.h"
#include "server/net/tls/openssl_handles.h"

namespace respite {

struct ClientTls {           // redis-cli's TLS options, by their names; empty: not given
  std::string cacert;        // path of the file with trusted certificates
  std::string cert;          // file with the client's certificate
  std::string key;           // file with the private key of `cert`
  std::string sni;           // server name to ask for (SNI)
  bool is_insecure = false;  // true: accepts any server certificate
};

class ClientStream {  // the connection of the command-line client; blocks; plain or TLS
 public:
  explicit ClientStream(Descriptor socket) : socket_(std::move(socket)) {}

  std::optional<std::string> Encrypt(const ClientTls& tls);  // starts TLS; returns nullopt, or why it failed

  bool Send(Bytes bytes);  // sends all bytes, blocking; false: the connection is broken
  // Receives bytes; blocks until there are some. Returns their number, or 0 or less if the connection has ended.
  ssize_t Receive(std::span<char> target);  // waits for bytes; returns their number; 0 or less: ended
  bool HasEnded() const;  // true: the socket has ended or failed, and holds no bytes; OpenSSL may still hold some
  int FileDescriptor() const { return socket_.Get(); }  // the socket's descriptor

 private:
  Descriptor socket_;         // the connected socket
  SslContextHandle context_;  // OpenSSL's settings; null: a connection without TLS
  SslHandle ssl_;             // OpenSSL's connection; null: a plain connection
};

}  // namespace respite
