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

struct NameResolver::Question {
  std::mutex mutex;
  std::condition_variable answered;
  bool is_answered = false;
  Addresses addresses;
};

NameResolver::Addresses NameResolver::LookUpBySystem(const std::string& host, const std::string& port) {
  return LookUpWith(host, port, 0);
}

// Starts a look-up on a new thread. Returns null if too many look-ups run or no thread can be started.
std::shared_ptr<NameResolver::Question> NameResolver::Ask(const std::string& host, const std::string& port) {
  std::erase_if(running_look_ups_, [](const auto& question) {
    std::lock_guard lock(question->mutex);
    return question->is_answered;
  });
  if (running_look_ups_.size() >= kMaxLookUps) return nullptr;
  auto question = std::make_shared<Question>();
  try {
    std::thread([question, look_up = look_up_, host, port] {
      Addresses addresses = look_up(host, port);
      std::lock_guard lock(question->mutex);
      question->addresses = std::move(addresses);
      question->is_answered = true;
      question->answered.notify_one();
    }).detach();
  } catch (const std::system_error&) {
    return nullptr;
  }
  running_look_ups_.push_back(question);
  return question;
}

Result<NameResolver::Addresses, ResolveTrouble> NameResolver::Resolve(const std::string& host, const std::string& port,
                                                                      TimePoint until) {
  Addresses numeric = LookUpWith(host, port, AI_NUMERICHOST);
  if (!numeric.empty()) return numeric;
  const std::shared_ptr<Question> question = Ask(host, port);
  if (question == nullptr) return Failure(ResolveTrouble::kTimeout);
  std::unique_lock lock(question->mutex);
  if (!question->answered.wait_until(lock, until, [&] { return question->is_answered; }))
    return Failure(ResolveTrouble::kTimeout);
  if (question->addresses.empty()) return Failure(ResolveTrouble::kNoAddress);
  return question->addresses;
}

}  // namespace respite
