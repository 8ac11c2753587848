// TlsStream: one end of a TLS connection on a non-blocking socket.
//
// TlsStream has its own BIO (OpenSSL's interface to the socket), because OpenSSL's socket BIO lacks three things. It
// cannot tell whether the socket had no more data. It does not keep errno of a failed call. It cannot limit the bytes
// that one call reads, so a peer that sends only key updates could block the server.
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

class TlsStream {  // encrypts and decrypts the bytes of one non-blocking socket
 public:
  // `connection` must already be set up as a server or as a client. The caller owns the descriptor, which must stay
  // open as long as this object exists.
  TlsStream(SslHandle connection, int descriptor);
  ~TlsStream();
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  // These functions do what the functions of ByteStream with the same names do. byte_stream.h describes them.
  bool InHandshake() const { return in_handshake_; }  // true: the TLS handshake is not complete
  Transfer Handshake();                               // performs the next step of the TLS handshake; kMoved: complete
  Transfer Receive(std::span<char> target);           // receives and decrypts bytes, at most what `target` has room for
  // Sends at most `max_bytes` bytes from the front of the output.
  Transfer Send(const ReplyBuffer& output, size_t max_bytes);  // encrypts and sends from the front of `output`
  Transfer Send(Bytes bytes);                                  // encrypts and sends bytes from the front
  bool HasBufferedInput() const {
    return has_buffered_input_;
  }  // true: Receive may have more without waiting for the socket
  SocketPoller::Events EventsToAwait(SocketPoller::Events wanted) const;  // socket events needed for transfers
  SocketPoller::Events TransfersAfter(SocketPoller::Events ready) const;  // which of receiving and sending is possible
  std::string ErrorText() const { return error_; }                        // why the last transfer failed
  void SendCloseNotify();  // tells the peer that no more bytes follow; nothing in a handshake or after an error

  struct Wire;  // the socket as OpenSSL sees it (BIO)

 private:
  enum class Waits : uint8_t { kForInput, kForWritability };  // the socket event that OpenSSL needs next

  Transfer HandleFailedCall(int result, Waits& waits);  // why OpenSSL's call failed; kLater: sets what to wait for

  std::unique_ptr<Wire> wire_;                 // the socket as OpenSSL sees it (BIO)
  SslHandle connection_;                       // OpenSSL's object for the connection
  std::string error_;                          // why the last transfer failed
  Waits receive_waits_ = Waits::kForInput;     // the socket event after which Handshake or Receive can continue
  Waits send_waits_ = Waits::kForWritability;  // the socket event after which Send can continue
  bool in_handshake_ = true;                   // true: the TLS handshake is not complete
  bool has_buffered_input_ = false;            // true: Receive may have more without waiting for the socket
  bool broken_ = false;                        // true: after a fatal error, nothing can be sent or received any more
};

}  // namespace respite
