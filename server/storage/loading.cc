#include "server/storage/loading.h"

#include <algorithm>

#include "base/clock.h"
#include "server/config/settings.h"
#include "server/dataset/host.h"
#include "server/dataset/memory_gauge.h"
#include "server/execution/executor.h"
#include "server/storage/debug_delay.h"

namespace respite {

void Loading::Begin(uint64_t total_bytes, Phase::Load how, const Session* holder) {
  parts_.phase.BeginLoading(how, holder);
  start_s_ = parts_.clock.WallMs() / 1000;
  start_ms_ = parts_.pace.NowMs();
  total_bytes_ = total_bytes;
  file_history_ = {};
  left_out_.clear();
  loaded_bytes_ = memory_then_bytes_ = keys_loaded_ = keys_expired_ = 0;
}

void Loading::End() { parts_.phase.EndLoading(); }

bool Loading::Active() const { return parts_.phase.load() != Phase::Load::kNone; }

bool Loading::IsAside() const { return parts_.phase.load() == Phase::Load::kAside; }

Loading::Order Loading::Advance(uint64_t loaded_bytes) {
  loaded_bytes_ = loaded_bytes;
  parts_.memory.NotePeak();
  advances_();
  if (!parts_.host || parts_.phase.load() != Phase::Load::kInTurn) return Order::kGoOn;
  // A command that loads is suspended as a script is.
  const Executor::Aside aside = parts_.executor.StandAside();
  const bool goes_on = parts_.host->ServeBesides();
  parts_.executor.GoOn(aside);
  return goes_on ? Order::kGoOn : Order::kStop;
}

void Loading::SlowDown() {
  if (parts_.settings.key_load_delay != 0) DebugDelay(parts_.settings.key_load_delay, delays_);
}

Loading::Figures Loading::Survey() const {
  Figures figures{start_s_, total_bytes_, memory_then_bytes_, loaded_bytes_, 0, 1};
  const int64_t elapsed_s = (parts_.pace.NowMs() - start_ms_) / 1000;
  const uint64_t left = total_bytes_ - std::min(total_bytes_, loaded_bytes_);
  if (total_bytes_ != 0) {
    figures.loaded_percent = 100 * static_cast<double>(loaded_bytes_) / static_cast<double>(total_bytes_);
  }
  // Redis: the estimate is one second as long as nothing is known.
  if (elapsed_s != 0)
    figures.eta_s = static_cast<int64_t>(static_cast<uint64_t>(elapsed_s) * left / (loaded_bytes_ + 1));
  return figures;
}

}  // namespace respite
