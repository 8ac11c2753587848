#include "server/net/byte_stream.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "server/net/tls/tls_stream.h"

namespace respite {

namespace {

constexpr size_t kPiecesPerWrite = 64;

}  // namespace

ByteStream::ByteStream(Descriptor socket) : socket_(std::move(socket)) {}
ByteStream::ByteStream(Descriptor socket, std::unique_ptr<TlsStream> tls)
    : socket_(std::move(socket)), tls_(std::move(tls)) {}
ByteStream::ByteStream(ByteStream&&) noexcept = default;
ByteStream::~ByteStream() = default;

Transfer ByteStream::Handshake() { return tls_ == nullptr ? Transfer{Transfer::State::kMoved} : tls_->Handshake(); }

Transfer ByteStream::Failed() {
  if (errno == EAGAIN || errno == EINTR) return {Transfer::State::kLater};
  error_ = errno;
  return {Transfer::State::kFailed};
}

Transfer ByteStream::Receive(std::span<char> target) {
  if (tls_ != nullptr) return tls_->Receive(target);
  const ssize_t received = recv(socket_.Get(), target.data(), target.size(), 0);
  if (received < 0) return Failed();
  if (received == 0) return {Transfer::State::kEnded};
  return {Transfer::State::kMoved, static_cast<size_t>(received)};
}

Transfer ByteStream::Send(Bytes bytes) {
  if (tls_ != nullptr) return tls_->Send(bytes);
  const ssize_t sent = send(socket_.Get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent < 0) return Failed();
  return {Transfer::State::kMoved, static_cast<size_t>(sent)};
}

Transfer ByteStream::Send(const ReplyBuffer& output, Portion portion) {
  // TLS limits itself, and must not be given less after kLater.
  if (tls_ != nullptr) return tls_->Send(output, portion.allowed);
  size_t most = std::min(portion.wanted, portion.allowed);
  if (output.Segments() == 1) {  // for one segment, this system call is cheaper
    Bytes piece;
    output.VisitFront(1, [&](Bytes front) { piece = front; });
    return Send(piece.substr(0, most));
  }
  std::array<iovec, kPiecesPerWrite> pieces;
  msghdr message{};
  message.msg_iov = pieces.data();
  output.VisitFront(kPiecesPerWrite, [&](Bytes piece) {
    if (most == 0) return;
    const size_t size = std::min(piece.size(), most);
    pieces[message.msg_iovlen++] = {const_cast<char*>(piece.data()), size};
    most -= size;
  });
  const ssize_t sent = sendmsg(socket_.Get(), &message, MSG_NOSIGNAL);
  if (sent < 0) return Failed();
  return {Transfer::State::kMoved, static_cast<size_t>(sent)};
}

bool ByteStream::TlsInHandshake() const { return tls_->InHandshake(); }
bool ByteStream::TlsHasReceived() const { return tls_->HasReceived(); }
SocketPoller::Interest ByteStream::TlsNeeds(SocketPoller::Interest wanted) const { return tls_->Needs(wanted); }
SocketPoller::Interest ByteStream::TlsAllows(SocketPoller::Interest ready) const { return tls_->Allows(ready); }

std::string ByteStream::ErrorText() const { return tls_ == nullptr ? std::strerror(error_) : tls_->ErrorText(); }

void ByteStream::Close() {
  if (tls_ != nullptr) tls_->SayGoodbye();
  tls_.reset();
  socket_ = Descriptor();
}

}  // namespace respite
