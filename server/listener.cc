#include "server/listener.h"

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

#include "server/client_text.h"
#include "server/config/value_text.h"
#include "server/connection.h"
#include "server/refusals.h"
#include "server/socket_address.h"

namespace respite {

namespace {

// A storm of connections must not keep those that are there waiting.
constexpr int kAcceptsPerEvent = 100;

constexpr auto kPauseWithoutDescriptors = std::chrono::milliseconds(100);

// This machine does not have that kind of address.
bool IsUnknownFamily(int code) {
  return code == EAFNOSUPPORT || code == ENOPROTOOPT || code == EPROTONOSUPPORT || code == ESOCKTNOSUPPORT ||
         code == EPFNOSUPPORT;
}

uint64_t InodeOf(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

void SendAndClose(int descriptor, Bytes error) {
  std::string line = "-" + std::string(error) + "\r\n";
  [[maybe_unused]] ssize_t sent = send(descriptor, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  close(descriptor);
}

}  // namespace

struct Listener::Socket {
  Socket(asio::io_context& context, Descriptor opened) : descriptor(context, opened.Release()), retry(context) {}
  asio::posix::stream_descriptor descriptor;
  asio::steady_timer retry;
};

Listener::Listener(EventLoop& loop) : loop_(loop) {}
Listener::~Listener() = default;

std::optional<std::string> Listener::Open() {
  if (auto error = ReopenTcp()) return error;
  return OpenUnix();
}

std::optional<std::string> Listener::ReopenTcp() {
  tcp_.clear();
  std::vector<std::shared_ptr<Socket>> opened;
  if (auto error = OpenTcp(opened)) return error;
  tcp_ = std::move(opened);
  for (auto& socket : tcp_) Accept(socket);
  return std::nullopt;
}

std::optional<std::string> Listener::OpenTcp(std::vector<std::shared_ptr<Socket>>& opened) {
  Settings& settings = loop_.server().config().Adjust();
  TcpOptions options{.port = settings.port == kAutoPort ? settings.bound_port : settings.port,
                     .backlog = settings.tcp_backlog,
                     .mark = settings.socket_mark_id};
  settings.bound_port = 0;
  if (settings.port == 0) return std::nullopt;
  for (const std::string& bound : settings.bind) {
    bool optional = bound.starts_with('-');
    std::string host = optional ? bound.substr(1) : bound;
    auto socket = ListenTcp(host, options);
    if (!socket.ok()) {
      std::string port = std::to_string(options.port);
      int code = socket.error().code;
      loop_.server().log().Warning("Warning: Could not create server TCP listening socket " + host + ":" + port + ": " +
                                   socket.error().text);
      if (IsUnknownFamily(code) || (optional && code == EADDRNOTAVAIL)) continue;
      return "Failed listening on port " + port + " (tcp), aborting.";
    }
    options.port = PortOf(socket.value().Get());  // `auto`: the other addresses get the same
    opened.push_back(std::make_shared<Socket>(loop_.Context(), std::move(socket.value())));
  }
  settings.bound_port = opened.empty() ? 0 : options.port;
  return std::nullopt;
}

std::optional<std::string> Listener::OpenUnix() {
  const Settings& settings = loop_.server().settings();
  if (settings.unixsocket.empty()) return std::nullopt;
  auto socket = ListenUnix(settings.unixsocket, settings.unixsocketperm, settings.tcp_backlog);
  if (!socket.ok()) return "Failed opening Unix socket: " + socket.error().text;
  unix_path_ = AbsolutePath(settings.unixsocket);
  unix_inode_ = InodeOf(unix_path_);
  unix_ = std::make_shared<Socket>(loop_.Context(), std::move(socket.value()));
  Accept(unix_);
  return std::nullopt;
}

void Listener::Close() {
  tcp_.clear();
  if (!unix_) return;
  unix_.reset();
  RemoveUnixFile();
}

void Listener::RemoveUnixFile() {
  Logger& log = loop_.server().log();
  if (InodeOf(unix_path_) != unix_inode_) return;  // another server's by now
  if (unlink(unix_path_.c_str()) == 0) return;
  log.Warning(std::string("Error removing the unix socket file: ") + std::strerror(errno));
}

void Listener::Accept(const std::shared_ptr<Socket>& socket) {
  socket->descriptor.async_wait(asio::posix::stream_descriptor::wait_read,
                                [this, weak = std::weak_ptr(socket)](const asio::error_code& error) {
                                  std::shared_ptr<Socket> open = weak.lock();
                                  if (!error && open) AcceptAll(open);
                                });
}

void Listener::AcceptAll(const std::shared_ptr<Socket>& socket) {
  for (int i = 0; i < kAcceptsPerEvent; ++i) {
    int accepted = accept4(socket->descriptor.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (accepted >= 0) {
      Welcome(accepted);
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) break;
    if (errno == EINTR || errno == ECONNABORTED) continue;
    loop_.server().log().Warning(std::string("Accepting client connection: ") + std::strerror(errno));
    return AcceptLater(socket);
  }
  Accept(socket);
}

// Out of descriptors or memory: the client stays in the kernel's queue, which would wake us at once.
void Listener::AcceptLater(const std::shared_ptr<Socket>& socket) {
  socket->retry.expires_after(kPauseWithoutDescriptors);
  // A timer that has rung calls even after it was destroyed in the same Turn.
  socket->retry.async_wait([this, weak = std::weak_ptr(socket)](const asio::error_code& error) {
    std::shared_ptr<Socket> open = weak.lock();
    if (!error && open) Accept(open);
  });
}

void Listener::Welcome(int descriptor) {
  Server& server = loop_.server();
  const Settings& settings = server.settings();
  PeerNames names = NamesOf(descriptor);
  if (server.log().Shows(LogLevel::kVerbose)) {
    server.log().Verbose(names.unix_socket ? "Accepted connection to " + settings.unixsocket
                                           : "Accepted " + WithoutBrackets(names.address));
  }
  if (server.clients().Count() >= settings.maxclients) {
    ++server.stats().rejected_connections;
    return SendAndClose(descriptor, refusals::kMaxClients);
  }
  if (settings.protected_mode && !server.users().LoginRequired() && !names.loopback) {
    ++server.stats().rejected_connections;
    return SendAndClose(descriptor, refusals::kProtectedMode);
  }
  if (!names.unix_socket) TuneTcp(descriptor, settings.tcp_keepalive);
  ++server.stats().connections;
  Session& session = server.clients().Create(server.clock().MonotonicMs());
  session.address = names.unix_socket ? settings.unixsocket + ":0" : std::move(names.address);
  session.local_address = std::move(names.local_address);
  session.unix_socket = names.unix_socket;
  session.loopback = names.loopback;
  session.authenticated = !server.users().LoginRequired();
  std::make_shared<Connection>(loop_, session, descriptor)->Start();
}

}  // namespace respite
