// NodeHost: runs a Node on an event loop: its timer, the end of its turns, and the requests of its clients.
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

class NodeHost final : public Host, public EventLoop::Participant {
 public:
  // Both must outlive the NodeHost.
  NodeHost(EventLoop& loop, Node& node);
  // Closes all clients.
  ~NodeHost() override;
  NodeHost(const NodeHost&) = delete;
  NodeHost& operator=(const NodeHost&) = delete;

  // Starts the timer.
  void Start();
  // Sets the handler for the stop of the server. The default handler stops the loop.
  void OnStop(std::function<void(int exit_code)> handler) { stop_ = std::move(handler); }
  // Calls `handler` at each tick of the timer, also in the middle of a turn (ServeDuringLongTask).
  void OnTick(std::function<void()> handler) { tick_ = std::move(handler); }

  // Makes the loop end the turn of this server. Connections call this before they serve a client.
  void Enter() { loop_.Enter(*this); }
  Pump& pump();
  EventLoop& loop() { return loop_; }
  LoopNetwork& network() { return network_; }
  const Services& services() const { return services_; }

  // Host.
  void Stop(int exit_code) override;
  void Post(std::function<void()> task) override { loop_.Post(this, std::move(task)); }
  bool ServeDuringLongTask() override;
  void WakeAt(int64_t monotonic_ms) override;
  void TurnAt(int64_t pace_us) override;

  // HostedServer.
  void EndTurn(int64_t turn_us) override;
  void EndTurnDuringLongTask() override;

 private:
  struct Timers;

  void ScheduleTick();

  EventLoop& loop_;
  Node& node_;
  const Services& services_;
  std::shared_ptr<Timers> timers_;  // handlers hold a weak_ptr, since they may outlive the NodeHost
  LoopNetwork network_;
  Pump pump_;
  std::unique_ptr<Pump> other_pump_;  // for clients served in the middle of a turn; created on first use
  std::function<void(int)> stop_;
  std::function<void()> tick_;
  bool missed_tick_ = false;  // the timer expired in the middle of a turn
  bool has_stopped_ = false;
};

}  // namespace respite
