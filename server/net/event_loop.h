// EventLoop: a thread's one loop, on an Asio io_context. A Turn is: wait for events, handle those that are ready, end
// the Turn for each participant to whom something happened (journal, then replies).
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
  // Who lives on the loop: each server is one.
  class Participant {
   public:
    virtual ~Participant() = default;
    // Something happened to it in this Turn, which is over; the Turn took so long.
    virtual void EndTurn(int64_t turn_us) = 0;
    // The same in the middle of a Turn, when clients are served besides.
    virtual void EndTurnDuringLongTask() = 0;

   private:
    friend class EventLoop;
    bool is_active_ = false;  // stands in EventLoop::active_
  };

  explicit EventLoop(const Pace& pace);
  ~EventLoop();

  // Runs until Stop. Returns the exit code.
  int Run();
  void Stop(int exit_code);

  // Something happens to this participant: its Turn is to be ended. Cost: a compare, mostly.
  void Enter(Participant& participant) {
    if (participant.is_active_) return;
    participant.is_active_ = true;
    active_.push_back(&participant);
  }
  // Runs `task` for the participant (null: for nobody) as soon as the loop is free again, in another Turn.
  void Post(Participant* participant, std::function<void()> task);
  // The same for nobody, from any thread. The task never runs if the loop has stopped.
  void PostFromOutside(std::function<void()> task);
  // Runs `task` for nobody, once, in so many ms.
  void After(int64_t delay_ms, std::function<void()> task);
  // The participant goes: what was posted for it runs now, and what that posts.
  void Leave(Participant& participant);
  // Serves clients in the middle of the Turn, since somebody takes so long. False: the loop shall stop.
  bool ServeDuringLongTask();

  // Calls `handler` once, from within the first Stop: before any connection closes because of it.
  void OnStop(std::function<void()> handler) { withdraw_ = std::move(handler); }

  // Calls `handler` once, in a Turn, when this descriptor (not ours to close) has something to read.
  void OnReadable(int descriptor, std::function<void()> handler);

  asio::io_context& Context();
  const Pace& pace() const { return pace_; }
  SocketPoller& poller() { return poller_; }
  // Steps of TLS handshakes.
  WorkQueue& handshakes() { return handshakes_; }
  // Sockets to be closed. Their sessions are gone already.
  WorkQueue& closings() { return closings_; }
  // Where a connection reads when nothing of its input is pending. One for all: it is empty between two handlers.
  std::span<char> Scratch() { return scratch_; }

 private:
  struct Asio;
  struct Task {
    Participant* participant;
    std::function<void()> run;
  };

  // Handles what is ready; waits for something first if nothing is likely to be. Returns when the Turn's handling
  // began.
  int64_t HandleEvents();
  // Runs handlers of Asio that are ready: timers, new connections, tasks. False if there was none.
  bool RunHandlers(int most);
  void ServeLines();
  void EndTurn(int64_t turn_us);
  // Tasks that were posted are due from now on.
  void StartTasks();
  void RunNextTask();

  const Pace& pace_;
  std::unique_ptr<Asio> asio_;
  SocketPoller poller_;
  WorkQueue handshakes_;
  WorkQueue closings_;
  std::vector<Participant*> active_;  // their Turn is to be ended; null: it was, or the participant left
  std::vector<Task> posted_;          // for the next Turn; may own connections, so they go before asio_
  std::deque<Task> due_;              // one call of RunNextTask is under way for each
  bool is_busy_ = false;              // sockets are likely to be ready again, since the last Turn served some
  int64_t handlers_ran_us_ = 0;       // when Asio last had its turn
  int besides_ = 0;                   // calls of ServeDuringLongTask that are under way
  size_t put_off_ = 0;                // calls of RunNextTask that came meanwhile; they come again behind the Turn
  std::vector<char> scratch_;
  std::vector<std::vector<char>> spare_scratches_;  // for ServeDuringLongTask
  std::function<void()> withdraw_;
  bool running_ = false;
  bool stopped_ = false;
  int exit_code_ = 0;
};

}  // namespace respite
