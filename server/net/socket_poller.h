// SocketPoller: waits for readiness of all client sockets together.
//
// To wait for a socket, Asio needs a system call for each read. SocketPoller registers a socket once (level-triggered
// epoll), and one call finds all sockets that are ready. With pipelines of 16 requests this saves several percent of
// the CPU time of a request. EventLoop calls Serve in each turn, and WakeAsio before it waits in Asio.
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

struct Transfer {  // the result of one attempt to receive or send on a stream
  enum class State : uint8_t {
    kMoved,   // some bytes
    kLater,   // none until the socket is ready again
    kEnded,   // the peer sends no more
    kFailed,  // the connection is broken; the stream knows why
  };
  State state;       // whether bytes moved, and if not, why
  size_t bytes = 0;  // number of bytes moved
};

class SocketPoller {  // finds all sockets that are ready, with one call of epoll
 public:
  // A watcher may stop watching while Serve calls watchers. Once it has stopped, it may be destroyed.
  class Watcher {  // an interface that SocketPoller calls when a watched socket is ready
   public:
    virtual ~Watcher() = default;
    virtual void OnReadable() = 0;         // the socket has input, has ended or is broken
    virtual void OnWritable() = 0;         // the socket takes output, or is broken
    virtual bool MayTakeLong() const = 0;  // true: the next call may take long, so a turn limits such calls
  };
  struct Interest {      // for which events a socket is watched
    bool read = false;   // the socket has, or must get, input
    bool write = false;  // the socket is, or must become, writable
    bool operator==(const Interest&) const = default;
    bool Any() const { return read || write; }  // true: there is an event to watch for
  };

  SocketPoller(asio::io_context& context, const Pace& pace);
  ~SocketPoller();

  // Changes the events that `watcher` is told about. An empty interest ends all events, including errors and hang-ups.
  // Otherwise an error or a hang-up counts as both readable and writable. Returns false if the system refuses more
  // sockets (fs.epoll.max_user_watches). Cost: one system call if the interest changes.
  bool ChangeInterest(int descriptor, Watcher& watcher, Interest from, Interest to);  // sets the events; false: refused

  // Calls the watchers of the sockets that are ready now, without waiting. A watcher may call Serve again while it is
  // called. Returns how many sockets were served.
  int Serve();  // calls the watchers of sockets that are ready now; returns how many

  void WakeAsio();  // makes Asio's next wait end when a watched socket is ready

 private:
  struct WaitHandler;                             // called when Asio finds a watched socket ready
  struct Set;                                     // the epoll set
  struct Round;                                   // the sockets that one epoll_wait has found
  static constexpr int kMaxEventsPerRound = 128;  // maximum number of events from one epoll_wait
  static constexpr int kMaxRoundsPerTurn = 8;     // maximum number of epoll_wait calls per turn
  static constexpr int kMaxServedPerTurn = 128;   // once this many were served, no new epoll_wait in this turn
  // The maximum time per turn for hang-ups and long calls, in microseconds. Further such calls wait for a later turn,
  // so that thousands of them do not delay other sockets. epoll reports their sockets again, in order of arrival.
  static constexpr int64_t kMaxLongCallsUs = 250;  // after this time, further long calls wait for the next turn

  struct Usage {                // what one call of Serve has used so far
    int served = 0;             // sockets served by this call of Serve
    int64_t long_calls_us = 0;  // time spent in hang-ups and long calls
  };

  bool ServeRound(Usage& usage);  // one epoll_wait and its calls; false: this turn need not poll again
  static void CallWatcher(const Round& round, size_t place);  // calls one watcher of the round

  const Pace& pace_;          // the clock of real elapsed time
  std::unique_ptr<Set> set_;  // the epoll set of all watched sockets
  Round* round_ = nullptr;    // the round in progress; null: none
  bool wakes_asio_ = false;   // true: Asio ends its wait when set_ has ready sockets
};

}  // namespace respite
