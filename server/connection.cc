#include "server/connection.h"

#include <algorithm>
#include <array>
#include <asio/buffer.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/io_context.hpp>
#include <utility>

#include "server/client_text.h"

namespace respite {

namespace {

constexpr size_t kPiecesPerWrite = 64;
// A client that takes a long reply as fast as we send it must not keep the others waiting.
constexpr size_t kBytesPerFlush = 1024 * 1024;

// The pieces of one gathered write, without allocating.
struct Gather {
  std::array<asio::const_buffer, kPiecesPerWrite> pieces;
  size_t count = 0;
  const asio::const_buffer* begin() const { return pieces.data(); }
  const asio::const_buffer* end() const { return pieces.data() + count; }
};

}  // namespace

struct Connection::Socket {
  asio::generic::stream_protocol::socket stream;
  int descriptor;
};

Connection::Connection(EventLoop& loop, Session& session, int descriptor) : loop_(loop), session_(session) {
  socket_ = std::make_unique<Socket>(Socket{asio::generic::stream_protocol::socket(loop.Context()), descriptor});
  // The family only matters for addresses, which the listener has already read.
  socket_->stream.assign(asio::generic::stream_protocol(AF_INET, 0), descriptor);
  socket_->stream.non_blocking(true);
}

Connection::~Connection() = default;

void Connection::Start() {
  session_.transport = this;
  self_ = shared_from_this();
  AwaitInput();
}

int Connection::FileDescriptor() const { return socket_->descriptor; }

void Connection::AwaitInput() {
  if (awaiting_input_ || session_.closing) return;
  awaiting_input_ = true;
  socket_->stream.async_wait(asio::socket_base::wait_read, [self = shared_from_this()](const asio::error_code& error) {
    self->awaiting_input_ = false;
    if (!error) self->Read();
  });
}

void Connection::Read() {
  if (session_.closing) return;
  std::span<char> target = session_.in.ReadTarget(loop_.Scratch());
  asio::error_code error;
  size_t received = socket_->stream.read_some(asio::buffer(target.data(), target.size()), error);
  if (error == asio::error::would_block) return AwaitInput();
  if (error) return EndOfInput(error);
  session_.in.Received(received);
  session_.bytes_in += received;
  session_.last_active_ms = loop_.server().clock().MonotonicMs();
  session_.input_peak_bytes = std::max(session_.input_peak_bytes, session_.in.BufferedBytes());
  ServerStats& stats = loop_.server().stats();
  stats.net_input_bytes += received;
  ++stats.total_reads;
  RunPump();
}

void Connection::EndOfInput(const std::error_code& error) {
  Server& server = loop_.server();
  if (server.log().Shows(LogLevel::kVerbose)) {
    server.log().Verbose(error == asio::error::eof ? "Client closed connection " + ClientText(server, session_)
                                                   : "Reading from client: " + error.message());
  }
  if (error != asio::error::eof || session_.out.Empty()) return server.clients().Close(session_);
  session_.close_after_reply = true;  // half closed: the peer still waits for the replies of this Turn
  server.clients().QueueFlush(session_);
}

void Connection::RunPump() {
  switch (loop_.pump().Run(session_)) {
    case Pump::Outcome::kIdle:
    case Pump::Outcome::kPostponed:  // whoever ends the pause calls Resume; meanwhile the peer may hang up
      if (!loop_.server().limits().CheckInput(session_)) AwaitInput();
      break;
    case Pump::Outcome::kMore:
      loop_.Post([self = shared_from_this()] { self->Resume(); });
      break;
    case Pump::Outcome::kClosing:  // Flush closes
      break;
  }
}

void Connection::Resume() {
  if (!session_.closing) RunPump();
}

void Connection::Flush() {
  size_t before = session_.out.Size();
  session_.output_peak_bytes = std::max(session_.output_peak_bytes, std::min(before, session_.reply_room_bytes));
  while (!session_.out.Empty() && before - session_.out.Size() < kBytesPerFlush) {
    if (!WriteSome()) break;
  }
  if (session_.closing) return;
  if (!session_.out.Empty()) {
    int64_t now_ms = loop_.server().clock().MonotonicMs();
    if (session_.out.Size() != before) session_.last_active_ms = now_ms;
    if (!loop_.server().limits().CheckOutput(session_, now_ms, ClientLimits::Moment::kReply)) AwaitRoom();
  } else if (session_.close_after_reply) {
    loop_.server().clients().Close(session_);
  }
}

bool Connection::WriteSome() {
  Gather gather;
  session_.out.VisitFront(
      kPiecesPerWrite, [&](Bytes piece) { gather.pieces[gather.count++] = asio::buffer(piece.data(), piece.size()); });
  asio::error_code error;
  // A single piece takes the cheaper system call.
  size_t sent = gather.count == 1 ? socket_->stream.write_some(gather.pieces[0], error)
                                  : socket_->stream.write_some(gather, error);
  if (error == asio::error::would_block) return false;
  if (error) {
    loop_.server().clients().Close(session_);
    return false;
  }
  session_.out.Consume(sent);
  session_.bytes_out += sent;
  ServerStats& stats = loop_.server().stats();
  stats.net_output_bytes += sent;
  ++stats.total_writes;
  return true;
}

void Connection::AwaitRoom() {
  if (awaiting_room_) return;
  awaiting_room_ = true;
  socket_->stream.async_wait(asio::socket_base::wait_write, [self = shared_from_this()](const asio::error_code& error) {
    self->awaiting_room_ = false;
    if (!error && !self->session_.closing) self->Flush();
  });
}

void Connection::Close() {
  asio::error_code ignored;
  socket_->stream.close(ignored);
  // The session may be in use right now: it goes in a later Turn, and this connection with it.
  loop_.Post([self = std::move(self_)] { self->loop_.server().clients().Remove(self->session_); });
}

}  // namespace respite
