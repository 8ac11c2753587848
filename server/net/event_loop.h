// EventLoop: the event loop of a thread. One iteration is called a turn:
//
//   1. Waits in Asio, if nothing is known to be ready. Asio wakes for timers, new clients, name look-ups, tasks of
//      other threads, and (through SocketPoller) the sockets of clients and links.
//   2. Serves the sockets of clients and links that are ready (SocketPoller::Serve).
//   3. Runs tasks that were posted in earlier turns, and ready handlers of Asio, at most kHandlersPerTurn of each.
//   4. Continues some TLS handshakes, and closes some of the sockets that must be closed.
//   5. Ends the turn of each participant that had events: the append-only file is written, then replies are sent.
//
// A busy loop skips step 1, and looks for handlers of Asio in step 3 only every kHandlersEveryUs, because each look is
// a system call. For the same reason it does not look for them after a wait that sockets have ended. A turn ends even
// if new events keep coming, because steps 2 to 4 have limits; what is left waits for the next turn. A posted task runs
// in a later turn, so a task that posts itself again and again delays no reply.
//
// ServeDuringLongTask runs steps 2 and 4, and the handlers of step 3, inside a turn. Then participants send replies
// (EndTurnDuringLongTask). Posted tasks wait, because they may free a client or change data that the interrupted turn
// uses, except those that the participant with the long task has posted with InLongTask::kRuns. Until Run is called,
// all posted tasks run.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/real_clock.h"
#include "server/net/socket_poller.h"
#include "server/net/work_queue.h"

namespace asio {
class io_context;
}

namespace respite {

class EventLoop {  // the event loop of a thread; serves sockets, timers and tasks in turns (iterations)
 public:
  class Participant {  // an interface: a user of the loop, such as a server
   public:
    virtual ~Participant() = default;
    // Called at the end of a turn in which this participant had events. `turn_us`: how long the turn has taken so far,
    // in microseconds, without the time in which the loop waited for events.
    virtual void EndTurn(int64_t turn_us) = 0;  // called after a turn in which this participant had events
    virtual void EndTurnDuringLongTask() = 0;   // called inside a turn with a long task, to send replies that wait

   private:
    friend class EventLoop;
    bool is_active_ = false;  // true: EventLoop::active_ contains this participant
  };

  explicit EventLoop(const RealClock& real_clock);
  ~EventLoop();

  // Serves turn after turn until Stop is called. Returns the exit code given to Stop.
  int Run();                 // serves turn after turn until Stop; returns the exit code
  void Stop(int exit_code);  // makes Run return this exit code after the turn

  // Records that the participant has events, so that EndTurn is called for it. Cost: usually one comparison.
  void MarkActive(Participant& participant) {  // notes that the participant has events in this turn
    if (participant.is_active_) return;
    participant.is_active_ = true;
    active_.push_back(&participant);
  }
  enum class InLongTask : uint8_t { kWaits, kRuns };  // whether a posted task also runs inside a long task
  // Runs `task` for the participant (null: for none) in a later turn of the loop, or also inside a long task. Only the
  // thread of the loop may call this.
  void Post(Participant* participant, std::function<void()> task,  // runs `task` in a later turn
            InLongTask in_long_task = InLongTask::kWaits);
  // Runs `task` in a later turn, for no participant. Any thread may call this. The task never runs if the loop has
  // stopped.
  void PostFromAnyThread(std::function<void()> task);           // runs `task` in a later turn; for any thread
  void InterruptFromAnyThread(std::function<void()> task);      // runs `task` soon, also inside a long task
  void RunAfter(int64_t delay_ms, std::function<void()> task);  // runs `task` once, after `delay_ms` of real time
  // Removes the participant. First runs the tasks that were posted for the participant, until none is left.
  void RemoveParticipant(Participant& participant);    // runs the participant's posted tasks, then forgets it
  bool ServeDuringLongTask(const Participant* whose);  // serves clients inside a long task; false: the loop must stop

  // Watches a copy of the descriptor; the caller keeps the original. If no copy can be made, never calls `handler`.
  void CallWhenReadable(int descriptor,  // calls `handler` once, when the descriptor is readable
                        std::function<void()> handler);

  asio::io_context& Context();                                 // Asio's context, in which an idle loop waits for events
  const RealClock& real_clock() const { return real_clock_; }  // the clock of real elapsed time
  SocketPoller& poller() { return poller_; }                   // watches the sockets of clients and links
  WorkQueue& handshakes() { return handshakes_; }              // steps of TLS handshakes, some per turn

  WorkQueue& closings() { return closings_; }  // steps that close the sockets of clients that have gone, some per turn
  // The shared buffer, which contains data only while a handler runs. A connection with more than a few KB of
  // unprocessed input, or with an incomplete large argument, reads into its own buffer instead.
  std::span<char> Scratch() { return {scratch_.get(), kScratchBytes}; }  // the buffer into which connections read

 private:
  struct Asio;
  using Buffer = std::unique_ptr<char[]>;  // kScratchBytes; not set to 0, so unused pages take no memory
  struct Task {                            // a call of Post that has not run yet
    Participant* participant;              // the participant for which the task runs; null: none
    std::function<void()> run;             // the task itself
    InLongTask in_long_task;               // whether the task also runs inside a long task
  };

  int64_t HandleEvents();  // steps 1 to 3 of a turn; returns when step 2 began (real time, µs)
  void RunTasks();         // runs the tasks that are due, at most kHandlersPerTurn
  void RunTasksInLongTask(const Participant* whose);  // runs the tasks that need not wait for the end of a long task
  void RunTask(const Task& task);                     // runs one task
  void RunHandlers();                                 // runs Asio's ready handlers, at most kHandlersPerTurn
  void ServeQueues();                                 // runs this turn's share of handshakes_ and closings_
  void EndTurn(int64_t turn_us);                      // calls EndTurn of all participants that had events
  void MakePostedDue();                               // moves the tasks of posted_tasks_ to due_

  static constexpr size_t kScratchBytes = 64 * 1024;  // size of scratch_

  const RealClock& real_clock_;          // the clock of real elapsed time
  std::unique_ptr<Asio> asio_;           // the context of Asio, in which an idle loop waits
  SocketPoller poller_;                  // watches the sockets of clients and links
  WorkQueue handshakes_;                 // steps of TLS handshakes, of which each turn runs some
  WorkQueue closings_;                   // steps that close sockets, of which each turn runs some
  std::vector<Participant*> active_;     // participants with events; null: EndTurn was called, or the participant left
  std::vector<Task> posted_tasks_;       // tasks for the next turn; destroyed before asio_, which their connections use
  std::deque<Task> due_;                 // tasks to run now; those beyond the limit wait for the next turn
  bool is_busy_ = false;                 // true: sockets keep the loop busy, so the next turn does not wait
  int64_t handlers_ran_us_ = 0;          // when the loop last waited in Asio or ran Asio's handlers (real time, µs)
  Buffer scratch_;                       // the shared buffer into which connections read
  std::vector<Buffer> spare_scratches_;  // free buffers: ServeDuringLongTask uses one in place of scratch_
  bool has_started_ = false;             // true: Run was called; until then, ServeDuringLongTask runs all posted tasks
  bool has_stopped_ = false;             // true: Stop was called
  int exit_code_ = 0;                    // what Run will return; set by Stop
};

}  // namespace respite
