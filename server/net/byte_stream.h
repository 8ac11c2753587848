// ByteStream: the bytes of one socket, plain or through TLS.
//
// Callers receive and send bytes alike. TLS shows in three places: a handshake may come first, receiving may need the
// socket to be writable and sending readable (`Needs`, `Allows`), and the stream may hold received bytes for which the
// socket reports no event (`HasReceived`).
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

// Gets a copy of the unencrypted bytes of one connection.
class StreamTap {
 public:
  // Destroyed when the connection ends.
  virtual ~StreamTap() = default;
  virtual void OnReceived(Bytes bytes) = 0;
  virtual void OnSent(Bytes bytes) = 0;
  // Called when the peer sends no more bytes.
  virtual void OnPeerEnded() = 0;
};

class ByteStream {
 public:
  // Takes ownership of a connected, non-blocking socket.
  explicit ByteStream(Descriptor socket);
  ByteStream(Descriptor socket, std::unique_ptr<TlsStream> tls);
  ByteStream(ByteStream&&) noexcept;
  ~ByteStream();

  int FileDescriptor() const { return socket_.Get(); }

  // Returns whether the TLS handshake has not ended. Before that nothing can be received or sent.
  bool InHandshake() const { return tls_ != nullptr && TlsInHandshake(); }
  // Performs the next step of the TLS handshake. Returns kMoved when the handshake has ended. Cost: up to a few
  // milliseconds of CPU.
  Transfer Handshake();

  // Cost of a plain stream: one system call.
  Transfer Receive(std::span<char> target);
  // Sends bytes from the front with one call: about `wanted` bytes, and never more than `allowed`. The caller consumes
  // them. After kLater the next call must begin with the same bytes, and allow as many.
  struct Portion {
    size_t wanted;
    size_t allowed;
  };
  Transfer Send(const ReplyBuffer& output, Portion portion);
  Transfer Send(Bytes bytes);
  // Returns whether there are bytes to receive, even if the socket never becomes readable again.
  bool HasReceived() const { return tls_ != nullptr && TlsHasReceived(); }

  // Returns which readiness of the socket to wait for in order to receive (`read`) or send (`write`), and which of the
  // two a readiness makes possible.
  SocketPoller::Interest Needs(SocketPoller::Interest wanted) const {
    return tls_ == nullptr ? wanted : TlsNeeds(wanted);
  }
  SocketPoller::Interest Allows(SocketPoller::Interest ready) const {
    return tls_ == nullptr ? ready : TlsAllows(ready);
  }

  // Reports to the tap what is received and sent from now on, until the stream is closed.
  void SetTap(std::unique_ptr<StreamTap> tap);

  // Returns why the last attempt failed.
  std::string ErrorText() const;
  // Sends TLS' close_notify, if any, and closes the socket.
  void Close();

 private:
  bool TlsInHandshake() const;
  bool TlsHasReceived() const;
  SocketPoller::Interest TlsNeeds(SocketPoller::Interest wanted) const;
  SocketPoller::Interest TlsAllows(SocketPoller::Interest ready) const;
  Transfer Failed();
  Transfer ReceiveSome(std::span<char> target);
  Transfer SendSome(Bytes bytes);
  Transfer SendSome(const ReplyBuffer& output, Portion portion);
  void TellReceived(Bytes bytes, Transfer received);
  void TellEnd(Transfer transfer);
  void TellSent(const ReplyBuffer& output, Transfer sent);

  Descriptor socket_;
  int error_ = 0;                   // errno of a plain stream
  std::unique_ptr<TlsStream> tls_;  // null: plain
  std::unique_ptr<StreamTap> tap_;  // null: none
};

}  // namespace respite
