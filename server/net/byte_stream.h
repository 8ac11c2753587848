// ByteStream: the bytes of one socket, plain or through TLS.
//
// Callers receive and send bytes in the same way for both. The callers notice TLS in three places. First, a handshake
// may be necessary. Second, receiving may need the socket to be writable, and sending may need it to be readable
// (`EventsToAwait`, `TransfersAfter`). Third, the stream may hold received bytes for which the socket reports no
// event (`HasBufferedInput`).
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/descriptor.h"
#include "protocol/reply_buffer.h"
#include "server/net/socket_poller.h"

namespace respite {

class TlsStream;

class StreamTap {  // an interface that gets a copy of the bytes of a connection, unencrypted
 public:
  // The ByteStream owns its StreamTap, and destroys the StreamTap when the ByteStream is closed or destroyed.
  virtual ~StreamTap() = default;
  virtual void OnReceived(Bytes bytes) = 0;  // called with bytes that were received, decrypted
  virtual void OnSent(Bytes bytes) = 0;      // called with bytes that were sent, not encrypted
  virtual void OnPeerEnded() = 0;            // called when the peer sends no more, or the connection has failed
};

class ByteStream {  // sends and receives the bytes of one socket, plain or with TLS
 public:
  // Takes ownership of a connected, non-blocking socket.
  explicit ByteStream(Descriptor socket);
  ByteStream(Descriptor socket, std::unique_ptr<TlsStream> tls);
  ByteStream(ByteStream&&) noexcept;
  ~ByteStream();

  int FileDescriptor() const { return socket_.Get(); }  // the socket's descriptor

  // Returns true until the TLS handshake has ended. Until then, no bytes can be received or sent.
  bool InHandshake() const { return tls_ != nullptr && TlsInHandshake(); }  // true: the TLS handshake is not complete
  // Does the next step of a TLS handshake, which costs up to a few milliseconds of CPU time. For a plain stream, does
  // nothing and returns kMoved.
  Transfer Handshake();  // performs the next step of the TLS handshake; kMoved: complete

  // Reads bytes that have arrived, without waiting. For a plain stream, this costs one system call.
  Transfer Receive(std::span<char> target);  // reads what the socket has, at most what `target` has room for
  struct SendLimits {                        // how many bytes a call of Send may send
    size_t preferred;                        // bytes to send now, if the stream is plain; TLS may send up to `allowed`
    size_t allowed;                          // bytes after this number must not be sent yet
  };
  // Sends bytes, which the caller must then remove from the output. After kLater, the next call must begin with the
  // same bytes, and allow at least as many.
  Transfer Send(const ReplyBuffer& output, SendLimits limits);  // sends bytes from the front of `output`, removes none
  Transfer Send(Bytes bytes);                                   // sends bytes from the front, perhaps not all of them
  // Returns true if the caller must call Receive without waiting for an event. TLS may already have read bytes for
  // which the socket reports no event any more.
  bool HasBufferedInput() const {  // true: Receive has bytes, the end or an error, even if the socket has none (TLS)
    return tls_ != nullptr && TlsHasBufferedInput();
  }

  // EventsToAwait returns the socket events to wait for in order to receive (`wanted.readable`) or send
  // (`wanted.writable`). TransfersAfter returns whether receiving and sending are possible after the socket events
  // `ready`. With TLS, sending may need a readable socket, and receiving a writable one.
  SocketPoller::Events EventsToAwait(SocketPoller::Events wanted) const {  // socket events needed for transfers
    return tls_ == nullptr ? wanted : TlsEventsToAwait(wanted);
  }
  SocketPoller::Events TransfersAfter(SocketPoller::Events ready) const {  // which of receiving and sending is possible
    return tls_ == nullptr ? ready : TlsTransfersAfter(ready);
  }

  void SetTap(std::unique_ptr<StreamTap> tap);  // gives `tap` a copy of all bytes from now on

  std::string ErrorText() const;  // why the last transfer failed
  void Close();                   // sends TLS' close_notify if TLS works, and closes the socket

 private:
  bool TlsInHandshake() const;       // true: in the handshake; requires TLS
  bool TlsHasBufferedInput() const;  // with TLS: HasBufferedInput of the TlsStream
  SocketPoller::Events TlsEventsToAwait(SocketPoller::Events wanted) const;  // with TLS: socket events to wait for
  SocketPoller::Events TlsTransfersAfter(  // with TLS: whether Receive or Send can continue after these events
      SocketPoller::Events ready) const;
  Transfer FailedTransfer();                         // returns kLater or kFailed, by errno of a failed system call
  Transfer ReceiveUntapped(std::span<char> target);  // does Receive, but gives no copy of the bytes to tap_
  Transfer SendUntapped(Bytes bytes);                // does Send, but does not tell tap_
  Transfer SendUntapped(const ReplyBuffer& output, SendLimits limits);  // does Send; tap_ gets no copy
  void TellReceived(Bytes bytes, Transfer received);  // gives received bytes to tap_, which must be set
  void TellEnd(Transfer transfer);  // if the connection has ended or failed, tells tap_, which must be set
  void TellSent(const ReplyBuffer& output, Transfer sent);  // gives sent bytes to tap_, which must be set

  Descriptor socket_;               // the connected socket
  int error_ = 0;                   // errno of the last failed transfer (plain stream)
  std::unique_ptr<TlsStream> tls_;  // null: a plain stream
  std::unique_ptr<StreamTap> tap_;  // gets a copy of all bytes; null: none does
};

}  // namespace respite
