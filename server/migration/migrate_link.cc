#include "server/migration/migrate_link.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

#include "base/descriptor.h"
#include "server/net/tls/tls.h"
#include "server/net/tls/tls_stream.h"

namespace respite {

namespace {

using SteadyClock = std::chrono::steady_clock;

// Waits until the socket is ready for `wanted`. Returns false if it is not ready at the time `until`, or if waiting
// fails.
bool WaitFor(int descriptor, SocketPoller::Events wanted, SteadyClock::time_point until) {
  const auto events = static_cast<short>((wanted.readable ? POLLIN : 0) | (wanted.writable ? POLLOUT : 0));
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - SteadyClock::now()).count();
    pollfd waited{.fd = descriptor, .events = events, .revents = 0};
    const int ready = poll(&waited, 1, static_cast<int>(std::clamp<int64_t>(left, 0, 60'000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
    if (left <= 0) return false;
  }
}

SteadyClock::time_point After(int64_t timeout_ms) {
  constexpr int64_t kLongestMs = int64_t{1000} * 60 * 60 * 24 * 365;  // keeps the sum in range
  return SteadyClock::now() + std::chrono::milliseconds(std::min(timeout_ms, kLongestMs));
}

bool FinishConnecting(int descriptor, SteadyClock::time_point until) {
  if (!WaitFor(descriptor, {.writable = true}, until)) return false;
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

// Connects a new socket to the address, and returns it. Returns a closed Descriptor if that fails or is not done at the
// time `until`.
Descriptor ConnectTo(const HostAddress& address, SteadyClock::time_point until) {
  Descriptor socket(::socket(address.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.IsOpen()) return {};
  const bool connected =
      connect(socket.Get(), reinterpret_cast<const sockaddr*>(&address.address), address.size) == 0 ||
      (errno == EINPROGRESS && FinishConnecting(socket.Get(), until));
  if (!connected) return {};
  const int on = 1;
  setsockopt(socket.Get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

}  // namespace

Result<std::unique_ptr<MigrateLink>, ConnectError> MigrateLink::Connect(NameResolver& names, const std::string& host,
                                                                        const std::string& port, const Tls* tls,
                                                                        int64_t timeout_ms) {
  const auto until = After(timeout_ms);
  const auto addresses = names.Resolve(host, port, until);
  if (!addresses.ok()) {
    const bool is_late = addresses.error() == ResolveTrouble::kTimeout;
    return Failure(is_late ? ConnectError::kNoAnswer : ConnectError::kNoAddress);
  }
  for (const HostAddress& address : addresses.value()) {
    Descriptor connected = ConnectTo(address, until);
    if (!connected.IsOpen()) continue;
    std::unique_ptr<TlsStream> encryption = tls != nullptr ? tls->Connect(connected.Get()) : nullptr;
    if (tls != nullptr && encryption == nullptr) return Failure(ConnectError::kNoTls);
    std::unique_ptr<MigrateLink> link(new MigrateLink(ByteStream(std::move(connected), std::move(encryption))));
    if (link->FinishHandshake(timeout_ms)) return link;
    return Failure(ConnectError::kNoTls);
  }
  return Failure(ConnectError::kNoAnswer);
}

MigrateLink::~MigrateLink() { stream_.Close(); }

bool MigrateLink::FinishHandshake(int64_t timeout_ms) {
  const auto until = After(timeout_ms);
  while (stream_.InHandshake()) {
    const Transfer::State state = stream_.Handshake().state;
    if (state == Transfer::State::kMoved) break;
    if (state != Transfer::State::kLater) return false;
    if (!WaitFor(stream_.FileDescriptor(), stream_.EventsToAwait({.readable = true}), until)) return false;
  }
  return true;
}

bool MigrateLink::SendPiece(Bytes piece, int64_t timeout_ms) {
  const auto until = After(timeout_ms);
  while (!piece.empty()) {
    const Transfer sent = stream_.Send(piece);
    if (sent.state == Transfer::State::kMoved) {
      piece.remove_prefix(sent.bytes);
      continue;
    }
    if (sent.state != Transfer::State::kLater) return false;
    if (!WaitFor(stream_.FileDescriptor(), stream_.EventsToAwait({.writable = true}), until)) {
      has_timed_out_ = true;
      return false;
    }
  }
  return true;
}

bool MigrateLink::Send(Bytes request, int64_t timeout_ms) {
  constexpr size_t kPiece = 64 * 1024;
  has_timed_out_ = false;
  for (; !request.empty(); request.remove_prefix(std::min(kPiece, request.size())))
    if (!SendPiece(request.substr(0, kPiece), timeout_ms)) return false;
  return true;
}

std::optional<std::string> MigrateLink::ReadLine(int64_t timeout_ms) {
  constexpr size_t kLongestLine = 64 * 1024;  // a Redis server sends no longer lines
  const auto until = After(timeout_ms);
  has_timed_out_ = false;
  while (true) {
    const size_t end = received_.find('\n');
    if (end == std::string::npos && received_.size() > kLongestLine) return std::nullopt;
    if (end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      if (!line.empty() && line.back() == '\r') line.pop_back();
      return line;
    }
    std::array<char, 4096> piece;
    const Transfer got = stream_.Receive(piece);
    if (got.state == Transfer::State::kMoved) {
      received_.append(piece.data(), got.bytes);
      continue;
    }
    if (got.state != Transfer::State::kLater) return std::nullopt;
    if (!WaitFor(stream_.FileDescriptor(), stream_.EventsToAwait({.readable = true}), until)) {
      has_timed_out_ = true;
      return std::nullopt;
    }
  }
}

Result<MigrateLink*, ConnectError> MigrateLinks::Get(Bytes host, Bytes port, const Tls* tls, int64_t timeout_ms,
                                                     int64_t now_ms) {
  auto kept = links_.find(NameOf(host, port));
  if (kept == links_.end()) {
    auto link = MigrateLink::Connect(names_, std::string(host), std::string(port), tls, timeout_ms);
    if (!link) return Failure(link.error());
    if (links_.size() >= kMax) CloseLongestIdle();
    kept = links_.emplace(NameOf(host, port), std::move(link).value()).first;
  }
  kept->second->used_at_ms = now_ms;
  return kept->second.get();
}

void MigrateLinks::CloseLongestIdle() {
  links_.erase(std::min_element(links_.begin(), links_.end(), [](const auto& one, const auto& other) {
    return one.second->used_at_ms < other.second->used_at_ms;
  }));
}

void MigrateLinks::CloseIdleLinks(int64_t now_ms) {
  std::erase_if(links_, [&](const auto& link) { return now_ms - link.second->used_at_ms > kIdleMs; });
}

}  // namespace respite
