#include "server/net/loop_network.h"

#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/str_cat.h"
#include "server/config/settings.h"
#include "server/net/byte_stream.h"
#include "server/net/link_connection.h"
#include "server/net/socket_address.h"
#include "server/net/tls/tls.h"
#include "server/net/tls/tls_stream.h"

namespace respite {

namespace {

constexpr int kAcceptsPerEvent = 100;

class LoopLink final : public Link {
 public:
  explicit LoopLink(std::shared_ptr<LinkConnection> connection) : connection_(std::move(connection)) {}
  ~LoopLink() override { connection_->Stop(); }
  LoopLink(const LoopLink&) = delete;
  LoopLink& operator=(const LoopLink&) = delete;

  void SetUser(User& user) override { connection_->SetUser(user); }
  void Send(Bytes bytes) override { connection_->Send(bytes); }
  void SetReading(Reading reading) override { connection_->SetReading(reading); }
  size_t UnsentBytes() const override { return connection_->UnsentBytes(); }
  std::string LocalAddress() const override { return connection_->GetAddresses().local_address; }
  std::string PeerAddress() const override { return connection_->GetAddresses().address; }
  int FileDescriptor() const override { return connection_->FileDescriptor(); }
  Stage stage() const override { return connection_->stage(); }

 private:
  std::shared_ptr<LinkConnection> connection_;
};

// The listening sockets of one port.
class LoopListening final : public Network::Listening {
 public:
  struct Parts {
    LinkConnection::Parts connection;
    const Settings& settings;
    bool uses_tls;
    Network::Acceptor& acceptor;
  };
  explicit LoopListening(const Parts& parts) : parts_(parts), spare_(OpenSpare()) {}

  // Opens the listening sockets. Returns an error text if that fails, otherwise nullopt.
  std::optional<std::string> Open(const Network::ListenOptions& place);

 private:
  // One listening socket, which the poller watches.
  class ListeningSocket final : public SocketPoller::Watcher {
   public:
    ListeningSocket(LoopListening& owner, Descriptor socket) : owner_(owner), socket_(std::move(socket)) {
      owner_.parts_.connection.loop.poller().ChangeEvents(socket_.Get(), *this, {}, {.readable = true});
    }
    ~ListeningSocket() override {
      owner_.parts_.connection.loop.poller().ChangeEvents(socket_.Get(), *this, {.readable = true}, {});
      StopListening(socket_.Get());
    }
    ListeningSocket(const ListeningSocket&) = delete;
    ListeningSocket& operator=(const ListeningSocket&) = delete;

    void OnReadable() override { owner_.AcceptFrom(socket_.Get()); }
    void OnWritable() override {}
    bool MayTakeLong() const override { return false; }

   private:
    LoopListening& owner_;
    const Descriptor socket_;
  };

  // An accepted connection that the Acceptor does not have yet, because its TLS handshake, if any, has not ended.
  class PendingConnection final : public Link::User {
   public:
    explicit PendingConnection(LoopListening& owner) : owner_(owner) {}
    ~PendingConnection() override {
      if (connection != nullptr) connection->Stop();
    }
    PendingConnection(const PendingConnection&) = delete;
    PendingConnection& operator=(const PendingConnection&) = delete;

    void OnConnected() override { owner_.PassToAcceptor(*this); }
    void OnReceived(Bytes) override {}
    void OnEnded(const std::string&) override { owner_.DropPending(*this); }

    std::shared_ptr<LinkConnection> connection;

   private:
    LoopListening& owner_;
  };

  static Descriptor OpenSpare() { return Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)); }
  void AcceptFrom(int listener);
  void BeginConnection(Descriptor socket);
  void PassToAcceptor(PendingConnection& pending);
  void DropPending(PendingConnection& pending) {
    std::erase_if(pending_connections_, [&](const auto& one) { return one.get() == &pending; });
  }

  const Parts parts_;
  std::vector<std::unique_ptr<ListeningSocket>> listening_sockets_;
  std::vector<std::unique_ptr<PendingConnection>> pending_connections_;
  Descriptor spare_;  // closed to refuse a connection when there are no more descriptors
};

std::optional<std::string> LoopListening::Open(const Network::ListenOptions& place) {
  for (const std::string& bound : place.hosts) {
    const bool is_optional = bound.starts_with('-');
    const std::string host = is_optional ? bound.substr(1) : bound;
    auto socket = ListenTcp(
        host, {.port = place.port, .backlog = parts_.settings.tcp_backlog, .mark = parts_.settings.socket_mark_id});
    if (socket.ok()) {
      listening_sockets_.push_back(std::make_unique<ListeningSocket>(*this, std::move(socket).value()));
      continue;
    }
    const int code = socket.error().code;
    if (code == EAFNOSUPPORT || code == EPROTONOSUPPORT || (is_optional && code == EADDRNOTAVAIL)) continue;
    return StrCat(host, ":", place.port, ": ", socket.error().text);
  }
  if (listening_sockets_.empty()) return "no address to listen at";
  return std::nullopt;
}

void LoopListening::AcceptFrom(int listener) {
  parts_.connection.loop.MarkActive(parts_.connection.participant);
  for (int i = 0; i < kAcceptsPerEvent; ++i) {
    Descriptor accepted(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (accepted.Get() >= 0) {
      BeginConnection(std::move(accepted));
    } else if (errno == EMFILE || errno == ENFILE) {
      // The process has no free descriptor. Closes the spare one, so that the waiting connection can be accepted and
      // closed. If the connection stayed in the queue, the listening socket would stay readable and wake the loop again
      // and again.
      spare_ = Descriptor();
      { const Descriptor turned_away(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)); }
      spare_ = OpenSpare();
      return;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return;
    }
  }
}

void LoopListening::BeginConnection(Descriptor socket) {
  std::unique_ptr<TlsStream> encryption;
  if (parts_.uses_tls) {
    if (!parts_.connection.tls.IsConfigured()) return;
    encryption = parts_.connection.tls.Accept(socket.Get(), parts_.settings.tls_auth_clients);
    if (encryption == nullptr) return;
  }
  PendingConnection& pending = *pending_connections_.emplace_back(std::make_unique<PendingConnection>(*this));
  const auto connection = std::make_shared<LinkConnection>(parts_.connection, Link::Target(), pending);
  pending.connection = connection;
  connection->StartAccepted(std::move(socket), std::move(encryption));
}

void LoopListening::PassToAcceptor(PendingConnection& pending) {
  auto link = std::make_unique<LoopLink>(std::exchange(pending.connection, nullptr));
  DropPending(pending);
  parts_.acceptor.OnAccepted(std::move(link));
}

class PipeWatch final : public Network::Watch, public SocketPoller::Watcher {
 public:
  PipeWatch(EventLoop& loop, EventLoop::Participant& hosted, int descriptor, std::function<void()> handler)
      : loop_(loop), participant_(hosted), descriptor_(descriptor), handler_(std::move(handler)) {}
  ~PipeWatch() override { SetReading(Link::Reading::kOff); }
  PipeWatch(const PipeWatch&) = delete;
  PipeWatch& operator=(const PipeWatch&) = delete;

  void SetReading(Link::Reading reading) override {
    const SocketPoller::Events wanted{.readable = reading == Link::Reading::kOn};
    if (wanted != registered_ && loop_.poller().ChangeEvents(descriptor_, *this, registered_, wanted))
      registered_ = wanted;
  }
  void OnReadable() override {
    loop_.MarkActive(participant_);
    const auto handler = handler_;  // the handler may end the watch
    handler();
  }
  void OnWritable() override {}
  bool MayTakeLong() const override { return false; }

 private:
  EventLoop& loop_;
  EventLoop::Participant& participant_;
  const int descriptor_;
  const std::function<void()> handler_;
  SocketPoller::Events registered_;
};

}  // namespace

std::unique_ptr<Network::Watch> LoopNetwork::WatchPipe(int descriptor, std::function<void()> handler) {
  auto watch = std::make_unique<PipeWatch>(loop_, participant_, descriptor, std::move(handler));
  watch->SetReading(Link::Reading::kOn);
  return watch;
}

Result<std::unique_ptr<Network::Listening>, std::string> LoopNetwork::Listen(const ListenOptions& place,
                                                                             Acceptor& acceptor) {
  const int keepalive_s = static_cast<int>(settings_.tcp_keepalive);
  auto listening = std::make_unique<LoopListening>(
      LoopListening::Parts{{loop_, participant_, tls_, keepalive_s}, settings_, place.uses_tls, acceptor});
  if (auto reason = listening->Open(place)) return Failure(std::move(*reason));
  return std::unique_ptr<Listening>(std::move(listening));
}

std::unique_ptr<Link> LoopNetwork::Connect(const Link::Target& named, Link::User& user) {
  const Link::Target target = routes_ ? routes_->RouteFor(named) : named;
  const int keepalive_s = static_cast<int>(settings_.tcp_keepalive);
  auto connection =
      std::make_shared<LinkConnection>(LinkConnection::Parts{loop_, participant_, tls_, keepalive_s}, target, user);
  if (conditions_for_) connection->SetConditions(conditions_for_(target));
  std::erase_if(outgoing_connections_, [](const auto& one) { return one.expired(); });
  outgoing_connections_.emplace_back(connection);
  connection->Start();
  return std::make_unique<LoopLink>(std::move(connection));
}

void LoopNetwork::SetConditions(ConditionsFor conditions_at) {
  conditions_for_ = std::move(conditions_at);
  for (const auto& one : outgoing_connections_) {
    if (const auto connection = one.lock())
      connection->SetConditions(conditions_for_ ? conditions_for_(connection->target()) : LinkConditions{});
  }
}

}  // namespace respite
