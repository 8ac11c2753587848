// Checks of the names and addresses that a cluster node may announce. AnnouncedHost: the value of the directive
// `announce`, the host under which clients find the nodes of this process.
#pragma once

#include <arpa/inet.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace respite {

// Returns whether a cluster node may announce this text as its address, host name or human-readable name: at most 255
// bytes, without blanks, control characters, commas, double quotes and backslashes. These texts appear in nodes.conf
// and CLUSTER NODES, where white space, commas and line ends separate the fields.
constexpr bool MayBeAnnounced(Bytes text) {  // true: < 256 bytes; no blank, control character, comma, `"`, backslash
  constexpr size_t kLimit = 256;
  constexpr char kDelete = 0x7f;
  const auto is_plain = [](char c) {
    return static_cast<unsigned char>(c) > ' ' && c != ',' && c != '"' && c != '\\' && c != kDelete;
  };
  return text.size() < kLimit && std::all_of(text.begin(), text.end(), is_plain);
}

constexpr bool HasHostnameCharacters(Bytes text) {  // true: only ASCII letters, digits, '-' and '.'
  const auto may_stand = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.';
  };
  return std::all_of(text.begin(), text.end(), may_stand);
}

// IsIpv4 and IsIpv6 call MayBeAnnounced to refuse NUL bytes. inet_pton alone would ignore a NUL byte and all bytes
// after it.
inline bool IsIpv4(Bytes text) {  // true: the text is an IPv4 address
  in_addr address;
  return MayBeAnnounced(text) && inet_pton(AF_INET, std::string(text).c_str(), &address) == 1;
}

inline bool IsIpv6(Bytes text) {  // true: the text is an IPv6 address
  in6_addr address;
  return MayBeAnnounced(text) && inet_pton(AF_INET6, std::string(text).c_str(), &address) == 1;
}

// Value of the directive `announce`: the host under which clients find the nodes of this process, if the nodes use a
// different host among themselves. For example, the process may run in a container and the clients outside.
struct AnnouncedHost {      // value of `announce`: the host under which clients find the nodes
  std::string host;         // host name or IP address, an IPv6 address without brackets
  bool is_address = false;  // true: `host` is an IP address; false: a host name

  // Parses a value of the directive `announce`: a host and the literal text ":{port}", which stands for the port of
  // each node, for example "localhost:{port}" or "[::1]:{port}". An IPv6 address is in brackets.
  static Result<AnnouncedHost, std::string> Parse(Bytes text);  // parses "HOST:{port}"; returns the value, or the error
};

}  // namespace respite
