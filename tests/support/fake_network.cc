#include "tests/support/fake_network.h"

#include <poll.h>

#include <algorithm>

#include "base/str_cat.h"
#include "server/clients/client_limits.h"
#include "server/clients/clients.h"

namespace respite {

namespace {

constexpr int64_t kNetworkTickMs = 100;
// Limit of movements without any passage of time. More than this means that two servers send to each other endlessly.
constexpr int kMaxMoves = 2'000'000;

std::string AddressOf(int port) { return StrCat("127.0.0.1:", port); }

}  // namespace

struct FakeNetwork::LinkConnection {
  int dialer = 0;
  int listener = 0;
  int source_port = 0;
  int64_t due_ms = 0;  // when the connection is established
  bool is_connected = false;
  bool is_silent = false;
  uint64_t breaks_after = UINT64_MAX;  // bytes to the dialer
  Lane to_dialer;
  Lane to_listener;

  Link::User* user = nullptr;  // null: the dialer has closed, or was told of the end
  Link::Reading reading = Link::Reading::kOn;
  // Session, transport or link: at most one of them takes what arrives at the listener. There is none before the
  // connection is established, and none at a stranger.
  std::unique_ptr<FakeTransport> transport;
  Link::User* far_user = nullptr;
  bool is_listener_closed = false;

  bool IsOver() const { return user == nullptr && is_listener_closed; }
};

// The transport at the server that listens.
class FakeNetwork::FakeTransport final : public Transport {
 public:
  FakeTransport(FakeNetwork& network, TestServer& server, LinkConnection& wire)
      : network_(network),
        server_(server),
        wire_(wire),
        session_(&server->services().clients.registry.Create(NowMs())) {
    session_->transport = this;
    session_->addresses.peer = AddressOf(wire.source_port);
    session_->addresses.local = AddressOf(wire.listener);
    session_->authenticated = !server->services().clients.users.IsLoginRequired();
    ++server->services().env.stats.connections;
  }

  void Receive(Bytes bytes) {
    std::vector<char> scratch(64 * 1024);
    while (session_ != nullptr && !bytes.empty()) {
      const std::span<char> target = session_->in.ReadTarget(scratch);
      const size_t size = std::min(target.size(), bytes.size());
      std::copy_n(bytes.begin(), size, target.begin());
      bytes.remove_prefix(size);
      session_->in.Received(size);
      session_->usage.NoteInput(size, NowMs());
      Resume();
    }
  }
  // Called when the dialer has closed, or the connection is lost.
  void Depart() {
    if (session_ != nullptr) server_->services().clients.registry.Close(*session_);
  }
  void MakeRoom() {
    if (session_ != nullptr && !session_->out.IsEmpty()) server_->services().clients.registry.QueueFlush(*session_);
  }
  // Called when the server is destroyed.
  void Abandon() { session_ = nullptr; }
  TestServer& server() { return server_; }

  void Flush(size_t /*most_bytes*/) override {
    const size_t room = network_.window_ - std::min(network_.window_, wire_.to_dialer.bytes);
    const size_t bytes = std::min(room, session_->out.Size());
    if (bytes != 0) {
      network_.Put(wire_.to_dialer, session_->out.Text().substr(0, bytes));
      session_->out.Consume(bytes);
      session_->usage.bytes_out += bytes;
    }
    if (!session_->out.IsEmpty()) {
      server_->services().clients.limits.EnforceOutputLimit(*session_, NowMs(), ClientLimits::Moment::kReply);
    } else if (session_->close_after_reply) {
      server_->services().clients.registry.Close(*session_);
    }
  }
  void Resume() override {
    if (session_ == nullptr || session_->closing) return;
    if (server_.pump().Run(*session_) != Pump::Outcome::kMore) return;
    server_.Post([&server = server_, id = session_->id] {
      Session* session = server->services().clients.registry.Find(id);
      if (session != nullptr) session->transport->Resume();
    });
  }
  void Close() override {
    Session* const gone = std::exchange(session_, nullptr);
    wire_.is_listener_closed = true;
    server_.Post([&server = *server_, gone] { server.services().clients.registry.Remove(*gone); });
  }
  int FileDescriptor() const override { return -1; }
  bool IsWaitingToWrite() const override { return session_ != nullptr && wire_.to_dialer.bytes >= network_.window_; }

 private:
  int64_t NowMs() const { return server_.clock().MonotonicMs(); }

  FakeNetwork& network_;
  TestServer& server_;
  LinkConnection& wire_;
  Session* session_;
};

// The link at the server that connects.
class FakeNetwork::FakeLink final : public Link {
 public:
  FakeLink(FakeNetwork& network, std::shared_ptr<LinkConnection> wire) : network_(network), wire_(std::move(wire)) {}
  ~FakeLink() override { wire_->user = nullptr; }

  void SetUser(User& user) override { wire_->user = &user; }
  void Send(Bytes bytes) override { network_.Put(wire_->to_listener, bytes); }
  size_t UnsentBytes() const override { return wire_->to_listener.bytes; }
  void SetReading(Reading reading) override { wire_->reading = reading; }
  std::string LocalAddress() const override { return AddressOf(wire_->source_port); }
  std::string PeerAddress() const override { return AddressOf(wire_->listener); }
  int FileDescriptor() const override { return -1; }
  Stage stage() const override { return wire_->is_connected ? Stage::kOpen : Stage::kConnecting; }

 private:
  FakeNetwork& network_;
  const std::shared_ptr<LinkConnection> wire_;
};

// The link at a server that accepted the connection as a link.
class FakeNetwork::FarLink final : public Link {
 public:
  FarLink(FakeNetwork& network, std::shared_ptr<LinkConnection> wire) : network_(network), wire_(std::move(wire)) {}
  ~FarLink() override {
    wire_->far_user = nullptr;
    wire_->is_listener_closed = true;
  }

  void SetUser(User& user) override { wire_->far_user = &user; }
  void Send(Bytes bytes) override { network_.Put(wire_->to_dialer, bytes); }
  size_t UnsentBytes() const override { return wire_->to_dialer.bytes; }
  void SetReading(Reading) override { throw std::logic_error("nobody needs that yet"); }
  std::string LocalAddress() const override { return AddressOf(wire_->listener); }
  std::string PeerAddress() const override { return AddressOf(wire_->source_port); }
  int FileDescriptor() const override { return -1; }
  Stage stage() const override { return Stage::kOpen; }

 private:
  FakeNetwork& network_;
  const std::shared_ptr<LinkConnection> wire_;
};

class FakeNetwork::FakeListening final : public Network::Listening {
 public:
  FakeListening(FakeNetwork& network, int port) : network_(network), port_(port) {}
  ~FakeListening() override { network_.doors_.erase(port_); }
  FakeListening(const FakeListening&) = delete;
  FakeListening& operator=(const FakeListening&) = delete;

 private:
  FakeNetwork& network_;
  const int port_;
};

class FakeNetwork::FakeWatch final : public Network::Watch {
 public:
  FakeWatch(FakeNetwork& network, TestServer& server, int descriptor, std::function<void()> handler)
      : network_(network), server_(server), descriptor_(descriptor), handler_(std::move(handler)) {
    network_.watches_.push_back(this);
  }
  ~FakeWatch() override { std::erase(network_.watches_, this); }

  void SetReading(Link::Reading reading) override { reading_ = reading; }
  bool IsReady() const {
    pollfd wanted{descriptor_, POLLIN, 0};
    return reading_ == Link::Reading::kOn && poll(&wanted, 1, 0) == 1;
  }
  // The handler may destroy this object.
  void Call() {
    const auto handler = handler_;
    TestServer& server = server_;
    handler();
    server.EndTurn();
  }

 private:
  FakeNetwork& network_;
  TestServer& server_;
  const int descriptor_;
  const std::function<void()> handler_;
  Link::Reading reading_ = Link::Reading::kOn;
};

// The network interface that one server gets.
class FakeNetwork::Port final : public Network {
 public:
  Port(FakeNetwork& network, TestServer& attached, int number) : server(attached), network_(network), number_(number) {}

  std::unique_ptr<Link> Connect(const Link::Target& target, Link::User& user) override {
    auto wire = std::make_shared<LinkConnection>();
    wire->dialer = number_;
    wire->listener = target.port;
    wire->source_port = 40000 + ++network_.attempts_;
    wire->due_ms = network_.now_ms_ + network_.delay_ms_;
    wire->user = &user;
    network_.wires_.push_back(wire);
    return std::make_unique<FakeLink>(network_, wire);
  }
  Result<std::unique_ptr<Listening>, std::string> Listen(const ListenOptions& place, Acceptor& acceptor) override {
    network_.doors_[place.port] = {number_, &acceptor};
    return std::unique_ptr<Listening>(std::make_unique<FakeListening>(network_, place.port));
  }
  std::unique_ptr<Watch> WatchPipe(int descriptor, std::function<void()> handler) override {
    return std::make_unique<FakeWatch>(network_, server, descriptor, std::move(handler));
  }

  TestServer& server;

 private:
  FakeNetwork& network_;
  const int number_;
};

FakeNetwork::FakeNetwork(uint64_t seed) : random_(seed) {}

FakeNetwork::~FakeNetwork() {
  while (!ports_.empty()) Detach(ports_.begin()->second->server);
}

void FakeNetwork::Attach(TestServer& server, int port) {
  auto made = std::make_unique<Port>(*this, server, port);
  server->services().env.config.MutableSettings().bound_port = port;
  server->runtime().network.Attach(made.get());
  ports_[port] = std::move(made);
}

void FakeNetwork::Detach(TestServer& server) {
  const auto found = std::ranges::find_if(ports_, [&](const auto& one) { return &one.second->server == &server; });
  if (found == ports_.end()) return;
  const int port = found->first;
  server->runtime().network.Attach(nullptr);
  for (const auto& wire : std::vector(wires_)) {
    if (wire->dialer != port && HomeOf(wire->listener) != port) continue;
    // The reaction of a server that is being detached does not matter.
    if (wire->dialer == port) wire->user = nullptr;
    if (HomeOf(wire->listener) == port) {
      wire->far_user = nullptr;
      if (wire->transport != nullptr) wire->transport->Abandon();
      wire->transport.reset();
      wire->is_listener_closed = true;
    }
    Lose(*wire);
  }
  ports_.erase(port);
}

int FakeNetwork::HomeOf(int port) const {
  const auto found = doors_.find(port);
  return found == doors_.end() ? port : found->second.owner;
}

TestServer* FakeNetwork::ServerAt(int port) const {
  const auto found = ports_.find(HomeOf(port));
  return found == ports_.end() ? nullptr : &found->second->server;
}

FakeNetwork::Pair FakeNetwork::EndsOf(const LinkConnection& wire) const {
  return PairOf(wire.dialer, HomeOf(wire.listener));
}

// --- Time and movement.

void FakeNetwork::Step(int64_t elapsed_ms) {
  for (int64_t passed_ms = 0; passed_ms < elapsed_ms;) {
    const int64_t step_ms = std::min(kNetworkTickMs, elapsed_ms - passed_ms);
    passed_ms += step_ms;
    now_ms_ += step_ms;
    for (const auto& [port, attached] : ports_) {
      attached->server.AdvanceMs(step_ms);
      attached->server.Cron();
    }
    Run();
  }
}

void FakeNetwork::Run() {
  for (int moves = 0; RunOnce(); ++moves) {
    if (on_move_) on_move_();
    if (moves > kMaxMoves) throw std::runtime_error("the network never comes to rest");
  }
}

bool FakeNetwork::RunOnce() {
  if (ReadPipes()) return true;
  std::erase_if(wires_, [](const auto& wire) { return wire->IsOver(); });
  std::vector<std::shared_ptr<LinkConnection>> shuffled = wires_;
  for (size_t i = shuffled.size(); i > 1; --i) std::swap(shuffled[i - 1], shuffled[random_.Below(i)]);
  return std::ranges::any_of(shuffled, [this](const auto& wire) { return Move(wire); });
}

bool FakeNetwork::ReadPipes() {
  for (FakeWatch* watch : watches_) {
    if (!watch->IsReady()) continue;
    watch->Call();
    return true;
  }
  return false;
}

bool FakeNetwork::AreApart(const LinkConnection& wire) const { return wire.is_silent || apart_.contains(EndsOf(wire)); }

bool FakeNetwork::Move(const std::shared_ptr<LinkConnection>& wire) {
  if (AreApart(*wire)) return false;
  if (!wire->is_connected) return Connect(wire);
  const bool is_first = random_.Below(2) == 0;
  return is_first ? MoveToDialer(*wire) || MoveToListener(*wire) : MoveToListener(*wire) || MoveToDialer(*wire);
}

bool FakeNetwork::Connect(const std::shared_ptr<LinkConnection>& shared) {
  LinkConnection& wire = *shared;
  if (wire.user == nullptr) {
    wire.is_listener_closed = true;
    return false;
  }
  if (wire.due_ms > now_ms_) return false;
  const bool is_there = ServerAt(wire.listener) != nullptr || strangers_.contains(wire.listener);
  if (refusing_.contains(wire.listener) || !is_there) {
    wire.is_listener_closed = true;
    EndFor(wire, "Connection refused");
    return true;
  }
  wire.is_connected = true;
  Welcome(shared);
  if (const auto breaks = break_next_.find(wire.listener); breaks != break_next_.end()) {
    wire.breaks_after = breaks->second;
    break_next_.erase(breaks);
  }
  if (wire.user != nullptr) wire.user->OnConnected();
  ServerAt(wire.dialer)->EndTurn();
  return true;
}

void FakeNetwork::Welcome(const std::shared_ptr<LinkConnection>& wire) {
  TestServer* const listener = ServerAt(wire->listener);
  if (const auto door = doors_.find(wire->listener); door != doors_.end()) {
    door->second.acceptor->OnAccepted(std::make_unique<FarLink>(*this, wire));
    listener->EndTurn();
  } else if (listener != nullptr) {
    wire->transport = std::make_unique<FakeTransport>(*this, *listener, *wire);
  } else {
    Stranger& stranger = strangers_[wire->listener];
    ++stranger.connections;
    stranger.received.clear();
  }
}

void FakeNetwork::Put(Lane& lane, Bytes bytes) {
  if (bytes.empty()) return;
  lane.packets.push_back({now_ms_ + delay_ms_, std::string(bytes)});
  lane.bytes += bytes.size();
}

std::string FakeNetwork::Take(Lane& lane, size_t most) {
  std::string taken;
  const size_t wanted = std::min<size_t>(most, 1 + random_.Below(piece_));
  while (taken.size() < wanted && !lane.packets.empty() && lane.packets.front().due_ms <= now_ms_) {
    std::string& front = lane.packets.front().bytes;
    const size_t bytes = std::min(front.size(), wanted - taken.size());
    taken.append(front, 0, bytes);
    front.erase(0, bytes);
    if (front.empty()) lane.packets.pop_front();
  }
  lane.bytes -= taken.size();
  lane.arrived += taken;
  return taken;
}

bool FakeNetwork::MoveToDialer(LinkConnection& wire) {
  if (wire.user == nullptr) {
    wire.to_dialer.packets.clear();
    wire.to_dialer.bytes = 0;
    return false;
  }
  if (wire.reading == Link::Reading::kOff) return false;
  if (wire.to_dialer.arrived.size() >= wire.breaks_after) {
    Lose(wire);
    return true;
  }
  const std::string piece = Take(wire.to_dialer, wire.breaks_after - wire.to_dialer.arrived.size());
  TestServer* const dialer = ServerAt(wire.dialer);
  if (piece.empty()) {
    if (!wire.is_listener_closed || wire.to_dialer.bytes != 0) return false;
    EndFor(wire, "Connection reset by peer");
    return true;
  }
  wire.user->OnReceived(piece);
  dialer->EndTurn();
  if (wire.transport != nullptr && wire.transport->IsWaitingToWrite() == false) {
    wire.transport->MakeRoom();
    wire.transport->server().EndTurn();
  }
  return true;
}

bool FakeNetwork::MoveToListener(LinkConnection& wire) {
  if (wire.is_listener_closed) return false;
  const std::string piece = Take(wire.to_listener, SIZE_MAX);
  if (!piece.empty()) {
    Receive(wire, piece);
    if (TestServer* const dialer = ServerAt(wire.dialer)) dialer->EndTurn();  // it has room for more
    return true;
  }
  if (wire.user != nullptr || wire.to_listener.bytes != 0) return false;
  Lose(wire);
  return true;
}

void FakeNetwork::Receive(LinkConnection& wire, const std::string& piece) {
  TestServer* const server = ServerAt(wire.listener);
  if (wire.far_user != nullptr) {
    wire.far_user->OnReceived(piece);
  } else if (wire.transport != nullptr) {
    wire.transport->Receive(piece);
  } else {
    strangers_[wire.listener].received += piece;
  }
  if (server != nullptr) server->EndTurn();
}

void FakeNetwork::EndFor(LinkConnection& wire, const std::string& reason) {
  Link::User* const user = std::exchange(wire.user, nullptr);
  if (user == nullptr) return;
  user->OnEnded(reason);
  if (TestServer* const dialer = ServerAt(wire.dialer)) dialer->EndTurn();
}

// Tells both sides that the connection ended. Bytes in transit are lost.
void FakeNetwork::Lose(LinkConnection& wire) {
  wire.to_dialer.packets.clear();
  wire.to_listener.packets.clear();
  wire.to_dialer.bytes = wire.to_listener.bytes = 0;
  if (wire.transport != nullptr && !wire.is_listener_closed) {
    TestServer& server = wire.transport->server();
    wire.transport->Depart();
    server.EndTurn();
  }
  wire.is_listener_closed = true;
  if (Link::User* const far = std::exchange(wire.far_user, nullptr)) {
    far->OnEnded("Connection reset by peer");
    if (TestServer* const listener = ServerAt(wire.listener)) listener->EndTurn();
  }
  EndFor(wire, "Connection reset by peer");
}

// --- Faults.

void FakeNetwork::Break(int port, int other_port) {
  for (const auto& wire : std::vector(wires_)) {
    if (wire->is_connected && EndsOf(*wire) == PairOf(port, other_port)) Lose(*wire);
  }
}

void FakeNetwork::Silence(int port, int other_port) {
  for (const auto& wire : wires_) {
    if (EndsOf(*wire) == PairOf(port, other_port)) wire->is_silent = true;
  }
}

void FakeNetwork::SetApart(int port, int other_port) { apart_.insert(PairOf(port, other_port)); }
void FakeNetwork::SetTogether(int port, int other_port) { apart_.erase(PairOf(port, other_port)); }

std::shared_ptr<FakeNetwork::LinkConnection> FakeNetwork::Latest(int dialer, int port) const {
  std::shared_ptr<LinkConnection> latest;
  for (const auto& wire : wires_) {
    if ((dialer == 0 || wire->dialer == dialer) && wire->listener == port && wire->is_connected) latest = wire;
  }
  return latest;
}

std::string FakeNetwork::Received(int dialer, int port) const {
  const auto wire = Latest(dialer, port);
  return wire == nullptr ? "" : wire->to_dialer.arrived;
}

std::string FakeNetwork::Sent(int dialer, int port) const {
  const auto wire = Latest(dialer, port);
  return wire == nullptr ? "" : wire->to_listener.arrived;
}

size_t FakeNetwork::Connections() const {
  return static_cast<size_t>(
      std::ranges::count_if(wires_, [](const auto& wire) { return wire->is_connected && !wire->IsOver(); }));
}

FakeNetwork::Stranger& FakeNetwork::Listen(int port) { return strangers_[port]; }

void FakeNetwork::SendAs(int port, Bytes bytes) {
  if (const auto wire = Latest(0, port)) Put(wire->to_dialer, bytes);
}

void FakeNetwork::HangUpAs(int port) {
  if (const auto wire = Latest(0, port)) wire->is_listener_closed = true;
}

}  // namespace respite
