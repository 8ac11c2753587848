#include "server/net/socket_poller.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <asio/io_context.hpp>
#include <asio/posix/basic_stream_descriptor.hpp>
#include <cstddef>
#include <memory>
#include <utility>

#include "server/net/direct_calls.h"

namespace respite {

namespace {

constexpr uint32_t kHungUp = EPOLLRDHUP | EPOLLHUP | EPOLLERR;

}  // namespace

// Memory for the one asynchronous wait that LetSocketsEndNextWait starts. Without it, Asio would allocate memory for
// each wait. Asio may destroy the wait later than the SocketPoller is destroyed. So the later of the two frees the
// memory.
struct SocketPoller::WaitMemory {
  static constexpr size_t kBytes = 256;
  alignas(std::max_align_t) std::array<std::byte, kBytes> bytes;
  bool is_used = false;   // Asio has the operation
  bool is_needed = true;  // the SocketPoller exists
};

template <class T>
struct SocketPoller::WaitAllocator {  // allocates from a WaitMemory, or from the heap if that is in use or too small
  using value_type = T;
  explicit WaitAllocator(WaitMemory* wait_memory) : memory(wait_memory) {}
  template <class Other>
  WaitAllocator(const WaitAllocator<Other>& other) : memory(other.memory) {}
  template <class Other>
  bool operator==(const WaitAllocator<Other>& other) const {
    return memory == other.memory;
  }

  T* allocate(size_t count) {
    if (memory->is_used || count * sizeof(T) > WaitMemory::kBytes) return std::allocator<T>().allocate(count);
    memory->is_used = true;
    return reinterpret_cast<T*>(memory->bytes.data());
  }
  void deallocate(T* at, size_t count) {
    if (reinterpret_cast<std::byte*>(at) != memory->bytes.data()) return std::allocator<T>().deallocate(at, count);
    memory->is_used = false;
    if (!memory->is_needed) delete memory;
  }

  WaitMemory* memory;
};

// The epoll set, as a descriptor of Asio. Its executor type is named, because Asio's default executor, which can hold
// an executor of any type, costs more.
struct SocketPoller::Set {
  using Executor = asio::io_context::executor_type;
  explicit Set(asio::io_context& context) : descriptor(context, epoll_create1(EPOLL_CLOEXEC)) {}
  ~Set() {
    memory->is_needed = false;
    if (!memory->is_used) delete memory;
  }
  WaitMemory* memory = new WaitMemory;  // freed by the destructor, or when Asio destroys the operation
  asio::posix::basic_stream_descriptor<Executor> descriptor;
};

struct SocketPoller::WaitHandler {  // called by Asio when a watched socket is ready
  using allocator_type = WaitAllocator<std::byte>;
  // Must not use `poller`: Asio also calls this function to destroy an operation after the SocketPoller was destroyed.
  allocator_type get_allocator() const noexcept { return allocator_type(memory); }
  void operator()(const asio::error_code& error) const {
    if (!error) poller->wakes_asio_ = false;
  }
  SocketPoller* poller;
  WaitMemory* memory;
};

struct SocketPoller::Round {
  std::array<epoll_event, kMaxEventsPerRound> events;
  std::array<Watcher*, kMaxEventsPerRound> watchers;  // null: stopped watching
  size_t size = 0;
  Round* outer;  // the round that ServeDuringLongTask interrupted
};

SocketPoller::SocketPoller(asio::io_context& context, const RealClock& real_clock)
    : real_clock_(real_clock), set_(std::make_unique<Set>(context)) {}

SocketPoller::~SocketPoller() = default;

bool SocketPoller::ChangeEvents(int descriptor, Watcher& watcher, Events from, Events to) {
  if (from == to) return true;
  if (watcher.put_off_events_ != 0) {
    // A put-off call keeps its place if it is still wanted. Otherwise epoll reports again what is wanted.
    const uint32_t left = watcher.put_off_events_ & ~(to.writable ? 0u : uint32_t{EPOLLOUT});
    if (to.readable && left != 0) {
      watcher.put_off_events_ = left;
    } else {
      TakeOutPutOff(watcher);
    }
  }
  epoll_event event{};
  event.events = (to.readable ? uint32_t{EPOLLIN} | EPOLLRDHUP : 0u) | (to.writable ? uint32_t{EPOLLOUT} : 0u);
  event.data.ptr = &watcher;
  int operation = !to.Any() ? EPOLL_CTL_DEL : from.Any() ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (epoll_ctl(set_->descriptor.native_handle(), operation, descriptor, &event) != 0) return false;
  for (Round* round = to.Any() ? nullptr : round_; round != nullptr; round = round->outer) {
    std::replace(round->watchers.begin(), round->watchers.begin() + round->size, &watcher,
                 static_cast<Watcher*>(nullptr));
  }
  return true;
}

void SocketPoller::LetSocketsEndNextWait() {
  if (std::exchange(wakes_asio_, true)) return;
  set_->descriptor.async_wait(asio::posix::descriptor_base::wait_read, WaitHandler{this, set_->memory});
}

// Calls the watchers of ready sockets, and returns how many were called. Looks up to kMaxRounds times for ready
// sockets, because others become ready meanwhile: a turn of the event loop has fixed costs, so a turn should serve many
// sockets.
int SocketPoller::Serve() {
  Usage usage;
  if (!put_off_.empty()) ServePutOff(usage);
  for (int rounds = 0; rounds < kMaxRounds && usage.served < kMaxServed; ++rounds) {
    if (!ServeRound(usage)) break;
  }
  return usage.served;
}

void SocketPoller::ServePutOff(Usage& usage) {
  for (size_t left = put_off_.size(); left > 0 && !put_off_.empty() && usage.long_calls_us < kMaxLongCallsUs; --left) {
    Round round;
    round.size = 1;
    round.watchers[0] = put_off_.front();
    round.events[0].events = put_off_.front()->put_off_events_;
    TakeOutPutOff(*put_off_.front());
    round.outer = std::exchange(round_, &round);
    const int64_t started_us = real_clock_.NowUs();
    CallWatcher(round, 0);
    usage.long_calls_us += real_clock_.NowUs() - started_us;
    ++usage.served;
    round_ = round.outer;
  }
}

bool SocketPoller::ServeRound(Usage& usage) {
  Round round;
  const int ready = direct::WaitForEvents(set_->descriptor.native_handle(), round.events.data(), kMaxEventsPerRound, 0);
  round.size = static_cast<size_t>(std::max(ready, 0));
  round.outer = std::exchange(round_, &round);
  for (size_t i = 0; i < round.size; ++i) round.watchers[i] = static_cast<Watcher*>(round.events[i].data.ptr);
  const int served_before = usage.served;
  for (size_t i = 0; i < round.size; ++i) {
    Watcher* const watcher = round.watchers[i];
    if (watcher == nullptr || watcher->put_off_events_ != 0) continue;
    const bool takes_long = (round.events[i].events & kHungUp) != 0 || watcher->MayTakeLong();
    if (takes_long && usage.long_calls_us >= kMaxLongCallsUs) {
      watcher->put_off_events_ = round.events[i].events;
      watcher->put_off_at_ = put_off_.insert(put_off_.end(), watcher);
      continue;
    }
    const int64_t started_us = takes_long ? real_clock_.NowUs() : 0;
    CallWatcher(round, i);
    if (takes_long) usage.long_calls_us += real_clock_.NowUs() - started_us;
    ++usage.served;
  }
  round_ = round.outer;
  // A single ready socket may belong to a client that waits for each reply: then no other socket is ready yet. If no
  // socket was served because all calls were put off, the next round would find the same sockets.
  return round.size > 1 && (round.size == kMaxEventsPerRound || usage.served > served_before);
}

void SocketPoller::CallWatcher(const Round& round, size_t place) {
  const uint32_t events = round.events[place].events;
  const bool broken = (events & (EPOLLERR | EPOLLHUP)) != 0;
  if (round.watchers[place] != nullptr && (broken || (events & EPOLLIN) != 0)) round.watchers[place]->OnReadable();
  // Looks at the watcher again, because OnReadable may have ended the watch of this socket.
  if (round.watchers[place] != nullptr && (broken || (events & EPOLLOUT) != 0)) round.watchers[place]->OnWritable();
}

}  // namespace respite
