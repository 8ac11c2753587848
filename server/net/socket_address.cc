#include "server/net/socket_address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "base/str_cat.h"

namespace respite {

namespace {

constexpr int kOn = 1;

OpenError Errno(const char* what) { return {std::string(what) + ": " + std::strerror(errno), errno}; }

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Result<AddressList, OpenError> Lookup(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  bool any4 = host == "*";
  bool any6 = host == "::*";
  if (any4) hints.ai_family = AF_INET;
  if (any6) hints.ai_family = AF_INET6;
  addrinfo* found = nullptr;
  int code = getaddrinfo(any4 || any6 ? nullptr : host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (code != 0) return Failure(OpenError{gai_strerror(code), 0});
  return AddressList(found, &freeaddrinfo);
}

Result<Descriptor, OpenError> BindTo(const addrinfo& address, const TcpOptions& options) {
  Descriptor fd(socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (fd.Get() < 0) return Failure(Errno("socket"));
  setsockopt(fd.Get(), SOL_SOCKET, SO_REUSEADDR, &kOn, sizeof kOn);
  if (address.ai_family == AF_INET6) setsockopt(fd.Get(), IPPROTO_IPV6, IPV6_V6ONLY, &kOn, sizeof kOn);
  if (options.mark != 0) setsockopt(fd.Get(), SOL_SOCKET, SO_MARK, &options.mark, sizeof options.mark);
  if (bind(fd.Get(), address.ai_addr, address.ai_addrlen) != 0) return Failure(Errno("bind"));
  return fd;
}

// Calls open(address) for each address of the host, until a call succeeds. Returns its result, or the last error.
template <class Open>
Result<Descriptor, OpenError> OnFirstAddress(const std::string& host, int port, Open open) {
  auto found = Lookup(host, port);
  if (!found.ok()) return Failure(found.error());
  OpenError last;
  for (const addrinfo* address = found.value().get(); address != nullptr; address = address->ai_next) {
    auto opened = open(*address);
    if (opened.ok()) return opened;
    last = opened.error();
  }
  return Failure(last);
}

std::string TextOf(const sockaddr_storage& address) {
  char host[INET6_ADDRSTRLEN] = {};
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, host, sizeof host);
    return StrCat(host, ":", ntohs(v4.sin_port));
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  inet_ntop(AF_INET6, &v6.sin6_addr, host, sizeof host);
  return StrCat("[", host, "]:", ntohs(v6.sin6_port));
}

bool IsLoopback(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    return (ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24) == 127;
  }
  const in6_addr& v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&v6) != 0 || (IN6_IS_ADDR_V4MAPPED(&v6) != 0 && v6.s6_addr[12] == 127);
}

}  // namespace

Result<Descriptor, OpenError> ListenTcp(const std::string& host, const TcpOptions& options) {
  return OnFirstAddress(host, options.port, [&](const addrinfo& address) -> Result<Descriptor, OpenError> {
    auto bound = BindTo(address, options);
    if (bound.ok() && listen(bound.value().Get(), options.backlog) != 0) return Failure(Errno("listen"));
    return bound;
  });
}

void StopListening(int descriptor) { shutdown(descriptor, SHUT_RDWR); }

Result<Descriptor, OpenError> ReserveTcpPort(const std::string& host, int port) {
  return OnFirstAddress(host, port, [&](const addrinfo& address) { return BindTo(address, {.port = port}); });
}

Result<Descriptor, OpenError> ListenUnix(const std::string& path, uint32_t mode, int backlog) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return Failure(OpenError{"bind: path too long", ENAMETOOLONG});
  std::memcpy(address.sun_path, path.data(), path.size());
  Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (fd.Get() < 0) return Failure(Errno("socket"));
  // Deletes an old socket file of this name, but no other kind of file.
  struct stat status {};
  if (lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode)) unlink(path.c_str());
  if (bind(fd.Get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return Failure(Errno("bind"));
  if (mode != 0) chmod(path.c_str(), static_cast<mode_t>(mode));
  if (listen(fd.Get(), backlog) != 0) return Failure(Errno("listen"));
  return fd;
}

int PortOf(int descriptor) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length);
  return address.ss_family == AF_INET ? ntohs(reinterpret_cast<sockaddr_in&>(address).sin_port)
                                      : ntohs(reinterpret_cast<sockaddr_in6&>(address).sin6_port);
}

SocketAddresses SocketAddressesOf(int descriptor) {
  sockaddr_storage local{};
  sockaddr_storage peer{};
  socklen_t length = sizeof local;
  getsockname(descriptor, reinterpret_cast<sockaddr*>(&local), &length);
  if (local.ss_family == AF_UNIX) {
    std::string path = reinterpret_cast<const sockaddr_un&>(local).sun_path;
    return {.address = path + ":0", .local_address = path + ":0", .is_unix_socket = true, .is_loopback = true};
  }
  length = sizeof peer;
  getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &length);
  return {.address = TextOf(peer),
          .local_address = TextOf(local),
          .is_unix_socket = false,
          .is_loopback = IsLoopback(peer)};
}

void TuneTcp(int descriptor, int keepalive_s) {
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &kOn, sizeof kOn);
  if (keepalive_s <= 0) return;
  int interval_s = std::max(keepalive_s / 3, 1);
  int probes = 3;
  setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &kOn, sizeof kOn);
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &keepalive_s, sizeof keepalive_s);
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

}  // namespace respite
