// NodeHost: runs a Node on an event loop: its timer, the end of its turns, and the requests of its clients.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/late_bound.h"
#include "server/execution/pump.h"
#include "server/net/event_loop.h"
#include "server/net/loop_network.h"
#include "server/runtime/host.h"

namespace respite {

class ClientLimits;
class Clients;
class Clock;
class Config;
class ClientCleanup;
class FaultRules;
class Housekeeping;
class Logger;
class MemoryGauge;
class ServerPhase;
class TimerFrequency;
struct ServerStats;
struct Settings;
class Tls;
class Users;

class NodeHost final : public Host, public EventLoop::Participant {
 public:
  // The parts of the server that the loop and the connections use
  struct Parts {
    const Settings& settings;
    Config& config;
    const Clock& clock;
    Logger& log;
    LateBound<Host>& host;
    LateBound<Network>& network;
    MemoryGauge& memory;
    ServerStats& stats;
    const ServerPhase& phase;
    TimerFrequency& timer_frequency;
    Housekeeping& housekeeping;
    Clients& clients;
    ClientLimits& limits;
    ClientCleanup& client_cleanup;
    Users& users;
    Tls& tls;
    FaultRules& faults;
    Pump::Parts pump;
  };
  // Both must outlive the NodeHost.
  NodeHost(EventLoop& loop, const Parts& parts);
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
  const Parts& parts() const { return parts_; }

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
  const Parts parts_;
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
