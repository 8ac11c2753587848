#include "server/storage/loading.h"

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "base/number_text.h"
#include "base/str_cat.h"
#include "server/config/settings.h"
#include "server/dataset/memory_gauge.h"
#include "server/execution/executor.h"
#include "server/runtime/host.h"
#include "server/storage/debug_delay.h"

namespace respite {

namespace {

constexpr int64_t kLogProgressEveryMs = 5000;

std::string MegabytesText(uint64_t bytes) { return FixedText(static_cast<double>(bytes) / (1 << 20), 1); }

}  // namespace

void Loading::Begin(uint64_t total_bytes, ServerPhase::Load how, const Session* holder) {
  parts_.env.phase.BeginLoading(how, holder);
  start_s_ = parts_.env.clock.WallMs() / 1000;
  start_ms_ = parts_.env.real_clock.NowMs();
  next_log_ms_ = start_ms_ + kLogProgressEveryMs;
  total_bytes_ = total_bytes;
  file_history_ = {};
  skipped_expired_keys_.clear();
  loaded_bytes_ = rdb_used_mem_bytes_ = keys_loaded_ = keys_expired_ = 0;
}

void Loading::End() { parts_.env.phase.EndLoading(); }

bool Loading::IsActive() const { return parts_.env.phase.load() != ServerPhase::Load::kNone; }

bool Loading::IsAsync() const { return parts_.env.phase.load() == ServerPhase::Load::kAsync; }

Loading::Order Loading::Advance(uint64_t loaded_bytes) {
  loaded_bytes_ = loaded_bytes;
  parts_.memory.NotePeak();
  on_advance_();
  LogProgress();
  if (!parts_.env.host || parts_.env.phase.load() != ServerPhase::Load::kInTurn) return Order::kContinue;
  // Lets other clients be served now. Meanwhile the Executor must not count the command that loads the data as running.
  const Executor::SavedExecution saved = parts_.executor.SaveExecution();
  const bool continues_later = parts_.env.host->ServeDuringLongTask();
  parts_.executor.RestoreExecution(saved);
  return continues_later ? Order::kContinue : Order::kStop;
}

// Logs the progress. If the total size is not known, as for a snapshot that a primary sends through a pipe, logs only
// the bytes and keys.
void Loading::LogProgress() {
  const int64_t now_ms = parts_.env.real_clock.NowMs();
  if (now_ms < next_log_ms_ || loaded_bytes_ == 0) return;
  next_log_ms_ = now_ms + kLogProgressEveryMs;
  const double elapsed_s = static_cast<double>(now_ms - start_ms_) / 1000;
  std::string line = "Loading: ";
  if (total_bytes_ != 0) {
    const Figures figures = CurrentFigures();
    StrAppend(line, FixedText(figures.loaded_percent, 1), " %, ", MegabytesText(loaded_bytes_), " of ",
              MegabytesText(total_bytes_), " MB, about ", figures.eta_s, " s left");
  } else {
    line += MegabytesText(loaded_bytes_) + " MB";
  }
  if (keys_loaded_ != 0) {
    StrAppend(line, ", ", keys_loaded_, " keys (", static_cast<uint64_t>(static_cast<double>(keys_loaded_) / elapsed_s),
              " per second)");
  }
  parts_.env.log.Notice(line);
}

void Loading::SlowDown() {
  if (parts_.env.settings.key_load_delay != 0) DebugDelay(parts_.env.settings.key_load_delay, delays_);
}

Loading::Figures Loading::CurrentFigures() const {
  Figures figures{start_s_, total_bytes_, rdb_used_mem_bytes_, loaded_bytes_, 0, 1};
  const int64_t elapsed_s = (parts_.env.real_clock.NowMs() - start_ms_) / 1000;
  const uint64_t left = total_bytes_ - std::min(total_bytes_, loaded_bytes_);
  if (total_bytes_ != 0) {
    figures.loaded_percent = 100 * static_cast<double>(loaded_bytes_) / static_cast<double>(total_bytes_);
  }
  // The estimated remaining time is one second during the first second, as in Redis.
  if (elapsed_s != 0)
    figures.eta_s = static_cast<int64_t>(static_cast<uint64_t>(elapsed_s) * left / (loaded_bytes_ + 1));
  return figures;
}

}  // namespace respite
