// ByteStream: the bytes of one socket, plain or through TLS.
//
// Callers receive and send bytes in the same way for both. The callers notice TLS in three places. First, a handshake
// may be necessary. Second, receiving may need the socket to be writable, and sending may need it to be readable
// (`EventsToAwait`, `PossibleTransfers`). Third, the stream may hold received bytes for which the socket reports no
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

class StreamTap {  // an interface that gets a copy of the unencrypted bytes of one connection
 public:
  // The stream destroys the tap when the connection ends.
  virtual ~StreamTap() = default;
  virtual void OnReceived(Bytes bytes) = 0;  // bytes that were received, decrypted
  virtual void OnSent(Bytes bytes) = 0;      // bytes that were sent, before encryption
  virtual void OnPeerEnded() = 0;            // the peer sends no more bytes, or the connection failed
};

class ByteStream {  // the bytes of one socket, plain or through TLS
 public:
  // Takes ownership of a connected, non-blocking socket.
  explicit ByteStream(Descriptor socket);
  ByteStream(Descriptor socket, std::unique_ptr<TlsStream> tls);
  ByteStream(ByteStream&&) noexcept;
  ~ByteStream();

  int FileDescriptor() const { return socket_.Get(); }  // the socket

  // Returns true until the TLS handshake has ended. Until then no bytes can be received or sent.
  bool InHandshake() const { return tls_ != nullptr && TlsInHandshake(); }  // true: the TLS handshake has not ended yet
  // Performs the next step of the TLS handshake. Returns kMoved if the handshake has ended. Cost: up to a few
  // milliseconds of CPU time.
  Transfer Handshake();  // performs the next step of the TLS handshake; kMoved: it has ended

  // Receives bytes into `target`, as many as the socket has and `target` can hold. Cost of a plain stream: one system
  // call.
  Transfer Receive(std::span<char> target);  // reads what the socket has, up to the size of `target`
  struct Portion {                           // how many bytes one call of Send may take
    size_t wanted;                           // Send tries to send about this number of bytes
    size_t allowed;                          // Send never sends more than this number of bytes
  };
  // Sends bytes from the front of the output with one call. The caller must remove the sent bytes from the output.
  // After kLater the next call must begin with the same bytes, and allow at least as many.
  Transfer Send(const ReplyBuffer& output, Portion portion);  // sends bytes from the front of `output`, removes none
  Transfer Send(Bytes bytes);                                 // sends bytes from the front, as many as the socket takes
  // Returns true if this object has received bytes that Receive has not returned yet. The socket may report no event
  // for such bytes.
  bool HasBufferedInput() const {  // true: this object has bytes to receive, even if the socket has none
    return tls_ != nullptr && TlsHasBufferedInput();
  }

  // EventsToAwait returns the socket events to wait for in order to receive (`wanted.read`) or send (`wanted.write`).
  // PossibleTransfers returns whether receiving and sending are possible after the socket events `ready`. With TLS,
  // sending may need a readable socket, and receiving a writable one.
  SocketPoller::Interest EventsToAwait(SocketPoller::Interest wanted) const {  // the socket events to wait for
    return tls_ == nullptr ? wanted : TlsEventsToAwait(wanted);
  }
  SocketPoller::Interest PossibleTransfers(SocketPoller::Interest ready) const {  // what these events allow
    return tls_ == nullptr ? ready : TlsPossibleTransfers(ready);
  }

  // From now on, gives the tap a copy of the received and sent bytes. Destroys the tap when the stream is closed.
  void SetTap(std::unique_ptr<StreamTap> tap);  // the tap gets a copy of what is received and sent

  std::string ErrorText() const;  // why the last transfer failed
  void Close();                   // sends TLS' close_notify, if any, and closes the socket

 private:
  bool TlsInHandshake() const;                                                      // InHandshake, for TLS
  bool TlsHasBufferedInput() const;                                                 // HasBufferedInput, for TLS
  SocketPoller::Interest TlsEventsToAwait(SocketPoller::Interest wanted) const;     // EventsToAwait, for TLS
  SocketPoller::Interest TlsPossibleTransfers(SocketPoller::Interest ready) const;  // PossibleTransfers, for TLS
  Transfer FailedTransfer();                                      // converts errno of a failed call: kLater or kFailed
  Transfer ReceiveSome(std::span<char> target);                   // like Receive, but does not tell tap_
  Transfer SendSome(Bytes bytes);                                 // like Send, but does not tell tap_
  Transfer SendSome(const ReplyBuffer& output, Portion portion);  // like Send, but does not tell tap_
  void TellReceived(Bytes bytes, Transfer received);              // gives the received bytes to tap_, if any
  void TellEnd(Transfer transfer);  // tells tap_ if the peer has ended or the connection has failed
  void TellSent(const ReplyBuffer& output, Transfer sent);  // gives the sent bytes to tap_, if any

  Descriptor socket_;               // the connected socket
  int error_ = 0;                   // errno of the last failed call of a plain stream
  std::unique_ptr<TlsStream> tls_;  // null: a plain stream
  std::unique_ptr<StreamTap> tap_;  // gets a copy of all bytes; null: none does
};

}  // namespace respite
