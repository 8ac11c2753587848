#include "server/node/listener.h"

#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "server/catalogue/refusals.h"
#include "server/clients/acl/users.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/client_text.h"
#include "server/clients/clients.h"
#include "server/config/config.h"
#include "server/config/settings.h"
#include "server/config/value_text.h"
#include "server/execution/services.h"
#include "server/lab/faults/fault_rules.h"
#include "server/lab/lab.h"
#include "server/lab/recording/recorder.h"
#include "server/net/socket_address.h"
#include "server/net/tls/tls.h"
#include "server/net/tls/tls_stream.h"
#include "server/node/connection.h"
#include "server/runtime/stats.h"

namespace respite {

namespace refusals {
namespace {

constexpr char kMaxClients[] = "ERR max number of clients reached";

}  // namespace
}  // namespace refusals

namespace {

constexpr auto kPauseWithoutDescriptors = std::chrono::milliseconds(100);

// Returns true if the error means that this machine does not support the address family.
bool IsUnknownFamily(int code) {
  return code == EAFNOSUPPORT || code == ENOPROTOOPT || code == EPROTONOSUPPORT || code == ESOCKTNOSUPPORT ||
         code == EPFNOSUPPORT;
}

uint64_t InodeOf(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

void SendError(const Descriptor& socket, Bytes error) {
  std::string line = "-" + std::string(error) + "\r\n";
  [[maybe_unused]] ssize_t sent = send(socket.Get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// Makes `name` the group of the unix socket's file, so that members of this group can connect if the mode of the file
// allows it. Does nothing if `name` is empty. Returns an error text, or nullopt.
std::optional<std::string> GiveToGroup(const std::string& path, const std::string& name) {
  if (name.empty()) return std::nullopt;
  const group* const found = getgrnam(name.c_str());
  if (found == nullptr) return "there is no group '" + name + "'";
  if (chown(path.c_str(), static_cast<uid_t>(-1), found->gr_gid) == 0) return std::nullopt;
  return std::string("chown: ") + std::strerror(errno);
}

}  // namespace

struct Listener::Socket {
  Socket(asio::io_context& context, Descriptor opened, Protocol spoken)
      : descriptor(context, opened.Release()), retry(context), protocol(spoken) {}
  ~Socket() { respite::StopListening(descriptor.native_handle()); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  asio::posix::stream_descriptor descriptor;
  asio::steady_timer retry;
  Protocol protocol;
};

Listener::Listener(NodeHost& host, Recorder* recorder) : host_(host), recorder_(recorder) {
  host_.services().lab.faults.Attach(this);
}
Listener::~Listener() { host_.services().lab.faults.Attach(nullptr); }

std::optional<std::string> Listener::Open() {
  if (auto error = Reopen(Protocol::kTcp)) return error;
  if (auto error = Reopen(Protocol::kTls)) return error;
  return OpenUnix();
}

std::optional<std::string> Listener::Reopen(Protocol protocol) {
  Settings& settings = host_.services().env.config.MutableSettings();
  Sockets& sockets = protocol == Protocol::kTcp ? tcp_ : tls_;
  sockets.clear();
  if (protocol == Protocol::kTls) {
    if (settings.tls_port == 0) return std::nullopt;
    auto opened = OpenTcp(protocol, settings.tls_port);
    if (!opened) return std::move(opened).error();
    sockets = std::move(opened).value();
  } else {
    const int last_port = std::exchange(settings.bound_port, 0);
    if (settings.port == 0) return std::nullopt;
    auto opened = OpenTcp(protocol, settings.port == kAutoPort ? last_port : settings.port);
    if (!opened) return std::move(opened).error();
    sockets = std::move(opened).value();
    if (!sockets.empty()) settings.bound_port = PortOf(sockets[0]->descriptor.native_handle());
  }
  if (has_stopped_listening_ && !std::exchange(sockets, {}).empty()) {
    ReservePort(protocol == Protocol::kTcp ? settings.bound_port : settings.tls_port);
  }
  for (auto& socket : sockets) WaitForClient(socket);
  return std::nullopt;
}

Result<Listener::Sockets, std::string> Listener::OpenTcp(Protocol protocol, int port) {
  const Settings& settings = host_.services().env.settings;
  TcpOptions options{.port = port, .backlog = settings.tcp_backlog, .mark = settings.socket_mark_id};
  Sockets opened;
  for (const std::string& bound : settings.bind) {
    bool optional = bound.starts_with('-');
    std::string host = optional ? bound.substr(1) : bound;
    auto socket = ListenTcp(host, options);
    if (!socket.ok()) {
      std::string number = std::to_string(options.port);
      int code = socket.error().code;
      host_.services().env.log.Warning("Warning: Could not create server TCP listening socket " + host + ":" + number +
                                       ": " + socket.error().text);
      if (IsUnknownFamily(code) || (optional && code == EADDRNOTAVAIL)) continue;
      return Failure("Failed listening on port " + number + (protocol == Protocol::kTls ? " (tls)" : " (tcp)") +
                     ", aborting.");
    }
    options.port = PortOf(socket.value().Get());  // for `auto`, the other addresses get the same port
    opened.push_back(std::make_shared<Socket>(host_.loop().Context(), std::move(socket.value()), protocol));
  }
  return opened;
}

std::optional<std::string> Listener::OpenUnix() {
  const Settings& settings = host_.services().env.settings;
  if (settings.unixsocket.empty()) return std::nullopt;
  auto socket =
      ListenUnix(settings.folder->Resolve(settings.unixsocket), settings.unixsocketperm, settings.tcp_backlog);
  if (!socket.ok()) return "Failed opening Unix socket: " + socket.error().text;
  unix_path_ = AbsolutePath(settings.folder->Resolve(settings.unixsocket));
  if (auto error = GiveToGroup(unix_path_, settings.unixsocketgroup)) {
    unlink(unix_path_.c_str());
    return "Failed opening Unix socket: " + *error;
  }
  unix_inode_ = InodeOf(unix_path_);
  unix_ = std::make_shared<Socket>(host_.loop().Context(), std::move(socket.value()), Protocol::kTcp);
  WaitForClient(unix_);
  return std::nullopt;
}

void Listener::Close() {
  has_stopped_listening_ = false;
  reservations_.clear();
  tcp_.clear();
  tls_.clear();
  if (!unix_) return;
  unix_.reset();
  RemoveUnixFile();
}

void Listener::StopListening() {
  if (std::exchange(has_stopped_listening_, true)) return;
  const Settings& settings = host_.services().env.settings;
  if (!std::exchange(tcp_, {}).empty()) ReservePort(settings.bound_port);
  if (!std::exchange(tls_, {}).empty()) ReservePort(settings.tls_port);
  if (!unix_) return;
  unix_.reset();
  RemoveUnixFile();
}

void Listener::ReservePort(int port) {
  for (const std::string& bound : host_.services().env.settings.bind) {
    auto reserved = ReserveTcpPort(bound.starts_with('-') ? bound.substr(1) : bound, port);
    if (reserved.ok()) reservations_.push_back(std::move(reserved.value()));
  }
}

void Listener::ListenAgain() {
  if (!std::exchange(has_stopped_listening_, false)) return;
  const auto error = Open();
  reservations_.clear();
  if (error) host_.services().env.log.Warning("Listening again after a fault: " + *error);
}

void Listener::RemoveUnixFile() {
  Logger& log = host_.services().env.log;
  if (InodeOf(unix_path_) != unix_inode_) return;  // the file now belongs to another server
  if (unlink(unix_path_.c_str()) == 0) return;
  log.Warning(std::string("Error removing the unix socket file: ") + std::strerror(errno));
}

void Listener::WaitForClient(const std::shared_ptr<Socket>& socket) {
  socket->descriptor.async_wait(asio::posix::stream_descriptor::wait_read,
                                [this, weak = std::weak_ptr(socket)](const asio::error_code& error) {
                                  std::shared_ptr<Socket> open = weak.lock();
                                  if (!error && open) AcceptWaitingClients(open);
                                });
}

void Listener::AcceptWaitingClients(const std::shared_ptr<Socket>& socket) {
  // The sockets of closed clients that wait in closings() still have descriptors. Closes these sockets now if they, the
  // clients and the new clients could be more than maxclients.
  const size_t open = host_.services().clients.registry.OpenCount() + host_.loop().closings().Size();
  const Settings& settings = host_.services().env.settings;
  const bool is_tls = socket->protocol == Protocol::kTls;
  const int most = is_tls ? settings.max_new_tls_connections_per_cycle : settings.max_new_connections_per_cycle;
  if (open + static_cast<size_t>(most) > settings.maxclients) host_.loop().closings().ServeAll();
  for (int i = 0; i < most; ++i) {
    int accepted = accept4(socket->descriptor.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (accepted >= 0) {
      AdmitSocket(Descriptor(accepted), socket->protocol);
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) break;
    if (errno == EINTR || errno == ECONNABORTED) continue;
    host_.services().env.log.Warning(std::string("Accepting client connection: ") + std::strerror(errno));
    return AcceptLater(socket);
  }
  WaitForClient(socket);
}

// Pauses accepting for 100 ms after an error, for example if descriptors or memory have run out. The waiting client
// stays in the kernel's queue; without the pause, this client would wake the loop immediately.
void Listener::AcceptLater(const std::shared_ptr<Socket>& socket) {
  socket->retry.expires_after(kPauseWithoutDescriptors);
  // Checks `weak`, because an expired timer calls its handler even if the timer was destroyed in the same turn.
  socket->retry.async_wait([this, weak = std::weak_ptr(socket)](const asio::error_code& error) {
    std::shared_ptr<Socket> open = weak.lock();
    if (!error && open) WaitForClient(open);
  });
}

void Listener::AdmitSocket(Descriptor accepted, Protocol protocol) {
  host_.MarkActive();
  const Services& server = host_.services();
  const Settings& settings = server.env.settings;
  SocketAddresses names = SocketAddressesOf(accepted.Get());
  if (server.env.log.IsLevelEnabled(LogLevel::kVerbose)) {
    server.env.log.Verbose(names.is_unix_socket ? "Accepted connection to " + settings.unixsocket
                                                : "Accepted " + RemoveIpv6Brackets(names.address));
  }
  if (server.lab.faults.RefusesConnection(names.is_unix_socket ? settings.unixsocket + ":0" : names.address)) {
    ++server.env.stats.rejected_connections;
    return;
  }
  if (server.clients.registry.OpenCount() >= settings.maxclients) {
    ++server.env.stats.rejected_connections;
    if (protocol == Protocol::kTcp) SendError(accepted, refusals::kMaxClients);  // unreadable before a TLS handshake
    return;
  }
  if (!names.is_unix_socket) TuneTcp(accepted.Get(), settings.tcp_keepalive);
  std::unique_ptr<TlsStream> tls;
  if (protocol == Protocol::kTls) {
    tls = server.tls.Accept(accepted.Get(), settings.tls_auth_clients);
    if (tls == nullptr) return server.env.log.Warning("Error accepting a client connection: " + TakeOpenSslError());
  }
  Session& session = server.clients.registry.Create(server.env.clock.MonotonicMs());
  session.addresses.peer = names.is_unix_socket ? settings.unixsocket + ":0" : std::move(names.address);
  session.addresses.local = std::move(names.local_address);
  session.addresses.is_unix_socket = names.is_unix_socket;
  session.addresses.is_loopback = names.is_loopback;
  session.addresses.is_encrypted = tls != nullptr;
  session.authenticated = !server.clients.users.IsLoginRequired();
  ByteStream stream(std::move(accepted), std::move(tls));
  if (recorder_ != nullptr) stream.SetTap(recorder_->NewTap());
  std::make_shared<Connection>(host_, session, std::move(stream))->Start();
}

}  // namespace respite
