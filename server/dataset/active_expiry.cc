#include "server/dataset/active_expiry.h"

#include <utility>

namespace respite {

void ActiveExpiry::StartRound(int hz) {
  if (sleeps_ || parts_.removal->Now() != KeyRemoval::Answer::kYes) return;
  parts_.expiry.StartRound(parts_.env.settings, hz);
  Continue();
}

void ActiveExpiry::Continue() {
  const KeyRemoval::Answer may_remove = parts_.removal->Now();
  if (sleeps_ || may_remove == KeyRemoval::Answer::kNo) return;
  if (may_remove == KeyRemoval::Answer::kLater) return ContinueInNextTurn();
  const Expiry::Slice slice = parts_.expiry.RunSlice();
  parts_.env.latency.Note("expire-cycle", slice.elapsed_us);
  if (slice.outcome == Expiry::Outcome::kFinished) return;
  if (!parts_.env.host) return Continue();
  ContinueInNextTurn();
}

void ActiveExpiry::ContinueInNextTurn() {
  if (std::exchange(posted_, true)) return;
  parts_.env.host->Post([this] {
    posted_ = false;
    Continue();
  });
}

}  // namespace respite
