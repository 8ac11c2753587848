#include "server/dataset/active_expiry.h"

#include <utility>

namespace respite {

void ActiveExpiry::StartRound(int hz) {
  if (is_asleep_ || parts_.removal->Now() != KeyRemovalPermission::Answer::kYes) return;
  parts_.expiry.StartRound(parts_.env.settings, hz);
  Continue();
}

void ActiveExpiry::Continue() {
  const KeyRemovalPermission::Answer may_remove = parts_.removal->Now();
  if (is_asleep_ || may_remove == KeyRemovalPermission::Answer::kNo) return;
  if (may_remove == KeyRemovalPermission::Answer::kLater) return ContinueInNextTurn();
  const Expiry::Slice slice = parts_.expiry.RunSlice();
  parts_.env.latency.Note("expire-cycle", slice.elapsed_us);
  if (slice.outcome == Expiry::Outcome::kFinished) return;
  if (!parts_.env.host) return Continue();
  ContinueInNextTurn();
}

void ActiveExpiry::ContinueInNextTurn() {
  if (std::exchange(is_slice_posted_, true)) return;
  parts_.env.host->Post([this] {
    is_slice_posted_ = false;
    Continue();
  });
}

}  // namespace respite
