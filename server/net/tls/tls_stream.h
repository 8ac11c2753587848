// TlsStream: one end of a TLS connection on a non-blocking socket.
//
// It uses its own BIO, because OpenSSL's cannot do three things: tell whether the socket had no more data, limit the
// bytes that one call reads (so a peer that sends only key updates cannot block the server), and keep errno of a
// failed call.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/bytes.h"
#include "protocol/reply_buffer.h"
#include "server/net/socket_poller.h"
#include "server/net/tls/openssl_handles.h"

namespace respite {

class TlsStream {
 public:
  // `connection` has its role already. The caller owns the descriptor, which must stay open as long as this object.
  TlsStream(SslHandle connection, int descriptor);
  ~TlsStream();
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  // See ByteStream for these methods.
  bool InHandshake() const { return in_handshake_; }
  Transfer Handshake();
  Transfer Receive(std::span<char> target);
  // Sends at most `most` bytes from the front.
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

  // Returns the result of a call that moved nothing, and records what it waits for.
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
