// ByteStream: the bytes of one socket, plain or through TLS.
//
// Whoever uses it thinks in bytes received and sent. What differs underneath shows in three places: a handshake may
// come first, a stream may wait for another readiness of the socket than one would expect (`Needs`, `Allows`), and it
// may hold bytes that no event of the socket will report (`HasReceived`).
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/descriptor.h"
#include "protocol/reply_buffer.h"
#include "server/net/socket_poller.h"
#include "server/net/transfer.h"

namespace respite {

class TlsStream;

class ByteStream {
 public:
  // Takes over a connected, non-blocking socket.
  explicit ByteStream(Descriptor socket);
  ByteStream(Descriptor socket, std::unique_ptr<TlsStream> tls);
  ByteStream(ByteStream&&) noexcept;
  ~ByteStream();

  int FileDescriptor() const { return socket_.Get(); }

  // Nothing can be received or sent before the handshake is over.
  bool InHandshake() const { return tls_ != nullptr && TlsInHandshake(); }
  // The next step. kMoved: it is over. Cost: up to a few milliseconds of arithmetic.
  Transfer Handshake();

  // Cost of a plain one: one system call.
  Transfer Receive(std::span<char> target);
  // Sends from the front as much as one call takes; the caller consumes it. After kLater the same bytes must come
  // first again.
  Transfer Send(const ReplyBuffer& output);
  Transfer Send(Bytes bytes);
  // There are bytes to receive although the socket may never be readable again.
  bool HasReceived() const { return tls_ != nullptr && TlsHasReceived(); }

  // Which readiness of the socket to wait for in order to receive (`read`) or send (`write`), and what a readiness
  // makes possible.
  SocketPoller::Interest Needs(SocketPoller::Interest wanted) const {
    return tls_ == nullptr ? wanted : TlsNeeds(wanted);
  }
  SocketPoller::Interest Allows(SocketPoller::Interest ready) const {
    return tls_ == nullptr ? ready : TlsAllows(ready);
  }

  // Why the last attempt failed.
  std::string ErrorText() const;
  // Says good-bye, if the protocol has a word for it, and closes the socket.
  void Close();

 private:
  bool TlsInHandshake() const;
  bool TlsHasReceived() const;
  SocketPoller::Interest TlsNeeds(SocketPoller::Interest wanted) const;
  SocketPoller::Interest TlsAllows(SocketPoller::Interest ready) const;
  Transfer Failed();

  Descriptor socket_;
  int error_ = 0;                   // errno of a plain one
  std::unique_ptr<TlsStream> tls_;  // null: plain
};

}  // namespace respite
