#include "server/net/event_loop.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <utility>

namespace respite {

namespace {

constexpr size_t kScratchBytes = 64 * 1024;
// Maximum handlers per turn. A turn must end even when new events keep coming; one wait can report this many.
constexpr int kHandlersPerTurn = 128;
// Interval between checks of everything else, while sockets keep the loop busy.
constexpr int64_t kHandlersEveryUs = 200;
constexpr int64_t kHandshakesUs = 1000;
constexpr int64_t kClosingsUs = 250;
// Closes at least 1/32 of the waiting sockets per turn, so that a busy server does not fall further behind.
constexpr size_t kClosingsShare = 32;

}  // namespace

struct EventLoop::Asio {
  asio::io_context context{1};
};

EventLoop::EventLoop(const Pace& pace)
    : pace_(pace),
      asio_(std::make_unique<Asio>()),
      poller_(asio_->context, pace),
      handshakes_(pace, kHandshakesUs),
      closings_(pace, kClosingsUs),
      scratch_(kScratchBytes) {}

EventLoop::~EventLoop() { closings_.ServeAll(); }

asio::io_context& EventLoop::Context() { return asio_->context; }

int EventLoop::Run() {
  running_ = true;
  EndTurn(0);  // tasks that were posted before the loop ran
  auto work = asio::make_work_guard(asio_->context);
  while (!stopped_) {
    const int64_t started_us = HandleEvents();
    ServeLines();
    EndTurn(pace_.NowUs() - started_us);
  }
  return exit_code_;
}

// Under load the sockets are polled directly. Asio, which needs several system calls for this, runs at intervals. A
// loop with little to do waits in Asio immediately.
int64_t EventLoop::HandleEvents() {
  if (is_busy_) {
    const int64_t started_us = pace_.NowUs();
    int served = poller_.Serve();
    bool has_run = false;
    if (!due_.empty() || started_us - handlers_ran_us_ >= kHandlersEveryUs) {
      handlers_ran_us_ = started_us;
      has_run = RunHandlers(kHandlersPerTurn);
      served += poller_.TakeServed();
    }
    is_busy_ = served != 0;
    if (is_busy_ || has_run) return started_us;
  }
  poller_.Await();
  asio_->context.run_one();
  const int64_t started_us = poller_.Served() != 0 ? poller_.ServedFromUs() : pace_.NowUs();
  handlers_ran_us_ = started_us;
  RunHandlers(kHandlersPerTurn - 1);
  is_busy_ = poller_.TakeServed() > 1;
  return started_us;
}

bool EventLoop::RunHandlers(int most) {
  int count = 0;
  while (count < most && !stopped_ && poller_.Served() == 0 && asio_->context.poll_one() != 0) ++count;
  return count != 0;
}

void EventLoop::Stop(int exit_code) {
  exit_code_ = exit_code;
  if (!std::exchange(stopped_, true) && withdraw_) withdraw_();
}

// Does not post to Asio, which would run the task in this turn. A task that posts itself again and again would then
// delay all replies.
void EventLoop::Post(Participant* participant, std::function<void()> task) {
  posted_.push_back({participant, std::move(task)});
}

// Any thread may post to an io_context.
void EventLoop::PostFromOutside(std::function<void()> task) {
  asio::post(asio_->context, [this, run = std::move(task)]() mutable { Post(nullptr, std::move(run)); });
}

void EventLoop::After(int64_t delay_ms, std::function<void()> task) {
  auto timer = std::make_shared<asio::steady_timer>(asio_->context, std::chrono::milliseconds(delay_ms));
  timer->async_wait([timer, run = std::move(task)](const asio::error_code& error) {
    if (!error) run();
  });
}

void EventLoop::Leave(Participant& participant) {
  const auto is_its = [&](const Task& task) { return task.participant == &participant; };
  for (;;) {
    std::vector<Task> its;
    for (Task& task : due_)
      if (is_its(task)) its.push_back(std::exchange(task, {}));  // its call of RunNextTask finds nothing
    for (Task& task : posted_)
      if (is_its(task)) its.push_back(std::move(task));
    if (its.empty()) break;
    std::erase_if(posted_, is_its);
    for (const Task& task : its) task.run();
  }
  // EndTurn and ServeDuringLongTask may be walking the list.
  std::replace(active_.begin(), active_.end(), &participant, static_cast<Participant*>(nullptr));
}

// The interrupted turn keeps the data in its scratch buffer, so this call uses another. Posted tasks wait for the end
// of the turn, because they may free a client or change data that the turn uses. Before the first turn (the data set
// is loading) they run.
bool EventLoop::ServeDuringLongTask() {
  if (spare_scratches_.empty()) spare_scratches_.emplace_back(kScratchBytes);
  std::vector<char> own = std::exchange(scratch_, std::move(spare_scratches_.back()));
  spare_scratches_.pop_back();
  ++long_tasks_;
  poller_.Serve();
  for (int i = 0; i < kHandlersPerTurn && !stopped_ && asio_->context.poll_one() != 0; ++i) {
  }
  ServeLines();
  // By index, because the list may grow meanwhile.
  for (size_t i = 0; i < active_.size(); ++i)
    if (active_[i] != nullptr) active_[i]->EndTurnDuringLongTask();
  if (!running_) StartTasks();
  --long_tasks_;
  spare_scratches_.push_back(std::exchange(scratch_, std::move(own)));
  return !stopped_;
}

void EventLoop::ServeLines() {
  if (!handshakes_.Empty()) handshakes_.ServeShare();
  if (!closings_.Empty()) closings_.ServeShare(1 + closings_.Size() / kClosingsShare);
  if (!handshakes_.Empty() || !closings_.Empty()) Post(nullptr, [] {});  // starts the next turn immediately
}

// A participant stays in the list until its turn is ended, because an earlier one may serve clients meanwhile. A
// participant with events from now on gets another turn.
void EventLoop::EndTurn(int64_t turn_us) {
  const size_t count = active_.size();
  for (size_t i = 0; i < count; ++i) {
    Participant* const participant = std::exchange(active_[i], nullptr);
    if (participant == nullptr) continue;
    participant->is_active_ = false;
    participant->EndTurn(turn_us);
  }
  active_.erase(active_.begin(), active_.begin() + static_cast<std::ptrdiff_t>(count));
  StartTasks();
}

// Must run outside of all handlers, because Asio counts tasks that a handler posts only when the handler returns. If
// nested calls ran those again and again, Asio would believe that no work is left, and stop forever.
void EventLoop::StartTasks() {
  for (; put_off_ > 0; --put_off_) asio::post(asio_->context, [this] { RunNextTask(); });
  for (Task& task : posted_) {
    due_.push_back(std::move(task));
    asio::post(asio_->context, [this] { RunNextTask(); });
  }
  posted_.clear();
}

void EventLoop::RunNextTask() {
  if (long_tasks_ != 0 && running_) {
    ++put_off_;
    return;
  }
  const Task task = std::move(due_.front());
  due_.pop_front();
  if (task.run == nullptr) return;
  if (task.participant != nullptr) Enter(*task.participant);
  task.run();
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
