#include "server/net/loop_network.h"

#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "server/config/settings.h"
#include "server/net/byte_stream.h"
#include "server/net/socket_address.h"
#include "server/net/tls/tls.h"
#include "server/net/tls/tls_stream.h"

namespace respite {

namespace {

using Endpoints = std::vector<asio::ip::tcp::endpoint>;

// Reads of one socket in a row. More wait for the next event, so that others are served in between.
constexpr size_t kReceivesPerEvent = 4;
constexpr int kAcceptsPerEvent = 100;

// Binds the socket to one of our own addresses. False: it is not ours.
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

// The connection behind a LoopLink: dialed, or accepted. It lives until the last of its callbacks has returned.
class Wire final : public SocketPoller::Watcher, public LoopNetwork::Dialed, public std::enable_shared_from_this<Wire> {
 public:
  struct Parts {
    EventLoop& loop;
    EventLoop::Resident& resident;
    const Tls& tls;
    int keepalive_s;
  };
  Wire(const Parts& parts, Link::Target target, Link::User& user)
      : parts_(parts), target_(std::move(target)), user_(&user), resolver_(parts.loop.Context()) {}

  void Start();
  // The other side has dialed. OnConnected follows, at once or when TLS is there.
  void StartAccepted(Descriptor socket, std::unique_ptr<TlsStream> encryption);
  void Stop();
  void SetUser(Link::User& user) { user_ = &user; }
  void Send(Bytes bytes);
  size_t UnsentBytes() const { return unsent_.size() - sent_; }
  void SetReading(Link::Reading reading);
  PeerNames Names() const { return NamesOf(FileDescriptor()); }
  int FileDescriptor() const { return stream_ == nullptr ? -1 : stream_->FileDescriptor(); }

  Link::Stage stage() const { return stage_; }

  void OnReadable() override { OnReady({.read = true}); }
  void OnWritable() override { OnReady({.write = true}); }
  bool TakesLong() const override { return false; }

  const Link::Target& target() const override { return target_; }
  void SetCut(bool is_cut) override;

 private:
  using Stage = Link::Stage;

  // Something is done in a later Turn, unless the link is gone by then.
  template <class Action>
  void Later(Action action) {
    parts_.loop.Post(&parts_.resident, [self = shared_from_this(), action] {
      if (self->user_ != nullptr) action(*self);
    });
  }
  void TryNextAddress();
  void FinishConnecting();
  void Begin();
  void Handshake();
  void Open();
  void OnReady(SocketPoller::Interest ready);
  void Receive();
  void ReceiveLater();
  void SendMore();
  void Watch();
  void Unwatch();
  void End(const std::string& reason);

  const Parts parts_;
  const Link::Target target_;
  Link::User* user_;  // null: the link is gone
  asio::ip::tcp::resolver resolver_;
  Endpoints addresses_;
  size_t next_address_ = 0;
  std::string trouble_;  // of the last address that was tried
  Stage stage_ = Stage::kResolving;
  std::unique_ptr<ByteStream> stream_;
  SocketPoller::Interest registered_;
  bool reads_ = true;
  bool is_cut_ = false;      // nothing comes or goes
  bool dials_late_ = false;  // it was cut before it dialed
  bool receive_posted_ = false;
  std::string unsent_;
  size_t sent_ = 0;  // of unsent_
};

// Looking up names takes a thread, and one after the other; what is an address already needs none.
void Wire::Start() {
  asio::error_code is_name;
  const asio::ip::address address = asio::ip::make_address(target_.host, is_name);
  if (!is_name) {
    addresses_.emplace_back(address, static_cast<uint16_t>(target_.port));
    return parts_.loop.After(0, [self = shared_from_this()] {
      if (self->user_ == nullptr) return;
      self->parts_.loop.Enter(self->parts_.resident);
      self->TryNextAddress();
    });
  }
  resolver_.async_resolve(
      target_.host, std::to_string(target_.port), asio::ip::resolver_base::numeric_service,
      [self = shared_from_this()](const asio::error_code& error, const asio::ip::tcp::resolver::results_type& found) {
        if (self->user_ == nullptr) return;
        self->parts_.loop.Enter(self->parts_.resident);
        if (error) return self->End(error.message());
        for (const auto& one : found) self->addresses_.push_back(one.endpoint());
        self->TryNextAddress();
      });
}

void Wire::StartAccepted(Descriptor socket, std::unique_ptr<TlsStream> encryption) {
  TuneTcp(socket.Get(), parts_.keepalive_s);
  stream_ = std::make_unique<ByteStream>(std::move(socket), std::move(encryption));
  Begin();
}

void Wire::Stop() {
  user_ = nullptr;
  resolver_.cancel();
  if (stream_ == nullptr) return;
  Unwatch();
  stream_->Close();
}

// What has been received already, or waits in the socket, comes when the link is whole again.
void Wire::SetCut(bool is_cut) {
  if (user_ == nullptr || is_cut == is_cut_) return;
  is_cut_ = is_cut;
  if (is_cut) return Unwatch();
  Later([](Wire& wire) {
    if (std::exchange(wire.dials_late_, false)) return wire.TryNextAddress();
    if (wire.stream_ == nullptr) return;
    wire.SendMore();
    if (wire.user_ != nullptr && wire.stage_ == Stage::kOpen) wire.ReceiveLater();
  });
}

void Wire::TryNextAddress() {
  if (is_cut_) {
    dials_late_ = true;
    return;
  }
  while (next_address_ < addresses_.size()) {
    const auto& endpoint = addresses_[next_address_++];
    const int family = endpoint.data()->sa_family;
    Descriptor socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int descriptor = socket.Get();
    if (descriptor < 0 || (!target_.source.empty() && !BindTo(descriptor, family, target_.source)) ||
        (connect(descriptor, endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0 && errno != EINPROGRESS)) {
      trouble_ = std::strerror(errno);
      continue;
    }
    TuneTcp(descriptor, parts_.keepalive_s);
    std::unique_ptr<TlsStream> encryption;
    if (target_.encrypts) {
      if (!parts_.tls.Configured()) return End("TLS is not configured");
      encryption = parts_.tls.Connect(descriptor);
      if (encryption == nullptr) return End("no memory for TLS");
    }
    stream_ = std::make_unique<ByteStream>(std::move(socket), std::move(encryption));
    stage_ = Stage::kConnecting;
    return Watch();
  }
  End(trouble_.empty() ? "the host has no address" : trouble_);
}

void Wire::FinishConnecting() {
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(FileDescriptor(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error != 0) {
    trouble_ = std::strerror(error);
    Unwatch();
    stream_.reset();
    return TryNextAddress();
  }
  Begin();
}

void Wire::Begin() {
  stage_ = stream_->InHandshake() ? Stage::kHandshake : Stage::kOpen;
  if (stage_ == Stage::kHandshake) return Handshake();
  Open();
}

void Wire::Handshake() {
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

void Wire::Open() {
  const auto self = shared_from_this();
  stage_ = Stage::kOpen;
  Watch();
  if (user_ != nullptr) user_->OnConnected();
  // With the end of the handshake the first bytes may have come, and the socket does not tell of them again.
  if (user_ != nullptr && reads_ && stream_->HasReceived()) ReceiveLater();
}

void Wire::OnReady(SocketPoller::Interest ready) {
  if (user_ == nullptr || is_cut_) return;
  const auto self = shared_from_this();
  parts_.loop.Enter(parts_.resident);
  if (stage_ == Stage::kConnecting) return FinishConnecting();
  if (stage_ == Stage::kHandshake) return Handshake();
  const SocketPoller::Interest allowed = stream_->Allows(ready);
  if (allowed.write && UnsentBytes() != 0) SendMore();
  if (user_ != nullptr && allowed.read && reads_) Receive();
}

void Wire::Receive() {
  // The scratch buffer is the loop's: whoever gets the bytes may receive others' meanwhile (ServeBesides), with another
  // scratch buffer.
  for (size_t i = 0; i < kReceivesPerEvent && user_ != nullptr && reads_ && !is_cut_; ++i) {
    const std::span<char> scratch = parts_.loop.Scratch();
    const Transfer got = stream_->Receive(scratch);
    if (got.state == Transfer::State::kLater) return Watch();
    if (got.state == Transfer::State::kEnded) return End("connection lost");
    if (got.state == Transfer::State::kFailed) return End(stream_->ErrorText());
    user_->OnReceived({scratch.data(), got.bytes});
    if (got.bytes < scratch.size() && !stream_->HasReceived()) break;
  }
  if (user_ == nullptr) return;
  Watch();
  if (reads_ && stream_->HasReceived()) ReceiveLater();
}

void Wire::ReceiveLater() {
  if (std::exchange(receive_posted_, true)) return;
  Later([](Wire& wire) {
    wire.receive_posted_ = false;
    if (wire.reads_ && !wire.is_cut_) wire.Receive();
  });
}

void Wire::Send(Bytes bytes) {
  if (user_ == nullptr || stage_ != Stage::kOpen) return;
  const bool was_idle = UnsentBytes() == 0;
  if (was_idle) {
    unsent_.clear();
    sent_ = 0;
  }
  unsent_.append(bytes);
  if (!was_idle || is_cut_) return;
  // At once, since a Turn may last long. What goes wrong is told later: the caller does not expect the end of the link.
  const Transfer sent = stream_->Send(unsent_);
  if (sent.state == Transfer::State::kMoved) sent_ += sent.bytes;
  if (UnsentBytes() != 0) Later([](Wire& wire) { wire.SendMore(); });
}

void Wire::SendMore() {
  if (is_cut_) return;
  while (UnsentBytes() != 0) {
    const Transfer sent = stream_->Send(Bytes(unsent_).substr(sent_));
    if (sent.state == Transfer::State::kLater) return Watch();
    if (sent.state != Transfer::State::kMoved) return End(stream_->ErrorText());
    sent_ += sent.bytes;
  }
  Watch();
}

void Wire::SetReading(Link::Reading reading) {
  reads_ = reading == Link::Reading::kOn;
  if (stage_ != Stage::kOpen || user_ == nullptr) return;
  Watch();
  if (reads_ && user_ != nullptr && stream_->HasReceived()) ReceiveLater();
}

// What the socket is watched for follows from the stage, and from what there is to send.
void Wire::Watch() {
  if (is_cut_) return Unwatch();
  SocketPoller::Interest wanted;
  if (stage_ == Stage::kConnecting) {
    wanted.write = true;
  } else if (stage_ == Stage::kHandshake) {
    wanted = stream_->Needs({.read = true});
  } else {
    wanted = stream_->Needs({.read = reads_, .write = UnsentBytes() != 0});
  }
  if (wanted == registered_) return;
  if (!parts_.loop.poller().Change(FileDescriptor(), *this, registered_, wanted)) return End("too many sockets");
  registered_ = wanted;
}

void Wire::Unwatch() {
  if (!registered_.Any()) return;
  parts_.loop.poller().Change(FileDescriptor(), *this, registered_, {});
  registered_ = {};
}

void Wire::End(const std::string& reason) {
  Link::User* const user = user_;
  const std::string text = reason;  // NOLINT: it may live in what is closed
  Stop();
  if (user != nullptr) user->OnEnded(text);
}

class LoopLink final : public Link {
 public:
  explicit LoopLink(std::shared_ptr<Wire> wire) : wire_(std::move(wire)) {}
  ~LoopLink() override { wire_->Stop(); }
  LoopLink(const LoopLink&) = delete;
  LoopLink& operator=(const LoopLink&) = delete;

  void SetUser(User& user) override { wire_->SetUser(user); }
  void Send(Bytes bytes) override { wire_->Send(bytes); }
  void SetReading(Reading reading) override { wire_->SetReading(reading); }
  size_t UnsentBytes() const override { return wire_->UnsentBytes(); }
  std::string LocalAddress() const override { return wire_->Names().local_address; }
  std::string PeerAddress() const override { return wire_->Names().address; }
  int FileDescriptor() const override { return wire_->FileDescriptor(); }
  Stage stage() const override { return wire_->stage(); }

 private:
  std::shared_ptr<Wire> wire_;
};

// The sockets at which others dial one port.
class LoopListening final : public Network::Listening {
 public:
  struct Parts {
    Wire::Parts wire;
    const Settings& settings;
    bool encrypts;
    Network::Acceptor& acceptor;
  };
  explicit LoopListening(const Parts& parts) : parts_(parts), spare_(OpenSpare()) {}

  // Returns why that failed.
  std::optional<std::string> Open(const Network::ListenAt& place);

 private:
  // One listening socket.
  class Door final : public SocketPoller::Watcher {
   public:
    Door(LoopListening& owner, Descriptor socket) : owner_(owner), socket_(std::move(socket)) {
      owner_.parts_.wire.loop.poller().Change(socket_.Get(), *this, {}, {.read = true});
    }
    ~Door() override {
      owner_.parts_.wire.loop.poller().Change(socket_.Get(), *this, {.read = true}, {});
      StopListening(socket_.Get());
    }
    Door(const Door&) = delete;
    Door& operator=(const Door&) = delete;

    void OnReadable() override { owner_.AcceptFrom(socket_.Get()); }
    void OnWritable() override {}
    bool TakesLong() const override { return false; }

   private:
    LoopListening& owner_;
    const Descriptor socket_;
  };

  // A connection whose TLS is not there yet.
  class Guest final : public Link::User {
   public:
    explicit Guest(LoopListening& owner) : owner_(owner) {}
    ~Guest() override {
      if (wire != nullptr) wire->Stop();
    }
    Guest(const Guest&) = delete;
    Guest& operator=(const Guest&) = delete;

    void OnConnected() override { owner_.Admit(*this); }
    void OnReceived(Bytes) override {}
    void OnEnded(const std::string&) override { owner_.Dismiss(*this); }

    std::shared_ptr<Wire> wire;

   private:
    LoopListening& owner_;
  };

  static Descriptor OpenSpare() { return Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)); }
  void AcceptFrom(int listener);
  void Welcome(Descriptor socket);
  void Admit(Guest& guest);
  void Dismiss(Guest& guest) {
    std::erase_if(guests_, [&](const auto& one) { return one.get() == &guest; });
  }

  const Parts parts_;
  std::vector<std::unique_ptr<Door>> doors_;
  std::vector<std::unique_ptr<Guest>> guests_;
  Descriptor spare_;  // given up to turn somebody away when there are no more descriptors
};

std::optional<std::string> LoopListening::Open(const Network::ListenAt& place) {
  for (const std::string& bound : place.hosts) {
    const bool is_optional = bound.starts_with('-');
    const std::string host = is_optional ? bound.substr(1) : bound;
    auto socket = ListenTcp(
        host, {.port = place.port, .backlog = parts_.settings.tcp_backlog, .mark = parts_.settings.socket_mark_id});
    if (socket.ok()) {
      doors_.push_back(std::make_unique<Door>(*this, std::move(socket).value()));
      continue;
    }
    const int code = socket.error().code;
    if (code == EAFNOSUPPORT || code == EPROTONOSUPPORT || (is_optional && code == EADDRNOTAVAIL)) continue;
    return host + ":" + std::to_string(place.port) + ": " + socket.error().text;
  }
  if (doors_.empty()) return "no address to listen at";
  return std::nullopt;
}

void LoopListening::AcceptFrom(int listener) {
  parts_.wire.loop.Enter(parts_.wire.resident);
  for (int i = 0; i < kAcceptsPerEvent; ++i) {
    Descriptor accepted(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (accepted.Get() >= 0) {
      Welcome(std::move(accepted));
    } else if (errno == EMFILE || errno == ENFILE) {
      // Else the socket would stay readable, and wake us again and again.
      spare_ = Descriptor();
      { const Descriptor turned_away(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)); }
      spare_ = OpenSpare();
      return;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return;
    }
  }
}

void LoopListening::Welcome(Descriptor socket) {
  std::unique_ptr<TlsStream> encryption;
  if (parts_.encrypts) {
    if (!parts_.wire.tls.Configured()) return;
    encryption = parts_.wire.tls.Accept(socket.Get(), parts_.settings.tls_auth_clients);
    if (encryption == nullptr) return;
  }
  Guest& guest = *guests_.emplace_back(std::make_unique<Guest>(*this));
  const auto wire = std::make_shared<Wire>(parts_.wire, Link::Target(), guest);
  guest.wire = wire;
  wire->StartAccepted(std::move(socket), std::move(encryption));
}

void LoopListening::Admit(Guest& guest) {
  auto link = std::make_unique<LoopLink>(std::exchange(guest.wire, nullptr));
  Dismiss(guest);
  parts_.acceptor.OnAccepted(std::move(link));
}

class PipeWatch final : public Network::Watch, public SocketPoller::Watcher {
 public:
  PipeWatch(EventLoop& loop, EventLoop::Resident& resident, int descriptor, std::function<void()> handler)
      : loop_(loop), resident_(resident), descriptor_(descriptor), handler_(std::move(handler)) {}
  ~PipeWatch() override { SetReading(Link::Reading::kOff); }
  PipeWatch(const PipeWatch&) = delete;
  PipeWatch& operator=(const PipeWatch&) = delete;

  void SetReading(Link::Reading reading) override {
    const SocketPoller::Interest wanted{.read = reading == Link::Reading::kOn};
    if (wanted != registered_ && loop_.poller().Change(descriptor_, *this, registered_, wanted)) registered_ = wanted;
  }
  void OnReadable() override {
    loop_.Enter(resident_);
    const auto handler = handler_;  // it may end the watch
    handler();
  }
  void OnWritable() override {}
  bool TakesLong() const override { return false; }

 private:
  EventLoop& loop_;
  EventLoop::Resident& resident_;
  const int descriptor_;
  const std::function<void()> handler_;
  SocketPoller::Interest registered_;
};

}  // namespace

std::unique_ptr<Network::Watch> LoopNetwork::WatchPipe(int descriptor, std::function<void()> handler) {
  auto watch = std::make_unique<PipeWatch>(loop_, resident_, descriptor, std::move(handler));
  watch->SetReading(Link::Reading::kOn);
  return watch;
}

Result<std::unique_ptr<Network::Listening>, std::string> LoopNetwork::Listen(const ListenAt& place,
                                                                             Acceptor& acceptor) {
  const int keepalive_s = static_cast<int>(settings_.tcp_keepalive);
  auto listening = std::make_unique<LoopListening>(
      LoopListening::Parts{{loop_, resident_, tls_, keepalive_s}, settings_, place.encrypts, acceptor});
  if (auto reason = listening->Open(place)) return Failure(std::move(*reason));
  return std::unique_ptr<Listening>(std::move(listening));
}

std::unique_ptr<Link> LoopNetwork::Dial(const Link::Target& target, Link::User& user) {
  const int keepalive_s = static_cast<int>(settings_.tcp_keepalive);
  auto wire = std::make_shared<Wire>(Wire::Parts{loop_, resident_, tls_, keepalive_s}, target, user);
  if (is_cut_ && is_cut_(target)) wire->SetCut(true);
  std::erase_if(dialed_, [](const auto& one) { return one.expired(); });
  dialed_.emplace_back(wire);
  wire->Start();
  return std::make_unique<LoopLink>(std::move(wire));
}

void LoopNetwork::Cut(IsCut is_cut) {
  is_cut_ = std::move(is_cut);
  for (const auto& one : dialed_) {
    if (const auto wire = one.lock()) wire->SetCut(is_cut_ && is_cut_(wire->target()));
  }
}

}  // namespace respite
