// NameResolver: looks up the addresses of a host, with a timeout.
//
// The look-up of the C library has no timeout, cannot be cancelled, and asks servers that may not answer. So it runs on
// a thread of its own, and the caller waits for it only until the timeout. A look-up that has timed out ends by
// itself, and counts against kMaxLookUps until then. Numeric addresses need no thread.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace respite {

struct HostAddress {         // an IP address and port, as connect(2) takes them
  sockaddr_storage address;  // the IP address and the port
  socklen_t size;            // used bytes of `address`
};

enum class ResolveTrouble : uint8_t { kNoAddress, kTimeout };  // why there is no result

class NameResolver {  // finds the IP addresses of a host name, with a timeout
 public:
  using Addresses = std::vector<HostAddress>;
  using LookUp = std::function<Addresses(const std::string& host, const std::string& port)>;
  using TimePoint = std::chrono::steady_clock::time_point;
  static constexpr size_t kMaxLookUps = 8;  // maximum number of look-ups at the same time, including timed-out ones

  NameResolver() : NameResolver(LookUpBySystem) {}
  // Makes a resolver for tests that calls `look_up` instead of the system's function. `look_up` is called on other
  // threads, and may still run after the resolver is destroyed.
  explicit NameResolver(LookUp look_up) : look_up_(std::move(look_up)) {}

  // Returns the addresses of a host. Blocks until `until` at the latest. kTimeout: there is no result at that time, too
  // many look-ups are running, or no thread can be started.
  Result<Addresses, ResolveTrouble> Resolve(const std::string& host,  // finds the addresses; blocks up to `until`
                                            const std::string& port, TimePoint until);

 private:
  struct PendingLookUp;  // a look-up on a thread of its own, and its result

  static Addresses LookUpBySystem(const std::string& host, const std::string& port);  // calls getaddrinfo
  std::shared_ptr<PendingLookUp> StartLookUp(const std::string& host,  // starts a look-up on a new thread
                                             const std::string& port);

  LookUp look_up_;  // finds addresses: LookUpBySystem, or a test's function
  std::vector<std::shared_ptr<PendingLookUp>> running_look_ups_;  // look-ups on threads, also timed-out ones
};

}  // namespace respite
