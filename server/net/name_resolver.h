// NameResolver: the addresses of a host, within a time.
//
// The C library's look-up of a name cannot be given a time nor be ended, and asks servers that may not answer. So a
// thread of its own does it, and who asks waits for the answer only as long as it said. A look-up that nobody waits for
// any more ends by itself; until then it is one of the few that may be under way. Numeric addresses need no thread.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace respite {

struct HostAddress {
  sockaddr_storage address;
  socklen_t size;
};

enum class ResolveTrouble : uint8_t { kNoAddress, kTimeout };

class NameResolver {
 public:
  using Addresses = std::vector<HostAddress>;
  using LookUp = std::function<Addresses(const std::string& host, const std::string& port)>;
  using TimePoint = std::chrono::steady_clock::time_point;
  // Look-ups that may be under way, most of them given up by who asked.
  static constexpr size_t kMost = 8;

  NameResolver() : NameResolver(LookUpBySystem) {}
  // For tests: `look_up` runs on other threads, and may outlive the resolver.
  explicit NameResolver(LookUp look_up) : look_up_(std::move(look_up)) {}

  // kTimeout: not known by then, or too many look-ups are under way. Blocks its thread until then at most.
  Result<Addresses, ResolveTrouble> Resolve(const std::string& host, const std::string& port, TimePoint until);

 private:
  struct Question;

  static Addresses LookUpBySystem(const std::string& host, const std::string& port);
  std::shared_ptr<Question> Ask(const std::string& host, const std::string& port);

  LookUp look_up_;
  std::vector<std::shared_ptr<Question>> under_way_;
};

}  // namespace respite
