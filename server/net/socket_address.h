// Opens and names sockets with POSIX calls, because Asio hides v6only, errno and the bound port.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "base/descriptor.h"
#include "base/result.h"

namespace respite {

struct TcpOptions {
  int port = 0;
  int backlog = 511;
  uint32_t mark = 0;  // SO_MARK; 0: none
};

struct OpenError {
  std::string text;  // "bind: Address already in use"
  int code = 0;      // errno, or 0 when the name does not resolve
};

// Returns a listening, non-blocking socket. `host` is an address of either family; "*" means every IPv4 address, "::*"
// every IPv6 address.
Result<Descriptor, OpenError> ListenTcp(const std::string& host, const TcpOptions& options);
// Ends all listening at this socket, also at the copy that a new child has until it closes it.
void StopListening(int descriptor);
// Returns a socket that is bound, but does not listen. While it is open, no other process gets the port, but ListenTcp
// in this process does. Port 0: the system chooses a free one.
Result<Descriptor, OpenError> ReserveTcp(const std::string& host, int port);
// Replaces a stale socket file. `mode` 0 leaves the permissions to umask.
Result<Descriptor, OpenError> ListenUnix(const std::string& path, uint32_t mode, int backlog);

int PortOf(int descriptor);

struct PeerNames {
  std::string address;  // "127.0.0.1:50000", "[::1]:50000", "/path:0"
  std::string local_address;
  bool unix_socket = false;
  bool loopback = false;
};
PeerNames NamesOf(int descriptor);

// Sets TCP_NODELAY, and keepalive with the first probe after `keepalive_s` (0: none).
void TuneTcp(int descriptor, int keepalive_s);

}  // namespace respite
