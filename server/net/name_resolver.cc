#include "server/net/name_resolver.h"

#include <netdb.h>

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace respite {

namespace {

NameResolver::Addresses LookUpWith(const std::string& host, const std::string& port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return {};
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  NameResolver::Addresses addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    HostAddress& address = addresses.emplace_back();
    address.size = one->ai_addrlen;
    std::memcpy(&address.address, one->ai_addr, one->ai_addrlen);
  }
  return addresses;
}

}  // namespace

struct NameResolver::PendingLookUp {
  std::mutex mutex;
  std::condition_variable ended;
  bool has_ended = false;
  Addresses addresses;
};

NameResolver::Addresses NameResolver::LookUpBySystem(const std::string& host, const std::string& port) {
  return LookUpWith(host, port, 0);
}

// Starts a look-up on a new thread. Returns null if too many look-ups run or no thread can be started.
std::shared_ptr<NameResolver::PendingLookUp> NameResolver::StartLookUp(const std::string& host,
                                                                       const std::string& port) {
  std::erase_if(running_look_ups_, [](const auto& pending) {
    std::lock_guard lock(pending->mutex);
    return pending->has_ended;
  });
  if (running_look_ups_.size() >= kMaxLookUps) return nullptr;
  auto pending = std::make_shared<PendingLookUp>();
  try {
    std::thread([pending, look_up = look_up_, host, port] {
      Addresses addresses = look_up(host, port);
      std::lock_guard lock(pending->mutex);
      pending->addresses = std::move(addresses);
      pending->has_ended = true;
      pending->ended.notify_one();
    }).detach();
  } catch (const std::system_error&) {
    return nullptr;
  }
  running_look_ups_.push_back(pending);
  return pending;
}

Result<NameResolver::Addresses, ResolveTrouble> NameResolver::Resolve(const std::string& host, const std::string& port,
                                                                      TimePoint until) {
  Addresses numeric = LookUpWith(host, port, AI_NUMERICHOST);
  if (!numeric.empty()) return numeric;
  const std::shared_ptr<PendingLookUp> pending = StartLookUp(host, port);
  if (pending == nullptr) return Failure(ResolveTrouble::kTimeout);
  std::unique_lock lock(pending->mutex);
  if (!pending->ended.wait_until(lock, until, [&] { return pending->has_ended; }))
    return Failure(ResolveTrouble::kTimeout);
  if (pending->addresses.empty()) return Failure(ResolveTrouble::kNoAddress);
  return pending->addresses;
}

}  // namespace respite
