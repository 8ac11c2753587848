#include "server/net/byte_stream.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "server/net/direct_calls.h"
#include "server/net/tls/tls_stream.h"

namespace respite {

namespace {

constexpr size_t kPiecesPerWrite = 64;

// Sends at most `most` bytes of the output with one sendmsg. Not inlined, because its large array on the stack would
// burden the sending of short replies.
[[gnu::noinline]] ssize_t SendPieces(int socket, const ReplyBuffer& output, size_t most) {
  std::array<iovec, kPiecesPerWrite> pieces;
  msghdr message{};
  message.msg_iov = pieces.data();
  output.VisitFront(kPiecesPerWrite, [&](Bytes piece) {
    if (most == 0) return;
    const size_t size = std::min(piece.size(), most);
    pieces[message.msg_iovlen++] = {const_cast<char*>(piece.data()), size};
    most -= size;
  });
  return sendmsg(socket, &message, MSG_NOSIGNAL);
}

}  // namespace

ByteStream::ByteStream(Descriptor socket) : socket_(std::move(socket)) {}
ByteStream::ByteStream(Descriptor socket, std::unique_ptr<TlsStream> tls)
    : socket_(std::move(socket)), tls_(std::move(tls)) {}
ByteStream::ByteStream(ByteStream&&) noexcept = default;
ByteStream::~ByteStream() = default;

Transfer ByteStream::Handshake() {
  if (tls_ == nullptr) return {Transfer::State::kMoved};
  const Transfer step = tls_->Handshake();
  if (tap_ != nullptr) TellEnd(step);
  return step;
}

Transfer ByteStream::FailedTransfer() {
  if (errno == EAGAIN || errno == EINTR) return {Transfer::State::kLater};
  error_ = errno;
  return {Transfer::State::kFailed};
}

void ByteStream::SetTap(std::unique_ptr<StreamTap> tap) { tap_ = std::move(tap); }

Transfer ByteStream::Receive(std::span<char> target) {
  const Transfer received = ReceiveUntapped(target);
  if (tap_ != nullptr) TellReceived({target.data(), received.bytes}, received);
  return received;
}

Transfer ByteStream::Send(Bytes bytes) {
  const Transfer sent = SendUntapped(bytes);
  if (tap_ == nullptr) return sent;
  if (sent.state == Transfer::State::kMoved) tap_->OnSent(bytes.substr(0, sent.bytes));
  TellEnd(sent);
  return sent;
}

Transfer ByteStream::Send(const ReplyBuffer& output, SendLimits limits) {
  const Transfer sent = SendUntapped(output, limits);
  if (tap_ != nullptr) TellSent(output, sent);
  return sent;
}

void ByteStream::TellReceived(Bytes bytes, Transfer received) {
  if (received.state == Transfer::State::kMoved) tap_->OnReceived(bytes);
  TellEnd(received);
}

void ByteStream::TellEnd(Transfer transfer) {
  const bool is_end = transfer.state == Transfer::State::kEnded || transfer.state == Transfer::State::kFailed;
  if (is_end) tap_->OnPeerEnded();
}

void ByteStream::TellSent(const ReplyBuffer& output, Transfer sent) {
  TellEnd(sent);
  if (sent.state != Transfer::State::kMoved) return;
  size_t rest = sent.bytes;
  output.VisitFront(output.SegmentCount(), [&](Bytes piece) {
    const Bytes part = piece.substr(0, rest);
    if (!part.empty()) tap_->OnSent(part);
    rest -= part.size();
  });
}

Transfer ByteStream::ReceiveUntapped(std::span<char> target) {
  if (tls_ != nullptr) return tls_->Receive(target);
  const ssize_t received = direct::Receive(socket_.Get(), target.data(), target.size());
  if (received < 0) return FailedTransfer();
  if (received == 0) return {Transfer::State::kEnded};
  return {Transfer::State::kMoved, static_cast<size_t>(received)};
}

inline Transfer ByteStream::SendUntapped(Bytes bytes) {
  if (tls_ != nullptr) return tls_->Send(bytes);
  const ssize_t sent = direct::Send(socket_.Get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent < 0) return FailedTransfer();
  return {Transfer::State::kMoved, static_cast<size_t>(sent)};
}

Transfer ByteStream::SendUntapped(const ReplyBuffer& output, SendLimits limits) {
  // With TLS, offers `allowed` bytes, even if that is more than `preferred`. OpenSSL itself limits how much one call
  // sends, and after kLater the next call must not offer fewer bytes than the call before it.
  if (tls_ != nullptr) return tls_->Send(output, limits.allowed);
  const size_t most = std::min(limits.preferred, limits.allowed);
  if (output.SegmentCount() == 1) {  // for one segment, this system call is cheaper
    const Bytes piece = output.Front();
    return SendUntapped({piece.data(), std::min(piece.size(), most)});
  }
  const ssize_t sent = SendPieces(socket_.Get(), output, most);
  if (sent < 0) return FailedTransfer();
  return {Transfer::State::kMoved, static_cast<size_t>(sent)};
}

bool ByteStream::TlsInHandshake() const { return tls_->InHandshake(); }
bool ByteStream::TlsHasBufferedInput() const { return tls_->HasBufferedInput(); }
SocketPoller::Events ByteStream::TlsEventsToAwait(SocketPoller::Events wanted) const {
  return tls_->EventsToAwait(wanted);
}
SocketPoller::Events ByteStream::TlsTransfersAfter(SocketPoller::Events ready) const {
  return tls_->TransfersAfter(ready);
}

std::string ByteStream::ErrorText() const { return tls_ == nullptr ? std::strerror(error_) : tls_->ErrorText(); }

void ByteStream::Close() {
  if (tls_ != nullptr) tls_->SendCloseNotify();
  tls_.reset();
  tap_.reset();
  socket_ = Descriptor();
}

}  // namespace respite
