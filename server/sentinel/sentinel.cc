#include "server/sentinel/sentinel.h"

#include <algorithm>
#include <utility>

#include "base/str_cat.h"

namespace respite {

namespace {

constexpr int64_t kFastestTickMs = 50;
constexpr int64_t kSlowestTickMs = 100;
constexpr int64_t kSoonMs = 1000;  // minimum time between saves by SaveSoon

}  // namespace

Sentinel::Sentinel(const Parts& parts)
    : random_(parts.random_seed),
      core_{parts.real_clock, parts.log, random_, parts.network, parts.host, state_},
      scripts_(core_),
      events_(core_, scripts_),
      list_(core_, events_),
      replicaof_sender_(core_),
      hello_protocol_(core_, events_, list_),
      down_watch_(core_, events_),
      election_(core_, events_),
      failover_({core_, events_, list_, replicaof_sender_, hello_protocol_, down_watch_, election_}),
      reader_(core_, events_, list_, replicaof_sender_, failover_),
      instance_protocol_(core_, hello_protocol_, reader_),
      ticked_at_ms_(parts.real_clock.NowMs()) {
  const auto advance = [this](Primary& primary) {
    if (!state_.is_in_tilt) AdvanceFailover(primary);
  };
  down_watch_.SetOpinionHandler(advance);
  reader_.SetInfoHandler(advance);
}

std::optional<InvalidLine> Sentinel::Read(const std::vector<ConfigLine>& lines) {
  return SentinelLinesReader(core_, list_).Read(lines);
}

void Sentinel::Start() {
  if (state_.id.empty()) {
    state_.id = RandomHex(kSentinelIdLength);
    core_.Save();
  }
  core_.log.Notice("Sentinel ID is " + state_.id);
  core_.log.Notice("Sentinel runid is " + state_.id);  // Redis' text before 3.2, for which some launchers wait
  for (const auto& [name, primary] : state_.primaries) {
    events_.Tell(LogLevel::kWarning, "+monitor", *primary, StrCat(" quorum ", primary->quorum));
  }
}

int64_t Sentinel::RandomTickMs() {
  return kFastestTickMs + static_cast<int64_t>(random_.Below(kSlowestTickMs - kFastestTickMs));
}

void Sentinel::Tick() {
  CheckTilt();
  state_.look_ups_left = SentinelState::kLookUpsPerTick;
  std::vector<Primary*> switching;
  for (const auto& [name, primary] : state_.primaries) {
    TickPrimary(*primary);
    if (primary->failover_state == FailoverState::kUpdateConfig) switching.push_back(primary.get());
  }
  for (Primary* primary : switching) failover_.SwitchToPromoted(*primary);
  scripts_.Continue();
  if (!state_.wants_save || core_.NowMs() - state_.saved_soon_ms < kSoonMs) return;
  state_.saved_soon_ms = core_.NowMs();
  core_.Save();
}

bool Sentinel::HasHeardFromAllInstances() const {
  const auto answers = [](const Instance& instance) {
    return !instance.link->IsDisconnected() && instance.link->ping_waits_since_ms == 0;
  };
  return std::ranges::all_of(state_.primaries, [&](const auto& watched) {
    const Primary& primary = *watched.second;
    return primary.info && answers(primary) &&
           std::ranges::all_of(primary.replicas,
                               [&](const auto& one) { return one.second->info && answers(*one.second); }) &&
           std::ranges::all_of(primary.sentinels, [&](const auto& one) { return answers(*one.second); });
  });
}

// Enters tilt mode if the time since the last tick is negative or too long. Then this Sentinel did not run for a while,
// and must not mistake its own delay for silence of other instances. In tilt mode it still sends PING, INFO and hello
// messages. It considers no instance down, and starts no failover, until SentinelPeriods::tilt_period_ms has passed.
void Sentinel::CheckTilt() {
  const int64_t now_ms = core_.NowMs();
  const int64_t elapsed_ms = now_ms - std::exchange(ticked_at_ms_, now_ms);
  if (elapsed_ms >= 0 && elapsed_ms <= state_.periods.tilt_trigger_ms) return;
  state_.is_in_tilt = true;
  ++state_.tilt_count;
  state_.tilt_since_ms = now_ms;
  core_.Say(LogLevel::kWarning, "+tilt", "#tilt mode entered");
}

void Sentinel::LeaveTilt() {
  state_.is_in_tilt = false;
  core_.Say(LogLevel::kWarning, "-tilt", "#tilt mode exited");
}

void Sentinel::TickInstance(Instance& instance) {
  instance_protocol_.Continue(instance);
  if (state_.is_in_tilt && core_.NowMs() - state_.tilt_since_ms >= state_.periods.tilt_period_ms) LeaveTilt();
  if (!state_.is_in_tilt) down_watch_.CheckSubjectivelyDown(instance);
}

void Sentinel::TickPrimary(Primary& primary) {
  TickInstance(primary);
  if (!state_.is_in_tilt) {
    AdvanceFailover(primary);
    down_watch_.AskOtherSentinels(primary, DownWatch::AskTiming::kWhenDue);
  }
  for (const auto& [name, replica] : primary.replicas) TickInstance(*replica);
  for (const auto& [id, sentinel] : primary.sentinels) TickInstance(*sentinel);
}

// Checks whether the primary is down. Starts a failover if needed, and takes its steps until one must wait.
void Sentinel::AdvanceFailover(Primary& primary) {
  down_watch_.CheckObjectivelyDown(primary);
  failover_.StartIfNeeded(primary);
  FailoverState before;
  do {
    before = primary.failover_state;
    failover_.Continue(primary);
  } while (primary.failover_state != before);
}

}  // namespace respite
