#include "server/listener.h"

#include <sys/socket.h>
#include <unistd.h>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "server/client_text.h"
#include "server/connection.h"
#include "server/refusals.h"
#include "server/socket_address.h"

namespace respite {

namespace {

constexpr int kAcceptsPerEvent = 1000;

// Optional addresses ("-::1") are left out when the machine does not have them.
bool IsAbsentAddress(int code) {
  return code == EADDRNOTAVAIL || code == EAFNOSUPPORT || code == ENOPROTOOPT || code == EPROTONOSUPPORT ||
         code == ESOCKTNOSUPPORT || code == EPFNOSUPPORT;
}

void SendAndClose(int descriptor, Bytes error) {
  std::string line = "-" + std::string(error) + "\r\n";
  [[maybe_unused]] ssize_t sent = send(descriptor, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  close(descriptor);
}

}  // namespace

struct Listener::Socket {
  Socket(asio::io_context& context, Descriptor opened) : descriptor(context, opened.Release()) {}
  asio::posix::stream_descriptor descriptor;
};

Listener::Listener(EventLoop& loop) : loop_(loop) {}
Listener::~Listener() = default;

std::optional<std::string> Listener::Open() {
  if (auto error = ReopenTcp()) return error;
  return OpenUnix();
}

std::optional<std::string> Listener::ReopenTcp() {
  std::vector<std::unique_ptr<Socket>> opened;
  if (auto error = OpenTcp(opened)) return error;
  tcp_ = std::move(opened);  // closes the old ones
  for (auto& socket : tcp_) Accept(*socket);
  return std::nullopt;
}

std::optional<std::string> Listener::OpenTcp(std::vector<std::unique_ptr<Socket>>& opened) {
  Settings& settings = loop_.server().config().Adjust();
  settings.bound_port = 0;
  if (settings.port == 0) return std::nullopt;
  TcpOptions options{.port = settings.port == kAutoPort ? 0 : settings.port,
                     .backlog = settings.tcp_backlog,
                     .mark = settings.socket_mark_id};
  for (const std::string& bound : settings.bind) {
    bool optional = bound.starts_with('-');
    std::string host = optional ? bound.substr(1) : bound;
    auto socket = ListenTcp(host, options);
    if (!socket.ok()) {
      if (optional && (IsAbsentAddress(socket.error().code))) continue;
      std::string port = std::to_string(options.port);
      loop_.server().log().Warning("Warning: Could not create server TCP listening socket " + host + ":" + port + ": " +
                                   socket.error().text);
      return "Failed listening on port " + port + " (tcp), aborting.";
    }
    options.port = PortOf(socket.value().Get());  // `auto`: the other addresses get the same
    opened.push_back(std::make_unique<Socket>(loop_.Context(), std::move(socket.value())));
  }
  settings.bound_port = opened.empty() ? 0 : options.port;
  return std::nullopt;
}

std::optional<std::string> Listener::OpenUnix() {
  const Settings& settings = loop_.server().settings();
  if (settings.unixsocket.empty()) return std::nullopt;
  auto socket = ListenUnix(settings.unixsocket, settings.unixsocketperm, settings.tcp_backlog);
  if (!socket.ok()) {
    loop_.server().log().Warning("Failed opening Unix socket: " + socket.error().text);
    return "Failed listening on port 0 (unix), aborting.";
  }
  unix_ = std::make_unique<Socket>(loop_.Context(), std::move(socket.value()));
  Accept(*unix_);
  return std::nullopt;
}

void Listener::Close() {
  tcp_.clear();
  if (!unix_) return;
  unix_.reset();
  unlink(loop_.server().settings().unixsocket.c_str());
}

void Listener::Accept(Socket& socket) {
  socket.descriptor.async_wait(
      asio::posix::stream_descriptor::wait_read, [this, &socket](const asio::error_code& error) {
        if (error) return;  // closed: `socket` may be gone
        for (int i = 0; i < kAcceptsPerEvent; ++i) {
          int accepted = accept4(socket.descriptor.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
          if (accepted < 0) {
            if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR && errno != ECONNABORTED) {
              loop_.server().log().Warning(std::string("Accepting client connection: ") + std::strerror(errno));
            }
            break;
          }
          Welcome(accepted);
        }
        Accept(socket);
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
  if (settings.protected_mode && !server.auth().Required() && !names.loopback) {
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
  session.authenticated = !server.auth().Required();
  std::make_shared<Connection>(loop_, session, descriptor)->Start();
}

}  // namespace respite
