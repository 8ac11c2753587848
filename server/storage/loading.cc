#include "server/storage/loading.h"

#include <algorithm>

#include "server/server.h"
#include "server/storage/debug_delay.h"

namespace respite {

void Loading::Begin(uint64_t total_bytes, const Session* holder) {
  active_ = true;
  holder_ = holder;
  start_s_ = server_.clock().WallMs() / 1000;
  start_ms_ = server_.clock().MonotonicMs();
  total_bytes_ = total_bytes;
  loaded_bytes_ = memory_then_bytes_ = keys_loaded_ = keys_expired_ = 0;
}

Loading::Order Loading::Advance(uint64_t loaded_bytes) {
  loaded_bytes_ = loaded_bytes;
  ServerStats& stats = server_.stats();
  stats.peak_memory_bytes = std::max(stats.peak_memory_bytes, server_.UsedMemory());
  if (server_.host() == nullptr) return Order::kGoOn;
  // The command that loads, if one does, stands aside as a script does.
  const Executor::Aside aside = server_.executor().StandAside();
  const bool goes_on = server_.host()->ServeBesides();
  server_.executor().GoOn(aside);
  return goes_on ? Order::kGoOn : Order::kStop;
}

void Loading::SlowDown() {
  if (server_.settings().key_load_delay != 0) DebugDelay(server_.settings().key_load_delay, delays_);
}

Loading::Figures Loading::Survey() const {
  Figures figures{start_s_, total_bytes_, memory_then_bytes_, loaded_bytes_, 0, 1};
  const int64_t elapsed_s = (server_.clock().MonotonicMs() - start_ms_) / 1000;
  const uint64_t left = total_bytes_ - std::min(total_bytes_, loaded_bytes_);
  if (total_bytes_ != 0) {
    figures.loaded_percent = 100 * static_cast<double>(loaded_bytes_) / static_cast<double>(total_bytes_);
  }
  // Redis: a second, as long as there is nothing to reckon with.
  if (elapsed_s != 0)
    figures.eta_s = static_cast<int64_t>(static_cast<uint64_t>(elapsed_s) * left / (loaded_bytes_ + 1));
  return figures;
}

}  // namespace respite
