#include "server/lab/clock_control.h"

#include <algorithm>
#include <utility>

#include "base/str_cat.h"
#include "server/clients/client_state.h"
#include "server/clients/clients.h"
#include "server/execution/executor.h"

namespace respite {

std::optional<ClockControl::Due> ClockControl::Next() const {
  const Clock& clock = *parts_.clock;
  const int64_t wall_ms = clock.WallMs();
  std::optional<Due> next;
  if (const auto deadline = parts_.deadlines.FindEarliest()) {
    const std::string name = StrCat(Quoted(deadline->key), " of database ", deadline->db);
    // If the deadline is past, the expiry is due now: an expired key exists until something deletes it.
    const int64_t due_ms = std::max(deadline->wall_ms, wall_ms);
    next = Due{due_ms, due_ms - wall_ms, (deadline->is_field ? "a field of key " : "key ") + name + " expires"};
  }
  const Timers::Source* source = parts_.env.timers.Next();
  if (source == nullptr) return next;
  const int64_t in_ms = std::max<int64_t>(source->NextDueMs() - clock.MonotonicMs(), 0);
  if (next && next->in_ms <= in_ms) return next;
  return Due{wall_ms + std::min(in_ms, INT64_MAX - wall_ms), in_ms, source->NextDueText()};
}

bool ClockControl::MayJump(int64_t elapsed_ms) const {
  const Clock& clock = *parts_.clock;
  return elapsed_ms <= kMaxWallMs - clock.WallMs() && elapsed_ms <= kMaxMonotonicMs - clock.MonotonicMs();
}

std::optional<ClockControl::Due> ClockControl::NextReachableEvent() const {
  auto next = Next();
  if (next && !MayJump(next->in_ms)) next.reset();
  return next;
}

void ClockControl::Freeze() {
  constexpr int64_t kUsPerMs = 1000;
  MovableClock& clock = *parts_.clock;
  clock.Freeze();
  clock.AdvanceUs((kUsPerMs - clock.MonotonicUs() % kUsPerMs) % kUsPerMs);
  clock.SetWallUs(clock.WallUs() / kUsPerMs * kUsPerMs);
  NotifyClockSet();
}

void ClockControl::RunAt(double rate) {
  parts_.clock->RunAt(rate);
  NotifyClockSet();
}

void ClockControl::FollowMachine() {
  parts_.clock->FollowMachine();
  is_auto_jump_ = false;
  NotifyClockSet();
}

void ClockControl::SetWallTimeBack(int64_t wall_ms) {
  parts_.clock->SetWallUs(wall_ms * 1000);
  NotifyClockSet();
}

ClockControl::State ClockControl::Save() const {
  const MovableClock& clock = *parts_.clock;
  return {.mode = clock.mode(),
          .rate = clock.rate(),
          .wall_us = clock.WallUs(),
          .offset_us = clock.OffsetUs(),
          .is_auto_jump = is_auto_jump_};
}

// Restores a saved state of the clock. If the clock was frozen, it shows the saved time again. If it was running, it
// differs from the machine's clock by the saved offset again.
void ClockControl::Restore(const State& state) {
  MovableClock& clock = *parts_.clock;
  const bool is_frozen = state.mode == MovableClock::Mode::kFrozen;
  is_frozen ? clock.Freeze() : clock.RunAt(state.rate);
  clock.SetWallUs(is_frozen ? state.wall_us : clock.WallUs() - clock.OffsetUs() + state.offset_us);
  is_auto_jump_ = state.is_auto_jump;
  NotifyClockSet();
}

// Tells the executor that the clock was set or got another speed, so that later requests of this turn see the new time.
// Also tells the TimeKeeper. Must be called after such a change, except by Pass, which moves the clock through the
// TimeKeeper.
void ClockControl::NotifyClockSet() {
  parts_.executor.AdvanceUnitWallTime();
  const bool stands = parts_.clock->mode() == MovableClock::Mode::kFrozen;
  parts_.keeper.OnClockSet(stands ? TimeKeeper::Motion::kStands : TimeKeeper::Motion::kRuns);
}

void ClockControl::Pass(int64_t elapsed_ms) {
  is_jumping_ = true;
  parts_.keeper.PassTime(elapsed_ms, [this](int64_t step_ms) { parts_.clock->AdvanceUs(step_ms * 1000); });
  is_jumping_ = false;
}

ClockControl::JumpResult ClockControl::JumpNow(int64_t elapsed_ms) {
  if (!MayJump(elapsed_ms)) return {.is_too_far = true};
  Pass(elapsed_ms);
  return {};
}

ClockControl::JumpResult ClockControl::JumpNowTo(int64_t wall_ms) {
  const int64_t elapsed_ms = wall_ms - parts_.clock->WallMs();
  if (elapsed_ms >= 0) return JumpNow(elapsed_ms);
  SetWallTimeBack(wall_ms);
  return {};
}

std::optional<ClockControl::Due> ClockControl::JumpToNextEvent() {
  auto next = NextReachableEvent();
  if (next) Pass(next->in_ms);
  return next;
}

void ClockControl::PostJump(uint64_t client, int64_t elapsed_ms) {
  Post(client, [this, elapsed_ms] { return JumpNow(elapsed_ms); });
}

void ClockControl::PostJumpTo(uint64_t client, int64_t wall_ms) {
  Post(client, [this, wall_ms] { return JumpNowTo(wall_ms); });
}

void ClockControl::PostJumpToNextEvent(uint64_t client) {
  Post(client, [this] { return JumpResult{.reached_event = JumpToNextEvent()}; });
}

void ClockControl::Post(uint64_t client, std::function<JumpResult()> jump) {
  std::erase_if(posted_jumps_, [this](const auto& posted) {
    return posted.second.has_ended && parts_.clients.Find(posted.first) == nullptr;
  });
  posted_jumps_[client] = {};
  parts_.env.host->Post([this, client, jump = std::move(jump)] {
    JumpResult result = jump();
    if (parts_.clients.Find(client) == nullptr) {
      posted_jumps_.erase(client);
    } else {
      posted_jumps_[client] = {.has_ended = true, .result = std::move(result)};
    }
  });
}

std::optional<ClockControl::JumpResult> ClockControl::TakeJumpResult(uint64_t client) {
  const auto posted = posted_jumps_.find(client);
  if (!posted->second.has_ended) return std::nullopt;
  JumpResult result = std::move(posted->second.result);
  posted_jumps_.erase(posted);
  return result;
}

void ClockControl::EndTurn() {
  if (!is_auto_jump_ || is_jumping_ || has_posted_auto_jump_ || !EveryClientWaits() || !NextReachableEvent()) return;
  has_posted_auto_jump_ = true;
  // Makes the jump in the next turn (a pass of the event loop), so that the requests that have already arrived are
  // served before it.
  parts_.env.host->Post([this] {
    has_posted_auto_jump_ = false;
    if (is_auto_jump_ && EveryClientWaits()) JumpToNextEvent();
  });
}

bool ClockControl::EveryClientWaits() const {
  bool all = parts_.clients.Count() != 0;
  parts_.clients.ForEach([&](const Session& session) {
    const bool listens = session.subscriptions != nullptr;
    const bool is_held = session.fault_state != nullptr && !session.fault_state->gate.IsOpen();
    all =
        all && (session.closing || session.IsBlocked() || listens || is_held || session.kind == SessionKind::kReplica);
  });
  return all;
}

}  // namespace respite
