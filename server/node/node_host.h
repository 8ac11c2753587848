// NodeHost: runs a Node on an event loop. Has the timer of the Node, ends the turns of the Node, and runs the requests
// of clients.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "server/execution/pump.h"
#include "server/net/event_loop.h"
#include "server/net/loop_network.h"
#include "server/runtime/host.h"

namespace respite {

class Node;
struct Services;

class NodeHost final : public Host, public EventLoop::Participant {  // runs one Node on an event loop
 public:
  // `loop` and `node` must outlive the NodeHost.
  NodeHost(EventLoop& loop, Node& node);
  // Closes all clients of the Node.
  ~NodeHost() override;
  NodeHost(const NodeHost&) = delete;
  NodeHost& operator=(const NodeHost&) = delete;

  void Start();  // starts the timer whose ticks run Housekeeping::Tick
  // Sets the function that Stop calls. Without a handler, Stop ends the loop.
  void SetStopHandler(std::function<void(int exit_code)> handler) {  // called by Stop; null: Stop ends the loop
    on_stop_ = std::move(handler);
  }
  // Makes each tick of the timer call `handler`, also in the middle of a turn (during ServeDuringLongTask).
  void SetTickHandler(std::function<void()> handler) {  // called at each tick, also during a slow script
    on_tick_ = std::move(handler);
  }

  // Makes the event loop call EndTurn for this server when the current turn ends.
  void MarkActive() { loop_.MarkActive(*this); }  // the loop will call EndTurn of this server when the turn ends
  Pump& pump();                                   // runs clients' requests: pump_, or during a long task other_pump_
  EventLoop& loop() { return loop_; }             // the event loop that this Node shares with others
  LoopNetwork& network() { return network_; }     // connections to other servers
  const Services& services() const { return services_; }  // references to all parts of the Node

  // The functions of Host.
  void Stop(int exit_code) override;  // stops this Node: calls SetStopHandler's function, or stops the loop
  void Post(std::function<void()> task) override { loop_.Post(this, std::move(task)); }  // runs `task` in a later turn
  void PostToGoOn(std::function<void()> task);  // as Post; posted inside a long task, `task` also runs inside it
  // Removes the session of a client that has gone, and then destroys `owner`. This happens in a later turn, because the
  // current turn may still use the session. An exception are clients that connected during the long task (a slow script
  // or load) that still runs: the turn that the task has interrupted does not know them. They are removed soon, since
  // otherwise clients that come and go during an endless script would take more and more memory.
  void RemoveLater(Session& session, uint64_t long_task,  // frees the session later; `long_task`: in which it began
                   std::shared_ptr<void> owner);
  bool ServeDuringLongTask() override;         // serves clients during a slow script or load; false: the Node must stop
  void WakeAt(int64_t monotonic_ms) override;  // sets when Housekeeping::Wake runs (server's clock; at most 24 h ahead)
  void StartTurnAt(int64_t real_us) override;  // a turn will start at this real time

  // The functions of EventLoop::Participant.
  void EndTurn(int64_t turn_us) override;  // at the end of a turn: writes the AOF, sends replies …
  // If this server itself is in a long task (a slow script or load), only sends packets to the cluster, writes the AOF
  // and sends replies. If another server on the same event loop is in one, ends the turn as usual
  // (Housekeeping::EndTurn).
  void EndTurnDuringLongTask() override;  // during a slow script or load: writes the AOF, sends replies

 private:
  struct Timers;  // the timers of the event loop that a NodeHost uses

  void ScheduleTick();  // sets the timer for the next tick
  void RemoveGone();    // removes the sessions in gone_

  EventLoop& loop_;                   // the event loop, which this Node shares with others
  Node& node_;                        // the server that runs here
  const Services& services_;          // references to all parts of the Node
  std::shared_ptr<Timers> timers_;    // timers of ticks and wake-ups; handlers may outlive the NodeHost
  LoopNetwork network_;               // connections to other servers
  Pump pump_;                         // runs the requests of clients
  std::unique_ptr<Pump> other_pump_;  // runs requests during a slow script; made at the first use
  std::vector<std::pair<Session*, std::shared_ptr<void>>> gone_;  // sessions to remove during the long task, and owners
  std::function<void(int)> on_stop_;                              // called by Stop; null: Stop ends the loop
  std::function<void()> on_tick_;                                 // called at each tick; may be null
  bool missed_tick_ = false;  // true: a slow script or load kept a tick from running; the tick runs afterwards
  bool has_stopped_ = false;  // true: Stop was called
};

}  // namespace respite
