#include "server/socket_poller.h"

#include <sys/epoll.h>

#include <algorithm>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <utility>

namespace respite {

struct SocketPoller::Set {
  explicit Set(asio::io_context& context) : descriptor(context, epoll_create1(EPOLL_CLOEXEC)) {}
  asio::posix::stream_descriptor descriptor;
  std::array<epoll_event, kEventsPerRound> events{};
};

SocketPoller::SocketPoller(asio::io_context& context) : set_(std::make_unique<Set>(context)) { Await(); }

SocketPoller::~SocketPoller() = default;

bool SocketPoller::Change(int descriptor, Watcher& watcher, Interest from, Interest to) {
  if (from == to) return true;
  epoll_event event{};
  event.events = (to.read ? uint32_t{EPOLLIN} : 0u) | (to.write ? uint32_t{EPOLLOUT} : 0u);
  event.data.ptr = &watcher;
  int operation = !to.Any() ? EPOLL_CTL_DEL : from.Any() ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (epoll_ctl(set_->descriptor.native_handle(), operation, descriptor, &event) != 0) return false;
  if (!to.Any()) std::replace(round_.begin(), round_.begin() + round_size_, &watcher, static_cast<Watcher*>(nullptr));
  return true;
}

bool SocketPoller::TakeServed() { return std::exchange(served_, false); }

void SocketPoller::Await() {
  set_->descriptor.async_wait(asio::posix::stream_descriptor::wait_read, [this](const asio::error_code& error) {
    if (error) return;
    // While a round was served others became ready: the more are served in one Turn, the less each pays for it.
    int served = 0;
    for (int ready = ServeRound(); ready > 0 && (served += ready) < kEventsPerTurn;) ready = ServeRound();
    served_ = true;
    Await();
  });
}

int SocketPoller::ServeRound() {
  int ready = epoll_wait(set_->descriptor.native_handle(), set_->events.data(), kEventsPerRound, 0);
  round_size_ = std::max(ready, 0);
  for (size_t i = 0; i < static_cast<size_t>(round_size_); ++i) {
    round_[i] = static_cast<Watcher*>(set_->events[i].data.ptr);
  }
  for (size_t i = 0; i < static_cast<size_t>(round_size_); ++i) {
    uint32_t events = set_->events[i].events;
    bool broken = (events & (EPOLLERR | EPOLLHUP)) != 0;
    if (round_[i] != nullptr && (broken || (events & EPOLLIN) != 0)) round_[i]->OnReadable();
    // What was read may have ended the watch.
    if (round_[i] != nullptr && (broken || (events & EPOLLOUT) != 0)) round_[i]->OnWritable();
  }
  round_size_ = 0;
  return ready;
}

}  // namespace respite
