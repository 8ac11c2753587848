// SocketPoller: which client sockets are ready, for all of them at once.
//
// Asio arms a wait with one system call per socket and read. Here a socket is registered once and stays
// (level-triggered epoll); Asio waits for the epoll descriptor itself, with one call a Turn. At a pipeline of 16 that
// is several percent of the CPU of a request.
#pragma once

#include <cstdint>
#include <memory>

#include "base/pace.h"

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
    // What it does when it is told will probably take long, so that others should be told before.
    virtual bool TakesLong() const = 0;
  };
  struct Interest {
    bool read = false;
    bool write = false;
    bool operator==(const Interest&) const = default;
    bool Any() const { return read || write; }
  };

  SocketPoller(asio::io_context& context, const Pace& pace);
  ~SocketPoller();

  // Changes what `watcher` wants to hear of its socket. Nothing wanted: not even a hang-up is reported. Errors and
  // hang-ups count as both readable and writable. False when the system takes no more sockets
  // (fs.epoll.max_user_watches). Cost: one system call when there is a change.
  bool Change(int descriptor, Watcher& watcher, Interest from, Interest to);

  // Serves who is ready right now, in the middle of the round that is being served.
  void ServeBesides() { ServeTurn(); }

  // Whether a round was served since the last call; then the Turn should end, since the next round could follow at
  // once.
  bool TakeServed();

 private:
  struct Set;
  struct Round;
  static constexpr int kEventsPerRound = 128;
  static constexpr int kRoundsPerTurn = 8;
  static constexpr int kServedPerTurn = 128;
  // Those who hang up, or send much, together. When thousands do at once, the others do not wait for them: the system
  // reports in the order of arrival, and who is passed over is reported again.
  static constexpr int64_t kLongOnesUs = 250;

  // What a Turn has given so far.
  struct Share {
    int served = 0;
    int64_t long_ones_us = 0;  // for them
  };

  void Await();
  void ServeTurn();
  // Tells those who are ready. False when there is no need to look again in this Turn.
  bool ServeRound(Share& share);
  static void Tell(const Round& round, size_t place);

  const Pace& pace_;
  std::unique_ptr<Set> set_;
  Round* round_ = nullptr;  // that is being served
  bool served_ = false;
};

}  // namespace respite
