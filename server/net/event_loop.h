// EventLoop: the event loop of a thread. One iteration is called a turn:
//
//   1. Waits in Asio, if nothing is known to be ready. Asio wakes for timers, new connections, connections to other
//      servers, tasks of other threads, and (through SocketPoller) clients' sockets.
//   2. Serves the clients' sockets that are ready (SocketPoller::Serve).
//   3. Runs tasks that were posted in the turn before, and ready handlers of Asio, at most kHandlersPerTurn of each.
//   4. Takes a share of the TLS handshakes and of the sockets that must be closed.
//   5. Ends the turn of each participant that had events: the journal is written, then replies are sent.
//
// A busy loop skips step 1, and looks for handlers of Asio in step 3 only every kHandlersEveryUs, because each look is
// a system call. A turn ends even if new events keep coming, because steps 2 to 4 have limits; what is left waits for
// the next turn. A posted task runs in the next turn, so a task that posts itself again and again delays no reply.
//
// ServeDuringLongTask runs steps 2 and 4, and the handlers of step 3, inside a turn. Posted tasks wait, because they
// may free a client or change data that the interrupted turn uses.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/pace.h"
#include "server/net/socket_poller.h"
#include "server/net/work_queue.h"

namespace asio {
class io_context;
}

namespace respite {

class EventLoop {
 public:
  // A user of the loop; each server is one.
  class Participant {
   public:
    virtual ~Participant() = default;
    // Called after a turn in which this participant had events. `turn_us`: how long the turn took.
    virtual void EndTurn(int64_t turn_us) = 0;
    // Called in the middle of a long turn, when other clients are served.
    virtual void EndTurnDuringLongTask() = 0;

   private:
    friend class EventLoop;
    bool is_active_ = false;  // is listed in EventLoop::active_
  };

  explicit EventLoop(const Pace& pace);
  ~EventLoop();

  // Runs until Stop. Returns the exit code.
  int Run();
  void Stop(int exit_code);

  // Records that the participant has events, so its turn must be ended. Cost: usually one comparison.
  void Enter(Participant& participant) {
    if (participant.is_active_) return;
    participant.is_active_ = true;
    active_.push_back(&participant);
  }
  // Runs `task` for the participant (null: for none) in a later turn, as soon as the loop is free.
  void Post(Participant* participant, std::function<void()> task);
  // Runs `task` for no participant. May be called by any thread. The task never runs if the loop has stopped.
  void PostFromOutside(std::function<void()> task);
  // Runs `task` once after the delay, for no participant.
  void After(int64_t delay_ms, std::function<void()> task);
  // Removes the participant. Tasks that were posted for it run now, and also the tasks that they post for it.
  void Leave(Participant& participant);
  // Serves other clients in the middle of a turn that takes long. Returns false if the loop must stop.
  bool ServeDuringLongTask();

  // Calls `handler` once, inside the first Stop, before any connection closes because of it.
  void OnStop(std::function<void()> handler) { withdraw_ = std::move(handler); }

  // Calls `handler` once, in a turn, when the descriptor is readable. The caller keeps the descriptor.
  void OnReadable(int descriptor, std::function<void()> handler);

  asio::io_context& Context();
  const Pace& pace() const { return pace_; }
  SocketPoller& poller() { return poller_; }
  // Returns the queue of steps of TLS handshakes.
  WorkQueue& handshakes() { return handshakes_; }
  // Returns the queue of sockets that must be closed. Their sessions do not exist any more.
  WorkQueue& closings() { return closings_; }
  // Returns the buffer for reads of connections without pending input. All connections share it, because it is empty
  // between two handlers.
  std::span<char> Scratch() { return scratch_; }

 private:
  struct Asio;
  struct Task {
    Participant* participant;
    std::function<void()> run;
  };

  // Steps 1 to 3. Returns the time at which step 2 began.
  int64_t HandleEvents();
  void RunTasks();
  // Runs ready handlers of Asio.
  void RunHandlers();
  void ServeQueues();
  void EndTurn(int64_t turn_us);
  void MakePostedDue();

  const Pace& pace_;
  std::unique_ptr<Asio> asio_;
  SocketPoller poller_;
  WorkQueue handshakes_;
  WorkQueue closings_;
  std::vector<Participant*> active_;  // participants with events; null: the turn was ended, or the participant left
  std::vector<Task> posted_;          // for the next turn; may own connections, so they go before asio_
  std::deque<Task> due_;              // for this turn
  bool is_busy_ = false;              // sockets are likely to be ready again, because the last turn served some
  int64_t handlers_ran_us_ = 0;       // when handlers of Asio last ran
  std::vector<char> scratch_;
  std::vector<std::vector<char>> spare_scratches_;  // for ServeDuringLongTask
  std::function<void()> withdraw_;
  bool running_ = false;
  bool stopped_ = false;
  int exit_code_ = 0;
};

}  // namespace respite
