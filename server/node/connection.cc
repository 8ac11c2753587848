#include "server/node/connection.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/real_clock.h"
#include "base/refusal.h"
#include "server/clients/acl/users.h"
#include "server/clients/client_limits.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/client_text.h"
#include "server/clients/clients.h"
#include "server/config/settings.h"
#include "server/execution/services.h"
#include "server/runtime/server_phase.h"
#include "server/runtime/stats.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kProtectedMode[] =
    "DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the "
    "default user. In this mode connections are only accepted from the loopback interface. If you want to connect "
    "from external computers to Redis you may adopt one of the following solutions: 1) Just disable protected mode "
    "sending the command 'CONFIG SET protected-mode no' from the loopback interface by connecting to Redis from the "
    "same host the server is running, however MAKE SURE Redis is not publicly accessible from internet if you do so. "
    "Use CONFIG REWRITE to make this change permanent. 2) Alternatively you can just disable the protected mode by "
    "editing the Redis configuration file, and setting the protected mode option to 'no', and then restarting the "
    "server. 3) If you started the server manually just for testing, restart it with the '--protected-mode no' "
    "option. 4) Set up an authentication password for the default user. NOTE: You only need to do one of the above "
    "things in order for the server to start accepting connections from the outside.";

}  // namespace
}  // namespace refusals

namespace {

// A client that sent at least this many bytes in one read probably has more to send now.
constexpr size_t kMuchInput = 32 * 1024;
// The time limit for a TLS handshake, in milliseconds.
constexpr int64_t kHandshakeMs = 30'000;

}  // namespace

Connection::Connection(NodeHost& host, Session& session, ByteStream stream)
    : host_(&host),
      session_(&session),
      stream_(std::move(stream)),
      opened_ms_(host.loop().real_clock().NowMs()),
      long_task_(host.services().env.phase.LongTask()) {}

Connection::~Connection() = default;

void Connection::Start() {
  session_->transport = this;
  self_ = shared_from_this();
  if (stream_.InHandshake()) return Want({.readable = true});
  StartServing();
}

void Connection::Want(SocketPoller::Events wanted) {
  wanted_ = wanted;
  const SocketPoller::Events needed = stream_.EventsToAwait(wanted);
  if (needed != reported_events_) Register(needed);
  if (wanted.readable && stream_.HasBufferedInput()) ReceiveInNextTurn();
}

void Connection::Register(SocketPoller::Events events) {
  if (host_->loop().poller().ChangeEvents(stream_.FileDescriptor(), *this, reported_events_, events)) {
    reported_events_ = events;
  } else {
    host_->services().clients.registry.Close(*session_);
  }
}

void Connection::OnReady(SocketPoller::Events ready) {
  host_->MarkActive();
  if (session_->closing) return;
  if (stream_.InHandshake()) return QueueHandshakeStep();
  const SocketPoller::Events allowed = stream_.TransfersAfter(ready);
  if (allowed.readable && wanted_.readable) Receive();
  if (!allowed.writable || !wanted_.writable || session_->closing) return;
  Want({.readable = wanted_.readable, .writable = false});
  // Sends the output only at the end of the turn (a pass of the event loop), because the output may have replies to
  // writes that are not on disk yet.
  host_->services().clients.registry.QueueFlush(*session_);
}

// Queues the next step of the TLS handshake. Stops listening for events of the socket until the queue reaches this
// connection.
void Connection::QueueHandshakeStep() {
  Register({});
  host_->loop().handshakes().AddStep([self = shared_from_this()] { self->ContinueHandshake(); });
}

void Connection::ContinueHandshake() {
  if (self_ == nullptr) return;  // closed; the server may also have been destroyed
  host_->MarkActive();
  switch (stream_.Handshake().state) {
    case Transfer::State::kMoved:
      return StartServing();
    case Transfer::State::kLater:
      return Want({.readable = true});
    case Transfer::State::kEnded:
    case Transfer::State::kFailed:
      break;
  }
  host_->services().env.log.Warning("Error accepting a client connection: " + stream_.ErrorText() +
                                    " (addr=" + session_->addresses.peer + " laddr=" + session_->addresses.local + ")");
  host_->services().clients.registry.Close(*session_);
}

bool Connection::IsHandshakeLate() const {
  return stream_.InHandshake() && host_->loop().real_clock().NowMs() - opened_ms_ > kHandshakeMs;
}

void Connection::StartServing() {
  const Services& server = host_->services();
  if (server.env.settings.protected_mode && !server.clients.users.IsLoginRequired() &&
      !session_->addresses.is_loopback) {
    ++server.env.stats.rejected_connections;
    session_->out.Append("-" + std::string(refusals::kProtectedMode) + "\r\n");
    session_->close_after_reply = true;
    return server.clients.registry.QueueFlush(*session_);
  }
  ++server.env.stats.connections;
  Want({.readable = true});
}

void Connection::Receive() {
  if (host_->services().clients.registry.HasUnsentMessagesFor(*session_)) {
    if (stream_.HasBufferedInput()) ReceiveInNextTurn();  // otherwise the poller reports the socket again
    return;
  }
  if (host_->services().env.phase.PausesInputOf(*session_))
    return Want({.readable = false, .writable = wanted_.writable});
  const Transfer received = stream_.Receive(session_->in.ReadTarget(host_->loop().Scratch()));
  if (received.state != Transfer::State::kMoved) {
    if (received.state != Transfer::State::kLater) return HandleDisconnect(received.state);
    return Want(wanted_);  // TLS may have to send before it can receive
  }
  const size_t bytes = received.bytes;
  sends_much_ = bytes >= kMuchInput;
  session_->in.Received(bytes);
  session_->usage.NoteBufferedInput(session_->in.BufferedBytes());
  ServerStats& stats = host_->services().env.stats;
  stats.net_input_bytes += bytes;
  ++stats.total_reads;
  RunPump(bytes);
}

void Connection::ReceiveInNextTurn() {
  if (std::exchange(receive_posted_, true)) return;
  host_->PostToGoOn([self = shared_from_this()] {
    self->receive_posted_ = false;
    if (self->self_ != nullptr && self->wanted_.readable) self->Receive();
  });
}

void Connection::HandleDisconnect(Transfer::State state) {
  const Services& server = host_->services();
  const bool ended = state == Transfer::State::kEnded;
  if (server.env.log.IsLevelEnabled(LogLevel::kVerbose)) {
    server.env.log.Verbose(ended ? "Client closed connection " + ClientText(*session_, server.env.clock.MonotonicMs())
                                 : "Reading from client: " + stream_.ErrorText());
  }
  const bool is_held =
      session_->SendableBytes() != session_->out.Size();  // TEST FAULT holds output back, perhaps for ever
  if (!ended || is_held || session_->out.IsEmpty()) return UnsubscribeThenClose();
  Want({.readable = false, .writable = wanted_.writable});
  session_->close_after_reply = true;  // half closed: the peer still waits for the replies of this turn
  server.clients.registry.QueueFlush(*session_);
}

// Removes the client's subscriptions, then closes the connection. Unsubscribing from a hundred thousand channels takes
// several turns of the event loop, during which other clients still see this client. Closes a blocked client
// immediately.
void Connection::UnsubscribeThenClose() {
  const Services& server = host_->services();
  if (session_->IsBlocked() || server.clients.cleanup.CleanUpSome(*session_))
    return server.clients.registry.Close(*session_);
  is_unsubscribing_to_close_ = true;
  Want({});
  host_->Post([self = shared_from_this()] {
    if (self->self_ != nullptr) self->UnsubscribeThenClose();
  });
}

void Connection::RunPump(size_t received) {
  Pump::Outcome outcome = host_->pump().Run(*session_, received);
  if (session_->closing) return;
  switch (outcome) {
    case Pump::Outcome::kIdle:
    case Pump::Outcome::kPaused:  // the end of the pause calls Resume; until then a read notices a disconnect
      if (!host_->services().clients.limits.EnforceInputLimit(*session_))
        Want({.readable = true, .writable = wanted_.writable});
      break;
    case Pump::Outcome::kMore:  // pending requests run before new input is read
      Want({.readable = false, .writable = wanted_.writable});
      ResumeInNextTurn();
      break;
    case Pump::Outcome::kClosing:  // Flush closes the client
      Want({.readable = false, .writable = wanted_.writable});
      break;
  }
}

// Requests that arrived inside a long task are answered inside it (BUSY, LOADING), or run (SCRIPT KILL). Earlier ones
// wait for its end. A request that is half done always waits, and so do those of the client that has started the task.
void Connection::ResumeInNextTurn() {
  host_->PostToGoOn([self = shared_from_this()] {
    if (self->self_ == nullptr) return;
    const Services& server = self->host_->services();
    const Session& session = *self->session_;
    const bool waits_for_task = server.env.phase.IsInLongTask() &&
                                (session.paused_request != nullptr || server.env.phase.PausesInputOf(session));
    if (waits_for_task || server.clients.registry.HasUnsentMessagesFor(session)) return self->ResumeInNextTurn();
    self->Resume();
  });
}

void Connection::Resume() {
  if (!session_->closing && !is_unsubscribing_to_close_) RunPump(0);
}

void Connection::Flush(size_t most_bytes) {
  if (stream_.InHandshake()) return;
  if (is_unsubscribing_to_close_) return session_->out.Consume(session_->out.Size());
  if (host_->services().env.phase.PausesInputOf(*session_)) return;  // the reply in progress may still be withdrawn
  size_t before = session_->out.Size();
  session_->output_account.NoteOutput(before);
  const size_t end = before - std::min(session_->SendableBytes(), most_bytes);
  while (session_->out.Size() > end) {
    if (!WriteSome(session_->out.Size() - end)) break;
  }
  if (session_->closing || is_unsubscribing_to_close_) return;
  if (!session_->HasSentAll()) {
    int64_t now_ms = host_->services().env.clock.MonotonicMs();
    if (session_->out.Size() != before) session_->usage.last_active_ms = now_ms;
    if (!host_->services().clients.limits.EnforceOutputLimit(*session_, now_ms, ClientLimits::Moment::kReply)) {
      Want({.readable = wanted_.readable, .writable = session_->SendableBytes() != 0});
    }
  } else if (session_->close_after_reply) {
    host_->services().clients.registry.Close(*session_);
  }
}

bool Connection::WriteSome(size_t preferred_bytes) {
  const Transfer sent =
      stream_.Send(session_->out, {.preferred = preferred_bytes, .allowed = session_->SendableBytes()});
  if (sent.state != Transfer::State::kMoved) {
    if (sent.state == Transfer::State::kLater) return false;
    host_->services().env.log.Verbose("Error writing to client: " + stream_.ErrorText());
    UnsubscribeThenClose();
    return false;
  }
  session_->NoteSent(sent.bytes);
  session_->usage.bytes_out += sent.bytes;
  ServerStats& stats = host_->services().env.stats;
  stats.net_output_bytes += sent.bytes;
  ++stats.total_writes;
  return true;
}

void Connection::Close() {
  Register({});
  host_->loop().closings().AddStep([self = self_] { self->stream_.Close(); });
  host_->RemoveLater(*session_, long_task_, std::move(self_));
}

void Connection::MoveTo(NodeHost& other, MovingClient arrival) {
  if (AcceptingHost() == host_) home_ = std::make_unique<Home>(Home{host_, session_->user->name()});
  Session& session = BecomeClientOf(other);
  session.authenticated = arrival.is_admitted || !other.services().clients.users.IsLoginRequired();
  if (AcceptingHost() == &other) RestoreUserOnReturn(session, other);
  session.out.Append(arrival.reply);
  session.paused_request = std::move(arrival.request);
  other.services().clients.registry.QueueFlush(session);
}

void Connection::MoveToRestarted(NodeHost& restarted, Bytes reply) {
  home_.reset();
  Session& session = BecomeClientOf(restarted);
  session.authenticated = !restarted.services().clients.users.IsLoginRequired();
  session.out.Append(reply);
  restarted.services().clients.registry.QueueFlush(session);
}

Connection* Connection::FindMovable(const Session& session) {
  const bool is_held = session.SendableBytes() != session.out.Size();
  if (session.kind == SessionKind::kReplica || is_held) return nullptr;
  return dynamic_cast<Connection*>(session.transport);
}

Session& Connection::BecomeClientOf(NodeHost& other) {
  NodeHost& left = *host_;
  Session& old = *session_;
  Session& session = other.services().clients.registry.Create(other.services().env.clock.MonotonicMs());
  session.in = std::move(old.in);
  session.out.Append(old.out.Text());
  session.addresses = old.addresses;
  session.identity = old.identity;
  session.resp = old.resp;
  session.transport = this;
  host_ = &other;
  session_ = &session;
  long_task_ = 0;
  old.transport = nullptr;
  left.services().clients.registry.Close(old);
  left.RemoveLater(old, 0, nullptr);
  other.MarkActive();
  return session;
}

void Connection::RestoreUserOnReturn(Session& session, const NodeHost& home) const {
  const Users& users = home.services().clients.users;
  const User* const user = users.Find(home_->user);
  if (user != nullptr && user->IsOn()) {
    session.user = user;
  } else {
    session.authenticated = !users.IsLoginRequired();
  }
}

}  // namespace respite
