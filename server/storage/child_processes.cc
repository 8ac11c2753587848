#include "server/storage/child_processes.h"

#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/str_cat.h"
#include "datatypes/keyspace.h"
#include "server/config/settings.h"
#include "server/runtime/latency.h"
#include "server/runtime/stats.h"

namespace respite {

namespace {

uint64_t KeysOf(const Keyspace& keyspace) {
  uint64_t keys = 0;
  for (int db = 0; db < keyspace.Count(); ++db) keys += keyspace[db].Size();
  return keys;
}

}  // namespace

Result<pid_t, int> ChildProcesses::Start(ChildWork work, Forker::Job job, EndHandler ended, int output) {
  const uint64_t keys = KeysOf(parts_.keyspace);
  const int64_t started_us = parts_.env.real_clock.NowUs();
  auto pid = forker_.Start(work, std::move(job), output);
  if (!pid) return pid;
  const int64_t fork_us = parts_.env.real_clock.NowUs() - started_us;
  parts_.env.stats.CountFork(fork_us);
  parts_.env.latency.Note("fork", fork_us);
  work_ = work;
  pid_ = pid.value();
  on_end_ = std::move(ended);
  keys_total_ = keys;
  return pid;
}

void ChildProcesses::Poll() {
  if (!work_) return;
  const auto end = forker_.Poll();
  if (!end) return;
  work_.reset();
  const auto ended = std::exchange(on_end_, nullptr);  // the handler may start the next child
  ended(*end);
}

void ChildProcesses::Kill() {
  if (!work_) return;
  if (Does(ChildWork::kRewrite)) {
    parts_.env.log.Notice(StrCat("Killing running AOF rewrite child: ", pid_));
  }
  forker_.Kill();
  Poll();
}

ChildProcesses::Figures ChildProcesses::CurrentFigures() const {
  if (!work_) return {};
  Figures figures{forker_.Progress(), keys_total_};
  if (figures.progress.cow_at_us != 0) {
    figures.cow_age_s = (parts_.env.real_clock.NowUs() - figures.progress.cow_at_us) / 1'000'000;
  }
  return figures;
}

}  // namespace respite
