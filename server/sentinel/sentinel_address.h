// SentinelAddress: the host of an instance as it was given, and the IP address to which it resolves.
#pragma once

#include <string>

#include "base/bytes.h"

namespace respite {

struct SentinelAddress {
  std::string host;  // a name, or an address
  std::string ip;    // empty: the name does not resolve now
  int port = 0;

  bool IsAt(Bytes other_host, int other_port) const {
    return port == other_port && (EqualsIgnoreCase(host, other_host) || ip == other_host);
  }
  // Whether both have the same port, and the same host or IP address.
  bool Is(const SentinelAddress& other) const {
    return IsAt(other.host, other.port) || (port == other.port && !ip.empty() && ip == other.ip);
  }
};

// Returns for example "10.0.0.1:6379" or "[::1]:6379".
inline std::string HostAndPort(const std::string& host, int port) {
  const bool has_colon = host.find(':') != std::string::npos;
  return (has_colon ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

}  // namespace respite
