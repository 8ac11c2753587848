#include "server/connection.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "server/client_text.h"

namespace respite {

namespace {

constexpr size_t kPiecesPerWrite = 64;
// A client that takes a long reply as fast as we send it must not keep the others waiting.
constexpr size_t kBytesPerFlush = 1024 * 1024;

}  // namespace

Connection::Connection(EventLoop& loop, Session& session, int descriptor)
    : loop_(loop), session_(session), socket_(descriptor) {}

Connection::~Connection() = default;

void Connection::Start() {
  session_.transport = this;
  self_ = shared_from_this();
  Want({.read = true});
}

int Connection::FileDescriptor() const { return socket_.Get(); }

void Connection::Want(SocketPoller::Interest interest) {
  if (loop_.poller().Change(socket_.Get(), *this, interest_, interest)) {
    interest_ = interest;
  } else {
    loop_.server().clients().Close(session_);
  }
}

void Connection::OnReadable() {
  if (session_.closing || !interest_.read) return;
  if (loop_.server().Holds(session_)) return Want({.read = false, .write = interest_.write});
  std::span<char> target = session_.in.ReadTarget(loop_.Scratch());
  ssize_t received = recv(socket_.Get(), target.data(), target.size(), 0);
  if (received <= 0) {
    if (received < 0 && (errno == EAGAIN || errno == EINTR)) return;
    return EndOfInput(received == 0 ? 0 : errno);
  }
  size_t bytes = static_cast<size_t>(received);
  session_.in.Received(bytes);
  session_.bytes_in += bytes;
  session_.last_active_ms = loop_.server().clock().MonotonicMs();
  session_.input_peak_bytes = std::max(session_.input_peak_bytes, session_.in.BufferedBytes());
  ServerStats& stats = loop_.server().stats();
  stats.net_input_bytes += bytes;
  ++stats.total_reads;
  RunPump();
}

void Connection::OnWritable() {
  if (session_.closing || !interest_.write) return;
  Want({.read = interest_.read, .write = false});
  // At the end of the Turn: its other replies may be of writes that are not on the disk yet.
  loop_.server().clients().QueueFlush(session_);
}

void Connection::EndOfInput(int error) {
  Server& server = loop_.server();
  if (server.log().Shows(LogLevel::kVerbose)) {
    server.log().Verbose(error == 0 ? "Client closed connection " + ClientText(server, session_)
                                    : std::string("Reading from client: ") + std::strerror(error));
  }
  if (error != 0 || session_.out.Empty()) return server.clients().Close(session_);
  Want({.read = false, .write = interest_.write});
  session_.close_after_reply = true;  // half closed: the peer still waits for the replies of this Turn
  server.clients().QueueFlush(session_);
}

void Connection::RunPump() {
  Pump::Outcome outcome = loop_.pump().Run(session_);
  if (session_.closing) return;
  switch (outcome) {
    case Pump::Outcome::kIdle:
    case Pump::Outcome::kPostponed:  // whoever ends the pause calls Resume; meanwhile the peer may hang up
      if (!loop_.server().limits().CheckInput(session_)) Want({.read = true, .write = interest_.write});
      break;
    case Pump::Outcome::kMore:  // nothing new is read before what is there has been served
      Want({.read = false, .write = interest_.write});
      loop_.Post([self = shared_from_this()] { self->Resume(); });
      break;
    case Pump::Outcome::kClosing:  // Flush closes
      Want({.read = false, .write = interest_.write});
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
    if (!loop_.server().limits().CheckOutput(session_, now_ms, ClientLimits::Moment::kReply)) {
      Want({.read = interest_.read, .write = true});
    }
  } else if (session_.close_after_reply) {
    loop_.server().clients().Close(session_);
  }
}

bool Connection::WriteSome() {
  ssize_t sent = 0;
  if (session_.out.Segments() == 1) {  // a single piece takes the cheaper system call
    session_.out.VisitFront(1,
                            [&](Bytes piece) { sent = send(socket_.Get(), piece.data(), piece.size(), MSG_NOSIGNAL); });
  } else {
    std::array<iovec, kPiecesPerWrite> pieces;
    msghdr message{};
    message.msg_iov = pieces.data();
    session_.out.VisitFront(kPiecesPerWrite, [&](Bytes piece) {
      pieces[message.msg_iovlen++] = {const_cast<char*>(piece.data()), piece.size()};
    });
    sent = sendmsg(socket_.Get(), &message, MSG_NOSIGNAL);
  }
  if (sent < 0) {
    if (errno == EAGAIN || errno == EINTR) return false;
    loop_.server().clients().Close(session_);
    return false;
  }
  session_.out.Consume(static_cast<size_t>(sent));
  session_.bytes_out += static_cast<uint64_t>(sent);
  ServerStats& stats = loop_.server().stats();
  stats.net_output_bytes += static_cast<uint64_t>(sent);
  ++stats.total_writes;
  return true;
}

void Connection::Close() {
  Want({});
  socket_ = Descriptor();
  // The session may be in use right now: it goes in a later Turn, and this connection with it.
  loop_.Post([self = std::move(self_)] { self->loop_.server().clients().Remove(self->session_); });
}

}  // namespace respite
