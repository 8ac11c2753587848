// ClientIdentity and ClientAddresses: the names that a client gives itself, and its addresses.
#pragma once

#include <string>

namespace respite {

// Names and capabilities that the client has sent; empty until then.
struct ClientIdentity {
  std::string name;                // CLIENT SETNAME, HELLO
  std::string lib_name;            // CLIENT SETINFO
  std::string lib_version;         // CLIENT SETINFO
  bool follows_redirects = false;  // CLIENT CAPA: a replica may redirect it to its primary
};

// Both ends of the connection, set when it is accepted.
struct ClientAddresses {
  // Returns whether the client is on this machine. Local clients may have more rights (enable-debug-command local …).
  bool IsLocal() const { return loopback || unix_socket; }

  // As in Valkey, clients of a Unix socket count as IPv4.
  bool IsIpv6() const { return peer.starts_with('['); }

  std::string peer;  // "127.0.0.1:50000", "/path/to.sock:0"
  std::string local;
  bool unix_socket = false;
  bool loopback = true;
  bool encrypted = false;  // TLS
};

}  // namespace respite
