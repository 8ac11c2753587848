// Functions that open sockets and describe their addresses. They use POSIX calls, because Asio hides v6only, errno and
// the bound port.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "base/descriptor.h"
#include "base/result.h"

namespace respite {

struct TcpOptions {   // how ListenTcp opens a port
  int port = 0;       // port to listen at; 0: the system chooses
  int backlog = 511;  // how many connections may wait for accept(2)
  uint32_t mark = 0;  // socket option SO_MARK, for the firewall; 0: none
};

struct OpenError {   // why a port or socket file could not be opened
  std::string text;  // such as "bind: Address already in use"
  int code = 0;      // errno, or 0 when the name does not resolve
};

// Returns a listening, non-blocking socket. `host` is a name, or an IPv4 or IPv6 address. "*" means every IPv4 address,
// "::*" means every IPv6 address. If a name has several addresses, only the first one that works is used.
Result<Descriptor, OpenError> ListenTcp(const std::string& host, const TcpOptions& options);  // listens at a port
// Ends listening at this socket, also for child processes. (A new child process has a copy of the socket until it
// closes the copy.)
void StopListening(int descriptor);  // makes the kernel refuse connections, also for copies in child processes
// Binds a port without listening. While the returned socket is open, the system does not give the port to a socket that
// asks for any free port, but ListenTcp can listen on it. Port 0: the system chooses a free port.
Result<Descriptor, OpenError> ReserveTcpPort(const std::string& host, int port);  // takes a port, without listening
// Returns a listening, non-blocking Unix socket. Replaces a socket file of this name. If `mode` is 0, the permissions
// of the file depend on umask.
Result<Descriptor, OpenError> ListenUnix(const std::string& path, uint32_t mode, int backlog);  // listens at this path

int PortOf(int descriptor);  // the local port number of a TCP socket

struct SocketAddresses {        // the addresses of both ends of a connection
  std::string address;          // the peer's: "127.0.0.1:50000", "[::1]:50000"; for a Unix socket "/path:0"
  std::string local_address;    // this end's address, in the form of `address`
  bool is_unix_socket = false;  // true: the connection came through a Unix socket
  bool is_loopback = false;     // true: the peer is on this machine (Unix socket or loopback address)
};
SocketAddresses SocketAddressesOf(int descriptor);  // asks the kernel for the addresses of both ends

// The system sends the first keepalive probe after the connection was idle for `keepalive_s` seconds.
void TuneTcp(int descriptor, int keepalive_s);  // sets TCP_NODELAY, and keepalive unless `keepalive_s` is 0

}  // namespace respite
