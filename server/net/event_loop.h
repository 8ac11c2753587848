// EventLoop: the event loop of a thread, on an Asio io_context. One iteration is called a turn: it waits for events,
// handles those that are ready, and ends the turn of each participant that had events (journal, then replies).
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
  // Steps of TLS handshakes.
  WorkQueue& handshakes() { return handshakes_; }
  // Sockets that must be closed. Their sessions do not exist any more.
  WorkQueue& closings() { return closings_; }
  // Buffer for reads of a connection without pending input. All share it, because it is empty between two handlers.
  std::span<char> Scratch() { return scratch_; }

 private:
  struct Asio;
  struct Task {
    Participant* participant;
    std::function<void()> run;
  };

  // Handles the ready events; waits for one first if none is likely. Returns the time at which the handling began.
  int64_t HandleEvents();
  // Runs ready handlers of Asio: timers, new connections, tasks. Returns false if there was none.
  bool RunHandlers(int most);
  void ServeLines();
  void EndTurn(int64_t turn_us);
  // Makes the posted tasks due.
  void StartTasks();
  void RunNextTask();

  const Pace& pace_;
  std::unique_ptr<Asio> asio_;
  SocketPoller poller_;
  WorkQueue handshakes_;
  WorkQueue closings_;
  std::vector<Participant*> active_;  // participants with events; null: the turn was ended, or the participant left
  std::vector<Task> posted_;          // for the next turn; may own connections, so they go before asio_
  std::deque<Task> due_;              // one call of RunNextTask is queued for each
  bool is_busy_ = false;              // sockets are likely to be ready again, because the last turn served some
  int64_t handlers_ran_us_ = 0;       // when handlers of Asio last ran
  int long_tasks_ = 0;                // nested calls of ServeDuringLongTask
  size_t put_off_ = 0;                // calls of RunNextTask during those; repeated after the turn
  std::vector<char> scratch_;
  std::vector<std::vector<char>> spare_scratches_;  // for ServeDuringLongTask
  std::function<void()> withdraw_;
  bool running_ = false;
  bool stopped_ = false;
  int exit_code_ = 0;
};

}  // namespace respite
