// SocketPoller: which client sockets are ready, for all of them at once.
//
// Asio arms a wait with one system call per socket and read. Here a socket is registered once and stays
// (level-triggered epoll); Asio waits for the epoll descriptor itself, with one call a Turn. At a pipeline of 16 that
// is several percent of the CPU of a request.
#pragma once

#include <cstdint>
#include <memory>

namespace asio {
class io_context;
}

namespace respite {

class SocketPoller {
 public:
  // Who is told. A watcher may stop watching, or be destroyed after it did, in the middle of a round.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    virtual void OnReadable() = 0;
    virtual void OnWritable() = 0;
  };
  struct Interest {
    bool read = false;
    bool write = false;
    bool operator==(const Interest&) const = default;
    bool Any() const { return read || write; }
  };

  explicit SocketPoller(asio::io_context& context);
  ~SocketPoller();

  // Changes what `watcher` wants to hear of its socket. Nothing wanted: not even a hang-up is reported. Errors and
  // hang-ups count as both readable and writable. False when the system takes no more sockets
  // (fs.epoll.max_user_watches). Cost: one system call when there is a change.
  bool Change(int descriptor, Watcher& watcher, Interest from, Interest to);

  // Serves who is ready right now, in the middle of the round that is being served.
  void ServeBesides() { ServeRound(); }

  // Whether a round was served since the last call; then the Turn should end, since the next round could follow at
  // once.
  bool TakeServed();

 private:
  struct Set;
  struct Round;
  static constexpr int kEventsPerRound = 128;
  static constexpr int kEventsPerTurn = 128;

  void Await();
  // Tells everybody who is ready; returns how many were.
  int ServeRound();

  std::unique_ptr<Set> set_;
  Round* round_ = nullptr;  // that is being served
  bool served_ = false;
};

}  // namespace respite
