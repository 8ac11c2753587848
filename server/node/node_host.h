// NodeHost: runs a Node on an event loop. It contains the timer of the Node, ends its turns, and runs the requests of
// clients.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "server/execution/pump.h"
#include "server/net/event_loop.h"
#include "server/net/loop_network.h"
#include "server/runtime/host.h"

namespace respite {

class Node;
struct Services;

class NodeHost final : public Host, public EventLoop::Participant {  // runs one Node on an event loop
 public:
  // Both arguments must outlive the NodeHost.
  NodeHost(EventLoop& loop, Node& node);
  // Closes all clients of the Node.
  ~NodeHost() override;
  NodeHost(const NodeHost&) = delete;
  NodeHost& operator=(const NodeHost&) = delete;

  void Start();  // starts the timer whose ticks run periodic work
  // Sets the function that Stop calls. Without such a function, Stop ends the loop.
  void SetStopHandler(std::function<void(int exit_code)> handler) { on_stop_ = std::move(handler); }  // called by Stop
  // Makes each tick of the timer call `handler`, also in the middle of a turn (during ServeDuringLongTask).
  void SetTickHandler(std::function<void()> handler) { on_tick_ = std::move(handler); }  // called at each tick

  // Makes the loop call EndTurn for this server at the end of the turn.
  void MarkActive() { loop_.MarkActive(*this); }  // called before a client is served: EndTurn will run in this turn
  Pump& pump();                                   // runs the requests of a client
  EventLoop& loop() { return loop_; }
  LoopNetwork& network() { return network_; }             // connections to other servers
  const Services& services() const { return services_; }  // all parts of the server

  // The functions of Host.
  void Stop(int exit_code) override;
  void Post(std::function<void()> task) override { loop_.Post(this, std::move(task)); }
  bool ServeDuringLongTask() override;  // serves other clients during a long script or load; false: stop the task
  void WakeAt(int64_t monotonic_ms) override;  // makes Housekeeping::Wake run at this time
  void StartTurnAt(int64_t pace_us) override;  // makes the event loop start a turn at this time

  // The functions of EventLoop::Participant.
  void EndTurn(int64_t turn_us) override;  // does the work at the end of an event loop turn
  void EndTurnDuringLongTask() override;   // replies to clients served in the middle of a turn

 private:
  struct Timers;

  void ScheduleTick();  // sets the timer for the next tick

  EventLoop& loop_;
  Node& node_;
  const Services& services_;          // all parts of the server
  std::shared_ptr<Timers> timers_;    // handlers hold a weak_ptr, since they may outlive the NodeHost
  LoopNetwork network_;               // connections to other servers
  Pump pump_;                         // runs clients' requests
  std::unique_ptr<Pump> other_pump_;  // runs clients in the middle of a turn; created on first use
  std::function<void(int)> on_stop_;  // handler of SetStopHandler, called with the exit code
  std::function<void()> on_tick_;     // handler of SetTickHandler
  bool missed_tick_ = false;          // the timer expired in the middle of a turn
  bool has_stopped_ = false;          // Stop was called
};

}  // namespace respite
