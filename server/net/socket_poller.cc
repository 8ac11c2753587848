#include "server/net/socket_poller.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <utility>

namespace respite {

namespace {

constexpr uint32_t kHungUp = EPOLLRDHUP | EPOLLHUP | EPOLLERR;

}  // namespace

struct SocketPoller::Set {
  explicit Set(asio::io_context& context) : descriptor(context, epoll_create1(EPOLL_CLOEXEC)) {}
  asio::posix::stream_descriptor descriptor;
};

struct SocketPoller::Round {
  std::array<epoll_event, kMaxEventsPerRound> events;
  std::array<Watcher*, kMaxEventsPerRound> watchers;  // null: stopped watching
  size_t size = 0;
  Round* outer;  // the round that ServeDuringLongTask interrupted
};

SocketPoller::SocketPoller(asio::io_context& context, const Pace& pace)
    : pace_(pace), set_(std::make_unique<Set>(context)) {}

SocketPoller::~SocketPoller() = default;

bool SocketPoller::ChangeInterest(int descriptor, Watcher& watcher, Interest from, Interest to) {
  if (from == to) return true;
  epoll_event event{};
  event.events = (to.read ? uint32_t{EPOLLIN} | EPOLLRDHUP : 0u) | (to.write ? uint32_t{EPOLLOUT} : 0u);
  event.data.ptr = &watcher;
  int operation = !to.Any() ? EPOLL_CTL_DEL : from.Any() ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (epoll_ctl(set_->descriptor.native_handle(), operation, descriptor, &event) != 0) return false;
  for (Round* round = to.Any() ? nullptr : round_; round != nullptr; round = round->outer) {
    std::replace(round->watchers.begin(), round->watchers.begin() + round->size, &watcher,
                 static_cast<Watcher*>(nullptr));
  }
  return true;
}

void SocketPoller::WakeAsio() {
  if (std::exchange(wakes_asio_, true)) return;
  set_->descriptor.async_wait(asio::posix::stream_descriptor::wait_read, [this](const asio::error_code& error) {
    if (!error) wakes_asio_ = false;
  });
}

// Serves ready sockets in several rounds, because other sockets become ready during a round. The more sockets a turn
// serves, the smaller is the cost of the turn for each socket.
int SocketPoller::Serve() {
  Usage usage;
  for (int rounds = 0; rounds < kMaxRoundsPerTurn && usage.served < kMaxServedPerTurn; ++rounds) {
    if (!ServeRound(usage)) break;
  }
  return usage.served;
}

bool SocketPoller::ServeRound(Usage& usage) {
  Round round;
  const int ready = epoll_wait(set_->descriptor.native_handle(), round.events.data(), kMaxEventsPerRound, 0);
  round.size = static_cast<size_t>(std::max(ready, 0));
  round.outer = std::exchange(round_, &round);
  for (size_t i = 0; i < round.size; ++i) round.watchers[i] = static_cast<Watcher*>(round.events[i].data.ptr);
  const int served_before = usage.served;
  for (size_t i = 0; i < round.size; ++i) {
    if (round.watchers[i] == nullptr) continue;
    const bool takes_long = (round.events[i].events & kHungUp) != 0 || round.watchers[i]->MayTakeLong();
    if (takes_long && usage.long_calls_us >= kMaxLongCallsUs) continue;
    const int64_t started_us = takes_long ? pace_.NowUs() : 0;
    CallWatcher(round, i);
    if (takes_long) usage.long_calls_us += pace_.NowUs() - started_us;
    ++usage.served;
  }
  round_ = round.outer;
  return round.size == kMaxEventsPerRound || usage.served > served_before;
}

void SocketPoller::CallWatcher(const Round& round, size_t place) {
  const uint32_t events = round.events[place].events;
  const bool broken = (events & (EPOLLERR | EPOLLHUP)) != 0;
  if (round.watchers[place] != nullptr && (broken || (events & EPOLLIN) != 0)) round.watchers[place]->OnReadable();
  // OnReadable may have ended the watch of this socket.
  if (round.watchers[place] != nullptr && (broken || (events & EPOLLOUT) != 0)) round.watchers[place]->OnWritable();
}

}  // namespace respite
