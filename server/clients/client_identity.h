// ClientIdentity and ClientAddresses: who a client says it is, and where it comes from.
#pragma once

#include <string>

namespace respite {

// What the client calls itself; all empty until it does.
struct ClientIdentity {
  std::string name;                // CLIENT SETNAME, HELLO
  std::string lib_name;            // CLIENT SETINFO
  std::string lib_version;         // CLIENT SETINFO
  bool follows_redirects = false;  // CLIENT CAPA: a replica may send it to its primary
};

// Both ends of its connection, set when it is accepted.
struct ClientAddresses {
  // From this machine: it may do what others may not (enable-debug-command local …).
  bool IsLocal() const { return loopback || unix_socket; }

  // Clients of a Unix socket count as those of IPv4, as in Valkey.
  bool IsIpv6() const { return peer.starts_with('['); }

  std::string peer;  // "127.0.0.1:50000", "/path/to.sock:0"
  std::string local;
  bool unix_socket = false;
  bool loopback = true;
  bool encrypted = false;  // TLS
};

}  // namespace respite
