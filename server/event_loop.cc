#include "server/event_loop.h"

#include <fcntl.h>
#include <unistd.h>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <utility>

namespace respite {

namespace {

constexpr size_t kScratchBytes = 64 * 1024;
// Handlers in one Turn. A Turn must end even when new events keep coming; this many are what one wait can report.
constexpr int kHandlersPerTurn = 128;
constexpr int64_t kHandshakesUs = 1000;
constexpr int64_t kClosingsUs = 250;
// Of those that wait to be closed, one in so many at least: a busy server gets behind by no more than that.
constexpr size_t kClosingsShare = 32;

}  // namespace

struct EventLoop::Asio {
  asio::io_context context{1};
  asio::steady_timer cron{context};
  asio::steady_timer wake{context};
};

EventLoop::EventLoop(Server& server)
    : server_(server),
      pump_(std::make_unique<Pump>(server)),
      asio_(std::make_unique<Asio>()),
      poller_(asio_->context, server.clock()),
      handshakes_(server.clock(), kHandshakesUs),
      closings_(server.clock(), kClosingsUs),
      scratch_(kScratchBytes) {
  server_.SetHost(this);
  server_.MarkStartupMemory();
}

EventLoop::~EventLoop() {
  // Connections own themselves until they are closed.
  server_.clients().ForEach([this](Session& session) { server_.clients().Close(session); });
  closings_.ServeAll();
  server_.SetHost(nullptr);
}

asio::io_context& EventLoop::Context() { return asio_->context; }

int EventLoop::Run() {
  running_ = true;
  ScheduleCron();
  EndTurn();  // what was posted before the loop ran
  auto work = asio::make_work_guard(asio_->context);
  ServerStats& stats = server_.stats();
  while (!stopped_) {
    asio_->context.run_one();
    int64_t started_us = server_.clock().MonotonicUs();
    for (int i = 1; i < kHandlersPerTurn && !stopped_ && !poller_.TakeServed() && asio_->context.poll_one() != 0; ++i) {
    }
    ServeLines();
    EndTurn();
    stats.CountTurn(server_.clock().MonotonicUs() - started_us);
  }
  return exit_code_;
}

void EventLoop::Stop(int exit_code) {
  stopped_ = true;
  exit_code_ = exit_code;
}

// Asio would run it in this Turn, since a Turn polls: whoever posts again and again would hold back all replies.
void EventLoop::Post(std::function<void()> task) { posted_.push_back(std::move(task)); }

void EventLoop::WakeAt(int64_t monotonic_ms) {
  asio_->wake.expires_after(std::chrono::milliseconds(monotonic_ms - server_.clock().MonotonicMs()));
  asio_->wake.async_wait([this](const asio::error_code& error) {
    if (!error) server_.Wake();
  });
}

// The Turn that is under way keeps its Pump and what it has read: this one gets others. What was posted waits, since it
// may free a client that the Turn is with; before the first Turn (the data set is being loaded) there is none.
bool EventLoop::ServeBesides() {
  if (other_pump_ == nullptr) other_pump_ = std::make_unique<Pump>(server_);
  other_scratch_.resize(kScratchBytes);
  pump_.swap(other_pump_);
  scratch_.swap(other_scratch_);
  poller_.ServeBesides();
  for (int i = 0; i < kHandlersPerTurn && !stopped_ && asio_->context.poll_one() != 0; ++i) {
  }
  ServeLines();
  server_.EndTurnBesides();
  if (!running_) StartTasks();
  pump_.swap(other_pump_);
  scratch_.swap(other_scratch_);
  return !stopped_;
}

void EventLoop::ServeLines() {
  if (!handshakes_.Empty()) handshakes_.ServeShare();
  if (!closings_.Empty()) closings_.ServeShare(1 + closings_.Size() / kClosingsShare);
  if (!handshakes_.Empty() || !closings_.Empty()) Post([] {});  // the next Turn comes at once
}

// Redis: what the timer should have done during a script is done when the script is over. Else it might never come to
// it between one script and the next.
void EventLoop::EndTurn() {
  if (missed_beat_ && !server_.IsMidTurn()) {
    missed_beat_ = false;
    server_.Cron();
  }
  server_.EndTurn();
  StartTasks();
}

void EventLoop::StartTasks() {
  for (auto& task : std::exchange(posted_, {})) asio::post(asio_->context, std::move(task));
}

void EventLoop::ScheduleCron() {
  asio_->cron.expires_after(std::chrono::microseconds(1'000'000 / server_.CurrentHz()));
  asio_->cron.async_wait([this](const asio::error_code& error) {
    if (error) return;
    if (tick_) tick_();
    missed_beat_ = server_.IsMidTurn();
    server_.Cron();
    ScheduleCron();
  });
}

void EventLoop::OnReadable(int descriptor, std::function<void()> handler) {
  int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return;
  auto watched = std::make_shared<asio::posix::stream_descriptor>(asio_->context, own);
  watched->async_wait(asio::posix::stream_descriptor::wait_read,
                      [watched, run = std::move(handler)](const asio::error_code& error) {
                        if (!error) run();
                      });
}

}  // namespace respite
