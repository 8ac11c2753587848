// SentinelAddress: where an instance is: the host as it was told, and the address that this name has.
#pragma once

#include <string>

#include "base/bytes.h"

namespace respite {

struct SentinelAddress {
  std::string host;  // a name, or an address
  std::string ip;    // empty: the name has no address now
  int port = 0;

  bool IsAt(Bytes other_host, int other_port) const {
    return port == other_port && (EqualsIgnoreCase(host, other_host) || ip == other_host);
  }
  // Whether both are the same place.
  bool Is(const SentinelAddress& other) const {
    return IsAt(other.host, other.port) || (port == other.port && !ip.empty() && ip == other.ip);
  }
};

// "10.0.0.1:6379", "[::1]:6379".
inline std::string HostAndPort(const std::string& host, int port) {
  const bool has_colon = host.find(':') != std::string::npos;
  return (has_colon ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

}  // namespace respite
