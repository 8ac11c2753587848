#include "server/net/event_loop.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <iterator>
#include <utility>

namespace respite {

namespace {

// The maximum number of Asio's handlers that run per turn (a pass of the loop), and also of posted tasks. One
// epoll_wait of Asio reports at most this number of events.
constexpr int kHandlersPerTurn = 128;
// The shortest time, in microseconds, between two runs of Asio's handlers while sockets keep the loop busy.
constexpr int64_t kHandlersEveryUs = 200;
constexpr int64_t kHandshakesUs = 1000;
constexpr int64_t kClosingsUs = 250;
// Each turn closes at least 1/32 of the sockets in closings_, so that the queue does not grow forever on a busy server.
constexpr size_t kClosingsShare = 32;

}  // namespace

struct EventLoop::Asio {
  asio::io_context context{1};
  // Keeps the context from stopping when it has no handlers. A stopped context would let later waits return
  // immediately.
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
};

EventLoop::EventLoop(const RealClock& real_clock)
    : real_clock_(real_clock),
      asio_(std::make_unique<Asio>()),
      poller_(asio_->context, real_clock),
      handshakes_(real_clock, kHandshakesUs),
      closings_(real_clock, kClosingsUs),
      scratch_(std::make_unique_for_overwrite<char[]>(kScratchBytes)) {}

EventLoop::~EventLoop() { closings_.ServeAll(); }

asio::io_context& EventLoop::Context() { return asio_->context; }

int EventLoop::Run() {
  has_started_ = true;
  EndTurn(0);  // tasks that were posted before the loop ran
  while (!has_stopped_) {
    const int64_t started_us = HandleEvents();
    ServeQueues();
    EndTurn(real_clock_.NowUs() - started_us);
  }
  return exit_code_;
}

int64_t EventLoop::HandleEvents() {
  const bool waits = !is_busy_ && due_.empty();
  if (waits) {
    poller_.LetSocketsEndNextWait();
    asio_->context.run_one();
  }
  const int64_t started_us = real_clock_.NowUs();
  const int served = poller_.Serve();
  // The loop is busy after a wait only if several sockets were served. A single ready socket may belong to a client
  // that waits for each reply, so its next request arrives only after the next wait has begun.
  is_busy_ = waits ? served > 1 : served != 0;
  RunTasks();
  const bool was_woken_otherwise = waits && served == 0;
  const bool is_time = !waits && started_us - handlers_ran_us_ >= kHandlersEveryUs;
  if (waits || is_time) handlers_ran_us_ = started_us;
  if (was_woken_otherwise || is_time) RunHandlers();
  return started_us;
}

void EventLoop::RunTasks() {
  for (int left = kHandlersPerTurn; left > 0 && !due_.empty() && !has_stopped_; --left) {
    const Task task = std::move(due_.front());
    due_.pop_front();
    RunTask(task);
  }
}

// Runs at most kHandlersPerTurn tasks. A task that posts itself again runs in the next call. Tasks of other
// participants wait: they may have posted them to run after the task that is running now.
void EventLoop::RunTasksInLongTask(const Participant* whose) {
  const auto runs = [&](const Task& task) {
    return task.in_long_task == InLongTask::kRuns && task.participant == whose;
  };
  for (Task& task : posted_tasks_)
    if (runs(task)) due_.push_back(std::move(task));
  std::erase_if(posted_tasks_, runs);
  for (int left = kHandlersPerTurn; left > 0; --left) {
    const auto at = std::ranges::find_if(due_, runs);
    if (at == due_.end()) return;
    const Task task = std::move(*at);
    due_.erase(at);
    RunTask(task);
  }
}

void EventLoop::RunTask(const Task& task) {
  if (task.participant != nullptr) MarkActive(*task.participant);
  task.run();
}

void EventLoop::RunHandlers() {
  for (int left = kHandlersPerTurn; left > 0 && !has_stopped_ && asio_->context.poll_one() != 0; --left) {
  }
}

void EventLoop::Stop(int exit_code) {
  exit_code_ = exit_code;
  has_stopped_ = true;
}

void EventLoop::Post(Participant* participant, std::function<void()> task, InLongTask in_long_task) {
  posted_tasks_.push_back({participant, std::move(task), in_long_task});
}

void EventLoop::PostFromAnyThread(std::function<void()> task) {
  asio::post(asio_->context, [this, run = std::move(task)]() mutable { Post(nullptr, std::move(run)); });
}

void EventLoop::InterruptFromAnyThread(std::function<void()> task) { asio::post(asio_->context, std::move(task)); }

void EventLoop::RunAfter(int64_t delay_ms, std::function<void()> task) {
  auto timer = std::make_shared<asio::steady_timer>(asio_->context, std::chrono::milliseconds(delay_ms));
  timer->async_wait([timer, run = std::move(task)](const asio::error_code& error) {
    if (!error) run();
  });
}

void EventLoop::RemoveParticipant(Participant& participant) {
  const auto is_its = [&](const Task& task) { return task.participant == &participant; };
  for (;;) {
    std::vector<Task> its;
    for (Task& task : due_)
      if (is_its(task)) its.push_back(std::move(task));
    for (Task& task : posted_tasks_)
      if (is_its(task)) its.push_back(std::move(task));
    if (its.empty()) break;
    std::erase_if(due_, is_its);
    std::erase_if(posted_tasks_, is_its);
    for (const Task& task : its) task.run();
  }
  // Replaces the participant's pointer in active_ by null. Does not erase the element, because EndTurn and
  // ServeDuringLongTask may be iterating over active_.
  std::replace(active_.begin(), active_.end(), &participant, static_cast<Participant*>(nullptr));
}

// Serves clients in the middle of a turn, for example during a slow script of the participant `whose`. Returns false if
// the loop must stop. Uses another scratch buffer meanwhile, because the interrupted turn may still use data in its own
// buffer. Runs all posted tasks only before the first turn of the loop (while the data set is loading).
bool EventLoop::ServeDuringLongTask(const Participant* whose) {
  if (spare_scratches_.empty()) spare_scratches_.push_back(std::make_unique_for_overwrite<char[]>(kScratchBytes));
  Buffer own = std::exchange(scratch_, std::move(spare_scratches_.back()));
  spare_scratches_.pop_back();
  poller_.Serve();
  RunHandlers();
  has_started_ ? RunTasksInLongTask(whose) : RunTasks();
  ServeQueues();
  // Iterates by index, because the calls may add participants to active_.
  for (size_t i = 0; i < active_.size(); ++i)
    if (active_[i] != nullptr) active_[i]->EndTurnDuringLongTask();
  if (!has_started_) MakePostedDue();
  spare_scratches_.push_back(std::exchange(scratch_, std::move(own)));
  return !has_stopped_;
}

void EventLoop::ServeQueues() {
  if (!handshakes_.IsEmpty()) handshakes_.ServeShare();
  if (!closings_.IsEmpty()) closings_.ServeShare(1 + closings_.Size() / kClosingsShare);
  if (!handshakes_.IsEmpty() || !closings_.IsEmpty()) Post(nullptr, [] {});  // starts the next turn immediately
}

// Calls EndTurn of each participant that had events. A participant stays in active_ until its own EndTurn is called,
// because the EndTurn of another participant may call ServeDuringLongTask, which sends only the replies of participants
// in active_. A participant that gets events after its EndTurn enters active_ again, for the next turn.
void EventLoop::EndTurn(int64_t turn_us) {
  const size_t count = active_.size();
  for (size_t i = 0; i < count; ++i) {
    Participant* const participant = std::exchange(active_[i], nullptr);
    if (participant == nullptr) continue;
    participant->is_active_ = false;
    participant->EndTurn(turn_us);
  }
  active_.erase(active_.begin(), active_.begin() + static_cast<std::ptrdiff_t>(count));
  MakePostedDue();
}

void EventLoop::MakePostedDue() {
  if (posted_tasks_.empty()) return;
  std::ranges::move(posted_tasks_, std::back_inserter(due_));
  posted_tasks_.clear();
}

void EventLoop::CallWhenReadable(int descriptor, std::function<void()> handler) {
  int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return;
  auto watched = std::make_shared<asio::posix::stream_descriptor>(asio_->context, own);
  watched->async_wait(asio::posix::stream_descriptor::wait_read,
                      [watched, run = std::move(handler)](const asio::error_code& error) {
                        if (!error) run();
                      });
}

}  // namespace respite
