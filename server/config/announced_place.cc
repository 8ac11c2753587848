#include "server/config/announced_place.h"

#include <arpa/inet.h>

namespace respite {

namespace {

constexpr Bytes kPort = ":{port}";
constexpr char kForm[] = "announce must be HOST:{port}, with a name or an address, for example localhost:{port}";
constexpr size_t kLongestName = 255;

bool IsAddress(const std::string& host, int family) {
  in6_addr parsed;
  return inet_pton(family, host.c_str(), &parsed) == 1;
}

bool IsName(Bytes host) { return !host.empty() && host.size() <= kLongestName && HasHostnameCharacters(host); }

}  // namespace

Result<AnnouncedHost, std::string> AnnouncedHost::Parse(Bytes text) {
  if (!text.ends_with(kPort)) return Failure(std::string(kForm));
  text.remove_suffix(kPort.size());
  if (text.starts_with('[') && text.ends_with(']')) {
    AnnouncedHost place{.host = std::string(text.substr(1, text.size() - 2)), .is_address = true};
    if (IsAddress(place.host, AF_INET6)) return place;
  } else if (IsName(text)) {
    AnnouncedHost place{.host = std::string(text)};
    place.is_address = IsAddress(place.host, AF_INET);
    return place;
  }
  return Failure(std::string(kForm));
}

}  // namespace respite
