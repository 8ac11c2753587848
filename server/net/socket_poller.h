// SocketPoller: waits for readiness of all client sockets together.
//
// Asio needs one system call per socket and read in order to wait. SocketPoller registers a socket once
// (level-triggered epoll), and one call finds all sockets that are ready. With pipelines of 16 requests this saves
// several percent of the CPU time of a request. EventLoop calls Serve in each turn, and WakeAsio before it waits in
// Asio.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/pace.h"

namespace asio {
class io_context;
}

namespace respite {

struct Transfer {  // the result of one attempt to move bytes over a stream on a socket
  enum class State : uint8_t {
    kMoved,   // some bytes
    kLater,   // none until the socket is ready again
    kEnded,   // the peer sends no more
    kFailed,  // the connection is broken; the stream knows why
  };
  State state;
  size_t bytes = 0;  // number of bytes moved
};

class SocketPoller {  // finds all sockets that are ready, with one call of epoll
 public:
  // A watcher may stop watching while Serve calls watchers. Once it has stopped, it may be destroyed.
  class Watcher {  // an interface that is told when its socket is ready
   public:
    virtual ~Watcher() = default;
    virtual void OnReadable() = 0;
    virtual void OnWritable() = 0;
    virtual bool MayTakeLong() const = 0;  // if the next call may, it gets a limited share of a turn
  };
  struct Interest {  // for which events a socket is watched
    bool read = false;
    bool write = false;  // the socket is, or must become, writable
    bool operator==(const Interest&) const = default;
    bool Any() const { return read || write; }
  };

  SocketPoller(asio::io_context& context, const Pace& pace);
  ~SocketPoller();

  // Changes the events that `watcher` is told about. An empty interest ends all events, including errors and hang-ups.
  // Otherwise an error or a hang-up counts as both readable and writable. Returns false if the system refuses more
  // sockets (fs.epoll.max_user_watches). Cost: one system call if the interest changes.
  bool ChangeInterest(int descriptor, Watcher& watcher, Interest from, Interest to);  // false: too many sockets

  // Serves the sockets that are ready now, without waiting. A watcher that is being served may call this again. Returns
  // how many sockets were served.
  int Serve();  // calls the watchers of ready sockets; returns how many sockets

  void WakeAsio();  // makes Asio's next wait end when a socket is ready

 private:
  struct Set;
  struct Round;
  static constexpr int kMaxEventsPerRound = 128;  // maximum number of events from one epoll_wait
  static constexpr int kMaxRoundsPerTurn = 8;     // maximum number of epoll_wait calls per turn
  static constexpr int kMaxServedPerTurn = 128;   // maximum number of sockets served per turn
  // The maximum time per turn for hang-ups and long calls. Further ones wait, so that thousands of them do not delay
  // other sockets. epoll reports them again, in order of arrival.
  static constexpr int64_t kMaxLongCallsUs = 250;  // maximum time per turn for long calls

  struct Share {                // how much of its share a turn has used
    int served = 0;             // number of sockets served
    int64_t long_calls_us = 0;  // time spent in long calls
  };

  bool ServeRound(Share& share);  // serves what is ready, adds it to `share`; false: this turn need not poll again
  static void Tell(const Round& round, size_t place);

  const Pace& pace_;
  std::unique_ptr<Set> set_;
  Round* round_ = nullptr;   // the round in progress
  bool wakes_asio_ = false;  // Asio waits for the epoll descriptor of set_
};

}  // namespace respite
