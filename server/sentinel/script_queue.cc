#include "server/sentinel/script_queue.h"

#include <algorithm>
#include <utility>

#include "base/str_cat.h"

namespace respite {

namespace {

constexpr size_t kMaxJobs = 256;
constexpr int kMaxRunning = 16;
constexpr int kMaxTries = 10;
constexpr int kTryAgainCode = 1;
constexpr int kCannotForkCode = 99;

}  // namespace

// Queues a program. If more than kMaxJobs are queued afterwards, drops the oldest one that does not run now.
void ScriptQueue::Add(std::vector<std::string> words) {
  jobs_.push_back({.words = std::move(words)});
  if (jobs_.size() <= kMaxJobs) return;
  const auto oldest = std::ranges::find_if(jobs_, [](const Job& job) { return !job.is_running; });
  jobs_.erase(oldest);
}

void ScriptQueue::Continue() {
  if (jobs_.empty()) return;
  StartDue();
  CollectEndedPrograms();
  KillOverduePrograms();
}

void ScriptQueue::StartDue() {
  const int64_t now_ms = core_.NowMs();
  for (Job& job : jobs_) {
    if (running_count_ >= kMaxRunning) return;
    if (!job.is_running && job.at_ms <= now_ms) Start(job);
  }
}

void ScriptQueue::Start(Job& job) {
  ++job.tries;
  job.at_ms = core_.NowMs();
  const auto process = core_.host.StartProgram(job.words);
  if (!process.ok()) {
    const std::string codes = StrCat(" ", kCannotForkCode, " 0");
    return core_.Say(LogLevel::kWarning, "-script-error", job.words[0] + codes);
  }
  job.is_running = true;
  job.process_id = process.value();
  ++running_count_;
  core_.Say(LogLevel::kDebug, "+script-child", std::to_string(job.process_id));
}

void ScriptQueue::CollectEndedPrograms() {
  while (const auto end = core_.host.TakeEndedProgram()) End(*end);
}

void ScriptQueue::End(const ProgramEnd& end) {
  const auto is_it = [&end](const Job& job) { return job.is_running && job.process_id == end.process_id; };
  const auto job = std::ranges::find_if(jobs_, is_it);
  if (job == jobs_.end()) return;
  const std::string codes = StrCat(end.exit_code, " ", end.signal);
  core_.Say(LogLevel::kDebug, "-script-child", StrCat(end.process_id, " ", codes));
  --running_count_;
  const bool has_failed = end.signal != 0 || end.exit_code != 0;
  if ((end.signal != 0 || end.exit_code == kTryAgainCode) && job->tries < kMaxTries) {
    job->is_running = false;
    job->process_id = 0;
    job->at_ms = core_.NowMs() + (core_.periods().script_retry_delay_ms << (job->tries - 1));
    return;
  }
  if (has_failed) {
    core_.Say(LogLevel::kWarning, "-script-error", StrCat(job->words[0], " ", end.signal, " ", end.exit_code));
  }
  jobs_.erase(job);
}

void ScriptQueue::KillOverduePrograms() {
  for (const Job& job : jobs_) {
    if (!job.is_running || core_.NowMs() - job.at_ms <= core_.periods().script_max_runtime_ms) continue;
    core_.Say(LogLevel::kWarning, "-script-timeout", StrCat(job.words[0], " ", job.process_id));
    core_.host.KillProgram(job.process_id);
  }
}

}  // namespace respite
