// TlsStream: one end of a TLS connection on a non-blocking socket.
//
// It uses a BIO of ours, because OpenSSL's cannot do three things: tell whether the socket had no more data, limit how
// much one call reads (so a peer that sends only key updates cannot hold the server), and keep errno of a failed call.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/bytes.h"
#include "protocol/reply_buffer.h"
#include "server/net/socket_poller.h"
#include "server/net/tls/openssl_handles.h"
#include "server/net/transfer.h"

namespace respite {

class TlsStream {
 public:
  // `connection` knows which end it is. The caller keeps the descriptor, which must stay open as long as this.
  TlsStream(SslHandle connection, int descriptor);
  ~TlsStream();
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  // See ByteStream for all of these.
  bool InHandshake() const { return in_handshake_; }
  Transfer Handshake();
  Transfer Receive(std::span<char> target);
  // At most so many bytes from the front.
  Transfer Send(const ReplyBuffer& output, size_t most);
  Transfer Send(Bytes bytes);
  bool HasReceived() const { return has_received_; }
  SocketPoller::Interest Needs(SocketPoller::Interest wanted) const;
  SocketPoller::Interest Allows(SocketPoller::Interest ready) const;
  std::string ErrorText() const { return error_; }
  void SayGoodbye();

  struct LinkConnection;

 private:
  enum class Waits : uint8_t { kForInput, kForRoom };

  // For a call that moved nothing; records what it waits for.
  Transfer Outcome(int result, Waits& waits);

  std::unique_ptr<LinkConnection> wire_;
  SslHandle connection_;
  std::string error_;
  Waits receiving_ = Waits::kForInput;
  Waits sending_ = Waits::kForRoom;
  bool in_handshake_ = true;
  bool has_received_ = false;
  bool broken_ = false;
};

}  // namespace respite
