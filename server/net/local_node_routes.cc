#include "server/net/local_node_routes.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

namespace respite {

namespace {

std::vector<std::string> AddressesOf(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  std::vector<std::string> addresses;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const auto flags = NI_NUMERICHOST;
    if (getnameinfo(one->ai_addr, one->ai_addrlen, text.data(), text.size(), nullptr, 0, flags) == 0) {
      addresses.emplace_back(text.data());
    }
  }
  freeaddrinfo(found);
  return addresses;
}

}  // namespace

LocalNodeRoutes::LocalNodeRoutes(const std::string& announced) : hosts_(AddressesOf(announced)) {
  hosts_.push_back(announced);
}

Link::Target LocalNodeRoutes::RouteFor(Link::Target target) const {
  const auto own = addresses_.find(target.port);
  if (own == addresses_.end() || std::ranges::find(hosts_, target.host) == hosts_.end()) return target;
  target.host = own->second;
  target.source.clear();
  return target;
}

}  // namespace respite
