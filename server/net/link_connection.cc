#include "server/net/link_connection.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "server/net/tls/tls.h"

namespace respite {

namespace {

// The maximum number of reads from one socket per event. Input that is left waits for a later event or turn, so that
// other sockets are served in between.
constexpr size_t kReceivesPerEvent = 4;
// The maximum number of received bytes that a simulated delay (TEST FAULT) holds back. The connection reads no more
// from the socket until some of them are delivered.
constexpr size_t kMaxDelayedBytes = size_t{16} << 20;

// Binds the socket to a local address. Returns false if that fails.
bool BindTo(int descriptor, int family, const std::string& source) {
  addrinfo hints{};
  hints.ai_family = family;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (getaddrinfo(source.c_str(), nullptr, &hints, &found) != 0) return false;
  const bool is_bound = bind(descriptor, found->ai_addr, found->ai_addrlen) == 0;
  freeaddrinfo(found);
  return is_bound;
}

}  // namespace

struct LinkConnection::ConnectAttempts {
  explicit ConnectAttempts(asio::io_context& context) : resolver(context) {}

  asio::ip::tcp::resolver resolver;
  std::vector<asio::ip::tcp::endpoint> addresses;
  size_t next_address = 0;
  std::string trouble;  // why the last attempt failed
};

LinkConnection::LinkConnection(const Parts& parts, Link::Target target, Link::User& user)
    : parts_(parts), target_(std::move(target)), user_(&user) {}

LinkConnection::~LinkConnection() = default;

// Starts to look up the name, if the target is no numeric address. A thread of Asio looks up names one after the other.
// Asio starts it for the first name, and throws if that fails; the next look-up tries again.
void LinkConnection::Start() {
  connect_attempts_ = std::make_unique<ConnectAttempts>(parts_.loop.Context());
  asio::error_code is_name;
  const asio::ip::address address = asio::ip::make_address(target_.host, is_name);
  if (!is_name) {
    connect_attempts_->addresses.emplace_back(address, static_cast<uint16_t>(target_.port));
    return parts_.loop.RunAfter(0, [self = shared_from_this()] {
      if (self->user_ == nullptr) return;
      self->parts_.loop.MarkActive(self->parts_.participant);
      self->TryNextAddress();
    });
  }
  try {
    connect_attempts_->resolver.async_resolve(
        target_.host, std::to_string(target_.port), asio::ip::resolver_base::numeric_service,
        [self = shared_from_this()](const asio::error_code& error, const asio::ip::tcp::resolver::results_type& found) {
          if (self->user_ == nullptr) return;
          self->parts_.loop.MarkActive(self->parts_.participant);
          if (error) return self->End(error.message());
          for (const auto& one : found) self->connect_attempts_->addresses.push_back(one.endpoint());
          self->TryNextAddress();
        });
  } catch (const std::system_error& no_thread) {
    RunInLaterTurn([text = no_thread.code().message()](LinkConnection& connection) { connection.End(text); });
  }
}

void LinkConnection::StartAccepted(Descriptor socket, std::unique_ptr<TlsStream> encryption) {
  TuneTcp(socket.Get(), parts_.keepalive_s);
  stream_ = std::make_unique<ByteStream>(std::move(socket), std::move(encryption));
  BeginHandshakeOrOpen();
}

void LinkConnection::Stop() {
  user_ = nullptr;
  if (connect_attempts_ != nullptr) connect_attempts_->resolver.cancel();
  if (stream_ == nullptr) return;
  Unwatch();
  stream_->Close();
}

// Changes the simulated conditions. While the link is cut, bytes in both directions wait until it is no longer cut.
// From now on, bytes that wait already are delayed by at most the new delay.
void LinkConnection::SetConditions(const LinkConditions& conditions) {
  const bool was_cut = std::exchange(conditions_, conditions).is_cut;
  if (user_ != nullptr) ShortenDelay(delayed_output_, conditions.send_delay_ms, &LinkConnection::SendDue);
  if (user_ != nullptr) ShortenDelay(delayed_input_, conditions.receive_delay_ms, &LinkConnection::DeliverDue);
  if (user_ == nullptr || conditions.is_cut == was_cut) return;
  if (conditions.is_cut) return Unwatch();
  RunInLaterTurn([](LinkConnection& connection) {
    if (std::exchange(connection.connects_after_cut_, false)) return connection.TryNextAddress();
    if (connection.stream_ == nullptr) return;
    connection.SendMore();
    if (connection.user_ != nullptr) connection.StartTimer(connection.delayed_output_, &LinkConnection::SendDue);
    if (connection.user_ != nullptr) connection.StartTimer(connection.delayed_input_, &LinkConnection::DeliverDue);
    if (connection.user_ != nullptr && connection.stage_ == Stage::kOpen) connection.ReceiveLater();
  });
}

void LinkConnection::TryNextAddress() {
  if (conditions_.is_cut) {
    connects_after_cut_ = true;
    return;
  }
  while (connect_attempts_->next_address < connect_attempts_->addresses.size()) {
    const auto& endpoint = connect_attempts_->addresses[connect_attempts_->next_address++];
    const int family = endpoint.data()->sa_family;
    Descriptor socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int descriptor = socket.Get();
    if (descriptor < 0 || (!target_.source.empty() && !BindTo(descriptor, family, target_.source)) ||
        (connect(descriptor, endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0 && errno != EINPROGRESS)) {
      connect_attempts_->trouble = std::strerror(errno);
      continue;
    }
    TuneTcp(descriptor, parts_.keepalive_s);
    std::unique_ptr<TlsStream> encryption;
    if (target_.uses_tls) {
      if (!parts_.tls.IsConfigured()) return End("TLS is not configured");
      encryption = parts_.tls.Connect(descriptor);
      if (encryption == nullptr) return End("no memory for TLS");
    }
    stream_ = std::make_unique<ByteStream>(std::move(socket), std::move(encryption));
    stage_ = Stage::kConnecting;
    return Watch();
  }
  End(connect_attempts_->trouble.empty() ? "the host has no address" : connect_attempts_->trouble);
}

void LinkConnection::FinishConnecting() {
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(FileDescriptor(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error != 0) {
    connect_attempts_->trouble = std::strerror(error);
    Unwatch();
    stream_.reset();
    return TryNextAddress();
  }
  BeginHandshakeOrOpen();
}

void LinkConnection::BeginHandshakeOrOpen() {
  stage_ = stream_->InHandshake() ? Stage::kHandshake : Stage::kOpen;
  if (stage_ == Stage::kHandshake) return Handshake();
  Open();
}

void LinkConnection::Handshake() {
  switch (stream_->Handshake().state) {
    case Transfer::State::kMoved:
      return Open();
    case Transfer::State::kLater:
      return Watch();
    case Transfer::State::kEnded:
    case Transfer::State::kFailed:
      return End(stream_->ErrorText());
  }
}

void LinkConnection::Open() {
  const auto self = shared_from_this();
  stage_ = Stage::kOpen;
  Watch();
  if (user_ != nullptr) user_->OnConnected();
  // Receives bytes that may have arrived together with the end of the handshake, because the socket does not report
  // them again.
  if (user_ != nullptr && is_reading_ && stream_->HasBufferedInput()) ReceiveLater();
}

void LinkConnection::OnReady(SocketPoller::Events ready) {
  if (user_ == nullptr || conditions_.is_cut) return;
  const auto self = shared_from_this();
  parts_.loop.MarkActive(parts_.participant);
  if (stage_ == Stage::kConnecting) return FinishConnecting();
  if (stage_ == Stage::kHandshake) return Handshake();
  const SocketPoller::Events allowed = stream_->TransfersAfter(ready);
  if (allowed.writable && HasUnsent()) SendMore();
  if (user_ != nullptr && allowed.readable && is_reading_) Receive();
}

void LinkConnection::Receive() {
  // All connections of the loop read into this one scratch buffer. If OnReceived runs a long script or load, other
  // connections may read meanwhile. ServeDuringLongTask gives those another buffer, so that they do not overwrite
  // `scratch`.
  for (size_t i = 0;
       i < kReceivesPerEvent && user_ != nullptr && is_reading_ && !conditions_.is_cut && !MustPauseReading(); ++i) {
    const std::span<char> scratch = parts_.loop.Scratch();
    const Transfer got = stream_->Receive(scratch);
    if (got.state == Transfer::State::kLater) return Watch();
    if (got.state == Transfer::State::kEnded) return HandlePeerEnd("connection lost");
    if (got.state == Transfer::State::kFailed) return HandlePeerEnd(stream_->ErrorText());
    Deliver({scratch.data(), got.bytes});
    if (got.bytes < scratch.size() && !stream_->HasBufferedInput()) break;
  }
  if (user_ == nullptr) return;
  Watch();
  if (user_ != nullptr && is_reading_ && !MustPauseReading() && stream_->HasBufferedInput()) ReceiveLater();
}

void LinkConnection::ReceiveLater() {
  if (std::exchange(receive_posted_, true)) return;
  RunInLaterTurn([](LinkConnection& connection) {
    connection.receive_posted_ = false;
    if (connection.is_reading_ && !connection.conditions_.is_cut && !connection.end_) connection.Receive();
  });
}

void LinkConnection::Deliver(Bytes bytes) {
  if (conditions_.receive_delay_ms == 0 && delayed_input_.line.IsEmpty()) return user_->OnReceived(bytes);
  delayed_input_.line.Add(bytes, parts_.loop.real_clock().NowMs() + conditions_.receive_delay_ms);
  StartTimer(delayed_input_, &LinkConnection::DeliverDue);
}

void LinkConnection::Send(Bytes bytes) {
  if (user_ == nullptr || stage_ != Stage::kOpen) return;
  if (conditions_.send_delay_ms == 0 && delayed_output_.line.IsEmpty()) return SendNow(bytes);
  delayed_output_.line.Add(bytes, parts_.loop.real_clock().NowMs() + conditions_.send_delay_ms);
  StartTimer(delayed_output_, &LinkConnection::SendDue);
}

void LinkConnection::StartTimer(DelayedDirection& delayed, void (LinkConnection::*serve)()) {
  if (delayed.line.IsEmpty() || std::exchange(delayed.has_timer, true)) return;
  const int64_t wait_ms = std::max<int64_t>(delayed.line.NextDueMs() - parts_.loop.real_clock().NowMs(), 0);
  // The timer has only a weak_ptr, so it does not keep an ended link alive.
  parts_.loop.RunAfter(wait_ms, [weak = weak_from_this(), &delayed, serve] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    delayed.has_timer = false;
    if (self->user_ == nullptr || self->conditions_.is_cut) return;
    self->parts_.loop.MarkActive(self->parts_.participant);
    (self.get()->*serve)();
  });
}

void LinkConnection::ShortenDelay(DelayedDirection& delayed, int64_t delay_ms, void (LinkConnection::*serve)()) {
  if (delayed.line.IsEmpty()) return;
  delayed.line.ShortenDelays(parts_.loop.real_clock().NowMs() + delay_ms);
  delayed.has_timer = false;  // the existing timer may be too late, and does no harm
  StartTimer(delayed, serve);
}

bool LinkConnection::MustPauseReading() const { return delayed_input_.line.Size() >= kMaxDelayedBytes; }

void LinkConnection::SendDue() {
  SendNow(delayed_output_.line.TakeDue(parts_.loop.real_clock().NowMs()));
  if (user_ != nullptr) StartTimer(delayed_output_, &LinkConnection::SendDue);
}

void LinkConnection::DeliverDue() {
  if (!is_reading_) return;
  const std::string due = delayed_input_.line.TakeDue(parts_.loop.real_clock().NowMs());
  if (!due.empty()) user_->OnReceived(due);
  if (user_ == nullptr) return;
  if (delayed_input_.line.IsEmpty() && end_) return End(*end_);
  StartTimer(delayed_input_, &LinkConnection::DeliverDue);
  Watch();
  if (user_ != nullptr && is_reading_ && stream_->HasBufferedInput()) ReceiveLater();
}

void LinkConnection::SendNow(Bytes bytes) {
  if (bytes.empty()) return;
  const bool was_idle = !HasUnsent();
  if (was_idle) {
    unsent_.clear();
    sent_ = 0;
  }
  unsent_.append(bytes);
  if (!was_idle || conditions_.is_cut) return;
  // Sends immediately, not at the end of the turn, because the turn may last long. If this fails, does not end the
  // link, because callers do not expect that: SendMore tries again in a later turn, and then ends the link.
  const Transfer sent = stream_->Send(unsent_);
  if (sent.state == Transfer::State::kMoved) sent_ += sent.bytes;
  if (HasUnsent()) RunInLaterTurn([](LinkConnection& connection) { connection.SendMore(); });
}

void LinkConnection::SendMore() {
  if (conditions_.is_cut) return;
  while (HasUnsent()) {
    const Transfer sent = stream_->Send(Bytes(unsent_).substr(sent_));
    if (sent.state == Transfer::State::kLater) return Watch();
    if (sent.state != Transfer::State::kMoved) return End(stream_->ErrorText());
    sent_ += sent.bytes;
  }
  Watch();
}

void LinkConnection::SetReading(Link::Reading reading) {
  is_reading_ = reading == Link::Reading::kOn;
  if (stage_ != Stage::kOpen || user_ == nullptr) return;
  Watch();
  if (is_reading_ && user_ != nullptr) StartTimer(delayed_input_, &LinkConnection::DeliverDue);
  if (is_reading_ && user_ != nullptr && stream_->HasBufferedInput()) ReceiveLater();
}

// Tells the poller which socket events are needed in the present state: the stage, the unsent bytes, SetReading and the
// simulated conditions. Ends the link if the system refuses to watch another socket.
void LinkConnection::Watch() {
  if (conditions_.is_cut) return Unwatch();
  SocketPoller::Events wanted;
  if (stage_ == Stage::kConnecting) {
    wanted.writable = true;
  } else if (stage_ == Stage::kHandshake) {
    wanted = stream_->EventsToAwait({.readable = true});
  } else {
    wanted = stream_->EventsToAwait({.readable = is_reading_ && !end_ && !MustPauseReading(), .writable = HasUnsent()});
  }
  if (wanted == registered_events_) return;
  if (!parts_.loop.poller().ChangeEvents(FileDescriptor(), *this, registered_events_, wanted))
    return End("too many sockets");
  registered_events_ = wanted;
}

void LinkConnection::Unwatch() {
  if (!registered_events_.Any()) return;
  parts_.loop.poller().ChangeEvents(FileDescriptor(), *this, registered_events_, {});
  registered_events_ = {};
}

void LinkConnection::HandlePeerEnd(const std::string& reason) {
  if (delayed_input_.line.IsEmpty()) return End(reason);
  end_ = reason;
  Watch();
}

void LinkConnection::End(const std::string& reason) {
  Link::User* const user = user_;
  const std::string text = reason;  // NOLINT: the original may be destroyed by Stop
  Stop();
  if (user != nullptr) user->OnEnded(text);
}

}  // namespace respite
