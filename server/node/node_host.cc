#include "server/node/node_host.h"

#include <algorithm>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <utility>

#include "base/clock.h"
#include "server/clients/client_subsystem.h"
#include "server/clients/clients.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/memory_gauge.h"
#include "server/execution/execution_subsystem.h"
#include "server/node/housekeeping.h"
#include "server/node/node.h"
#include "server/runtime/server_phase.h"
#include "server/runtime/stats.h"

namespace respite {

namespace {

// The longest time, in milliseconds, for which a timer is set. The timer counts nanoseconds, so a much longer timeout
// of a client could overflow. If the timer expires too early, Housekeeping sets it again.
constexpr int64_t kLongestSleepMs = 24 * 3'600'000;

}  // namespace

// The timers of a NodeHost, in a shared_ptr. So a handler can detect that they were destroyed: an expired timer calls
// its handler even if the timer was destroyed in the same turn.
struct NodeHost::Timers {
  explicit Timers(asio::io_context& context) : tick(context), wake(context), turn(context) {}
  asio::steady_timer tick;
  asio::steady_timer wake;
  asio::steady_timer turn;
};

NodeHost::NodeHost(EventLoop& loop, Node& node)
    : loop_(loop),
      node_(node),
      services_(node.services()),
      timers_(std::make_shared<Timers>(loop.Context())),
      network_(loop, *this, services_.env.settings, services_.tls),
      pump_(services_) {
  node_.runtime().host.Attach(this);
  node_.runtime().network.Attach(&network_);
  services_.data.memory.MarkStartup();
  MarkActive();
}

NodeHost::~NodeHost() {
  // Closes all connections. Without this they would not be destroyed, because each owns itself until it is closed.
  services_.clients.registry.ForEach([this](Session& session) { services_.clients.registry.Close(session); });
  loop_.RemoveParticipant(*this);
  node_.runtime().network.Detach();
  node_.runtime().host.Detach();
}

void NodeHost::Start() { ScheduleTick(); }

Pump& NodeHost::pump() {
  if (!services_.env.phase.IsInLongTask()) return pump_;
  if (other_pump_ == nullptr) other_pump_ = std::make_unique<Pump>(services_);
  return *other_pump_;
}

void NodeHost::Stop(int exit_code) {
  has_stopped_ = true;
  if (on_stop_) return on_stop_(exit_code);
  loop_.Stop(exit_code);
}

// Runs the event loop in the middle of this Node's turn, so that clients are served during a long task. At the end of
// that inner turn, this Node only writes the AOF and sends replies, while other Nodes on the loop do all the work of
// the end of a turn. Returns false if the loop or this Node has stopped.
bool NodeHost::ServeDuringLongTask() {
  MarkActive();
  if (other_pump_ != nullptr) other_pump_->StartTurnInLongTask();
  const bool continues = loop_.ServeDuringLongTask(this) && !has_stopped_;
  RemoveGone();
  return continues;
}

void NodeHost::PostToGoOn(std::function<void()> task) {
  const bool is_in_long_task = services_.env.phase.IsInLongTask();
  loop_.Post(this, std::move(task), is_in_long_task ? EventLoop::InLongTask::kRuns : EventLoop::InLongTask::kWaits);
}

void NodeHost::RemoveGone() {
  if (gone_.empty()) return;
  for (const auto& [session, owner] : std::exchange(gone_, {})) services_.clients.registry.Remove(*session);
}

void NodeHost::RemoveLater(Session& session, uint64_t long_task, std::shared_ptr<void> owner) {
  if (long_task != 0 && long_task == services_.env.phase.LongTask()) {
    gone_.emplace_back(&session, std::move(owner));
    return;
  }
  Post([this, &session, kept = std::move(owner)] { services_.clients.registry.Remove(session); });
}

// Ends a turn of this server. First makes up for a tick that was missed during a script, as Redis does: if scripts
// follow each other without a pause, the timer might otherwise never run.
void NodeHost::EndTurn(int64_t turn_us) {
  RemoveGone();
  if (missed_tick_ && !services_.env.phase.IsInLongTask()) {
    missed_tick_ = false;
    node_.housekeeping().Tick();
  }
  node_.housekeeping().EndTurn();
  services_.env.stats.CountTurn(turn_us);
}

void NodeHost::EndTurnDuringLongTask() {
  if (services_.env.phase.IsInLongTask()) return node_.housekeeping().EndTurnDuringLongTask();
  node_.housekeeping().EndTurn();
  services_.env.stats.CountTurn(0);  // this server had a turn inside the long task of another one
}

void NodeHost::WakeAt(int64_t monotonic_ms) {
  const int64_t due_ms = std::min(monotonic_ms, services_.env.clock.MonotonicMs() + kLongestSleepMs);
  const int64_t real_us = services_.env.clock.RealUsAtMonotonicUs(due_ms * 1000);
  if (real_us == Clock::kNever) {
    timers_->wake.cancel();
    return;
  }
  timers_->wake.expires_after(std::chrono::microseconds(real_us - loop_.real_clock().NowUs()));
  timers_->wake.async_wait([this, weak = std::weak_ptr(timers_)](const asio::error_code& error) {
    if (error || weak.expired()) return;
    MarkActive();
    node_.housekeeping().Wake();
  });
}

void NodeHost::StartTurnAt(int64_t real_us) {
  timers_->turn.expires_after(std::chrono::microseconds(real_us - loop_.real_clock().NowUs()));
  timers_->turn.async_wait([this, weak = std::weak_ptr(timers_)](const asio::error_code& error) {
    if (!error && !weak.expired()) MarkActive();
  });
}

void NodeHost::ScheduleTick() {
  timers_->tick.expires_after(std::chrono::microseconds(1'000'000 / services_.clients.timer_frequency.Hz()));
  timers_->tick.async_wait([this, weak = std::weak_ptr(timers_)](const asio::error_code& error) {
    if (error || weak.expired()) return;
    MarkActive();
    if (on_tick_) on_tick_();
    missed_tick_ = services_.env.phase.IsInLongTask();
    node_.housekeeping().Tick();
    ScheduleTick();
  });
}

}  // namespace respite
