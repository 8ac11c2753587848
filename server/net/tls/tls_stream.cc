#include "server/net/tls/tls_stream.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace respite {

namespace {

constexpr size_t kRecordBytes = SSL3_RT_MAX_PLAIN_LENGTH;
// The maximum number of bytes that one call of TlsStream takes from the socket. This is more than callers read at a
// time, because TLS records have overhead.
constexpr size_t kBytesPerCall = size_t{128} * 1024;
constexpr size_t kPiecesPerRecord = 256;

}  // namespace

struct TlsStream::Wire {
  int descriptor;
  size_t budget = 0;  // bytes that may still be read
  bool ended = false;
  int error = 0;  // errno of the system call that failed
};

namespace {

TlsStream::Wire& WireOf(BIO* bio) { return *static_cast<TlsStream::Wire*>(BIO_get_data(bio)); }

bool IsPassing(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

int ReadWire(BIO* bio, char* target, int room) {
  TlsStream::Wire& wire = WireOf(bio);
  BIO_clear_retry_flags(bio);
  if (wire.budget == 0) {
    BIO_set_retry_read(bio);
    return -1;
  }
  const size_t wanted = std::min(static_cast<size_t>(room), wire.budget);
  const ssize_t received = recv(wire.descriptor, target, wanted, 0);
  if (received > 0) {
    wire.budget -= static_cast<size_t>(received);
  } else if (received == 0) {
    wire.ended = true;
  } else if (IsPassing(errno)) {
    BIO_set_retry_read(bio);
  } else {
    wire.error = errno;
  }
  return static_cast<int>(received);
}

int WriteWire(BIO* bio, const char* bytes, int size) {
  TlsStream::Wire& wire = WireOf(bio);
  BIO_clear_retry_flags(bio);
  const ssize_t sent = send(wire.descriptor, bytes, static_cast<size_t>(size), MSG_NOSIGNAL);
  if (sent < 0 && IsPassing(errno)) {
    BIO_set_retry_write(bio);
  } else if (sent < 0) {
    wire.error = errno;
  }
  return static_cast<int>(sent);
}

long ControlWire(BIO* bio, int command, long /*number*/, void* /*pointer*/) {  // NOLINT: OpenSSL's signature
  if (command == BIO_CTRL_FLUSH) return 1;
  if (command == BIO_CTRL_EOF) return WireOf(bio).ended ? 1 : 0;
  return 0;
}

int BeginWire(BIO* bio) {
  BIO_set_init(bio, 1);
  return 1;
}

const BIO_METHOD* MakeWireMethod() {
  BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "respite socket");
  BIO_meth_set_read(method, ReadWire);
  BIO_meth_set_write(method, WriteWire);
  BIO_meth_set_ctrl(method, ControlWire);
  BIO_meth_set_create(method, BeginWire);
  return method;
}

// Returns OpenSSL's table of the functions of this BIO (ReadWire, WriteWire …). The table is made once and never freed,
// because a connection may outlive all static objects.
const BIO_METHOD* WireMethod() {
  static const BIO_METHOD* const method = MakeWireMethod();
  return method;
}

}  // namespace

TlsStream::TlsStream(SslHandle connection, int descriptor)
    : wire_(std::make_unique<Wire>(Wire{descriptor})), connection_(std::move(connection)) {
  BIO* bio = BIO_new(WireMethod());
  if (bio == nullptr) return;  // out of memory: the handshake fails
  BIO_set_data(bio, wire_.get());
  SSL_set_bio(connection_.get(), bio, bio);
}

TlsStream::~TlsStream() = default;

Transfer TlsStream::HandleFailedCall(int result, Waits& waits) {
  switch (SSL_get_error(connection_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      waits = Waits::kForInput;
      return {Transfer::State::kLater};
    case SSL_ERROR_WANT_WRITE:
      waits = Waits::kForWritability;
      return {Transfer::State::kLater};
    case SSL_ERROR_ZERO_RETURN:
      return {Transfer::State::kEnded};
    case SSL_ERROR_SYSCALL:
      error_ = wire_->error != 0 ? std::strerror(wire_->error) : "Connection closed";
      break;
    default:
      error_ = TakeOpenSslError();
  }
  broken_ = true;
  return {Transfer::State::kFailed};
}

Transfer TlsStream::Handshake() {
  ERR_clear_error();
  wire_->budget = kBytesPerCall;
  const int result = SSL_do_handshake(connection_.get());
  if (result <= 0) return HandleFailedCall(result, receive_waits_);
  in_handshake_ = false;
  receive_waits_ = Waits::kForInput;
  has_buffered_input_ = SSL_has_pending(connection_.get()) != 0;
  // From now on, treats a peer that closes the socket without close_notify as one that has only stopped sending, which
  // still receives replies. Truncated input does no harm, because requests carry their length.
  SSL_set_options(connection_.get(), SSL_OP_IGNORE_UNEXPECTED_EOF);
  return {Transfer::State::kMoved};
}

// Reads until `target` is full or OpenSSL has no more bytes, because the socket reports no event for bytes that OpenSSL
// has already read.
Transfer TlsStream::Receive(std::span<char> target) {
  if (broken_) return {Transfer::State::kFailed};
  ERR_clear_error();
  wire_->budget = kBytesPerCall;
  has_buffered_input_ = false;
  receive_waits_ = Waits::kForInput;
  size_t filled = 0;
  do {
    size_t received = 0;
    const int result = SSL_read_ex(connection_.get(), target.data() + filled, target.size() - filled, &received);
    if (result <= 0) {
      const Transfer outcome = HandleFailedCall(result, receive_waits_);
      if (filled == 0) return outcome;
      // Returns the bytes that were read until now. If the connection has also ended or failed, claims that more input
      // is buffered, so that Receive is called again and reports this.
      has_buffered_input_ = outcome.state != Transfer::State::kLater;
      return {Transfer::State::kMoved, filled};
    }
    filled += received;
  } while (filled < target.size() && SSL_has_pending(connection_.get()) != 0);
  has_buffered_input_ = filled == target.size() && SSL_has_pending(connection_.get()) != 0;
  return {Transfer::State::kMoved, filled};
}

// Sends bytes from the front of `output`. If the first segment of `output` is smaller than a TLS record, copies several
// segments into one record.
Transfer TlsStream::Send(const ReplyBuffer& output, size_t max_bytes) {
  Bytes front;
  output.VisitFront(1, [&](Bytes piece) { front = piece; });
  if (output.SegmentCount() == 1 || front.size() >= kRecordBytes) return Send(front.substr(0, max_bytes));
  std::array<char, kRecordBytes> record;  // NOLINT: filled below
  size_t size = 0;
  output.VisitFront(kPiecesPerRecord,
                    [&](Bytes piece) { size += piece.copy(record.data() + size, record.size() - size); });
  return Send(Bytes(record.data(), std::min(size, max_bytes)));
}

Transfer TlsStream::Send(Bytes bytes) {
  if (broken_) return {Transfer::State::kFailed};
  ERR_clear_error();
  send_waits_ = Waits::kForWritability;
  wire_->budget = kBytesPerCall;
  size_t sent = 0;
  const int result = SSL_write_ex(connection_.get(), bytes.data(), bytes.size(), &sent);
  if (result <= 0) return HandleFailedCall(result, send_waits_);
  return {Transfer::State::kMoved, sent};
}

SocketPoller::Events TlsStream::EventsToAwait(SocketPoller::Events wanted) const {
  const bool receives_on_room = receive_waits_ == Waits::kForWritability;
  const bool sends_on_input = send_waits_ == Waits::kForInput;
  return {.readable = (wanted.readable && !receives_on_room) || (wanted.writable && sends_on_input),
          .writable = (wanted.writable && !sends_on_input) || (wanted.readable && receives_on_room)};
}

SocketPoller::Events TlsStream::TransfersAfter(SocketPoller::Events ready) const {
  return {.readable = receive_waits_ == Waits::kForWritability ? ready.writable : ready.readable,
          .writable = send_waits_ == Waits::kForInput ? ready.readable : ready.writable};
}

void TlsStream::SendCloseNotify() {
  if (in_handshake_ || broken_) return;
  ERR_clear_error();
  SSL_shutdown(connection_.get());  // sends what the socket takes; does not wait for an answer
  ERR_clear_error();
}

}  // namespace respite
