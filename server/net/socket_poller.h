// SocketPoller: finds out with one system call which of all sockets of clients and links are ready.
//
// To wait for a socket, Asio needs a system call for each read. SocketPoller registers a socket once (level-triggered
// epoll), and one call finds all sockets that are ready. With pipelines of 16 requests this saves several percent of
// the CPU time of a request. EventLoop calls Serve in each turn. Before it waits in Asio, it calls
// LetSocketsEndNextWait, so that a ready socket also ends this wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <utility>

#include "base/real_clock.h"

namespace asio {
class io_context;
}

namespace respite {

struct Transfer {  // the result of one call that receives or sends
  enum class State : uint8_t {
    kMoved,   // some bytes were transferred, or the TLS handshake has ended
    kLater,   // no bytes were transferred; try again when the socket is ready
    kEnded,   // the peer sends no more
    kFailed,  // the connection is broken; the stream knows why
  };
  State state;       // whether bytes were transferred, or why not
  size_t bytes = 0;  // number of transferred bytes
};

class SocketPoller {  // finds many ready sockets with one system call (epoll), and calls their watchers
 public:
  // A watcher may stop watching while Serve calls watchers. Once it has stopped, it may be destroyed.
  class Watcher {  // an interface: SocketPoller calls the watcher of each socket that is ready
   public:
    virtual ~Watcher() = default;
    virtual void OnReadable() = 0;         // called when the socket has input, has ended or is broken
    virtual void OnWritable() = 0;         // called when the socket takes output, or is broken
    virtual bool MayTakeLong() const = 0;  // true: the next OnReadable may take long: kMaxLongCallsUs limits these

   private:
    friend class SocketPoller;
    uint32_t put_off_events_ = 0;               // what epoll reported when the call was put off; 0: it is not put off
    std::list<Watcher*>::iterator put_off_at_;  // where the watcher is in put_off_, if its call is put off
  };
  struct Events {           // socket events that are wanted, or that have occurred
    bool readable = false;  // the socket has input (or, if wanted: wait for input)
    bool writable = false;  // the socket takes output (or, if wanted: wait for that)
    bool operator==(const Events&) const = default;
    bool Any() const { return readable || writable; }  // true: there is an event to watch for
  };

  SocketPoller(asio::io_context& context, const RealClock& real_clock);
  ~SocketPoller();

  // Changes the events that `watcher` is told about. `from` must be the events that were set before (at first none). An
  // empty `to` ends all events, including errors and hang-ups. Otherwise an error or a hang-up counts as both readable
  // and writable. Returns false if the system refuses more sockets (fs.epoll.max_user_watches). Cost: one system call
  // if the events change.
  bool ChangeEvents(int descriptor, Watcher& watcher,  // sets the socket events to watch; false: refused
                    Events from, Events to);

  // Calls watchers without waiting for sockets. A watcher may call Serve again. One call ends after kMaxRounds rounds,
  // or after the round in which kMaxServed sockets were reached. It begins no more long calls after kMaxLongCallsUs.
  // The ready sockets that are left wait for the next call, which begins with the long calls that have waited longest.
  int Serve();  // calls the watchers of sockets that are ready; returns how many

  void LetSocketsEndNextWait();  // call before each wait in Asio, so that a ready watched socket also ends this wait

 private:
  struct WaitMemory;  // memory for the operation of Asio that waits
  template <class T>
  struct WaitAllocator;                           // allocates from a WaitMemory
  struct WaitHandler;                             // called when Asio finds a watched socket ready
  struct Set;                                     // the epoll set
  struct Round;                                   // the sockets that one epoll_wait has found
  static constexpr int kMaxEventsPerRound = 128;  // maximum number of ready sockets per epoll_wait
  static constexpr int kMaxRounds = 8;            // maximum number of calls of epoll_wait per call of Serve
  static constexpr int kMaxServed = 128;          // after this number of sockets, Serve calls epoll_wait no more
  // The time in µs for long calls in one turn. A call of a watcher is long if its MayTakeLong returns true, or if the
  // socket was hung up. After this time, further long calls wait for a later turn, so that thousands of them do not
  // delay other sockets. They wait in put_off_: epoll reports the ready sockets of each turn in the same order, so
  // without this queue one socket that always has much input could keep all others from being served.
  static constexpr int64_t kMaxLongCallsUs = 250;  // µs for long calls in a turn; further ones wait for a later turn

  struct Usage {                // what one call of Serve has used up of its limits
    int served = 0;             // how many sockets this call of Serve has served
    int64_t long_calls_us = 0;  // µs that long calls have taken
  };

  void ServePutOff(Usage& usage);         // makes long calls that were put off, for kMaxLongCallsUs
  bool ServeRound(Usage& usage);          // one epoll_wait, then the watchers; false: no further round is useful now
  void TakeOutPutOff(Watcher& watcher) {  // takes the watcher out of put_off_
    watcher.put_off_events_ = 0;
    put_off_.erase(watcher.put_off_at_);
  }
  static void CallWatcher(const Round& round, size_t place);  // calls the watcher of one ready socket

  const RealClock& real_clock_;  // the clock of real elapsed time
  std::unique_ptr<Set> set_;     // the epoll set of all watched sockets
  Round* round_ = nullptr;       // the sockets whose watchers are being called now; null: Serve does not run
  std::list<Watcher*> put_off_;  // the watchers whose long calls wait for a later turn, the oldest first
  bool wakes_asio_ = false;      // true: a wait in Asio that LetSocketsEndNextWait has started is pending
};

}  // namespace respite
