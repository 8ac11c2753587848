#include "base/str_cat.h"
#include "server/execution/services.h"
#include "server/observe/info/sections.h"
#include "server/sentinel/sentinel.h"
#include "server/sentinel/sentinel_mode.h"

namespace respite {

namespace {

constexpr int64_t kMsPerSecond = 1000;
// The bits of the field sentinel_simulate_failure_flags: when this Sentinel will crash (SENTINEL SIMULATE-FAILURE).
constexpr int kAfterElection = 1;
constexpr int kAfterPromotion = 2;

Bytes StatusOf(const Primary& primary) {
  if (primary.is_objectively_down) return "odown";
  return primary.is_down ? "sdown" : "ok";
}

std::string LineOf(const SentinelCore& core, const Primary& primary) {
  std::string line = "name=" + primary.name;
  line.append(",status=").append(StatusOf(primary));
  StrAppend(line, ",address=", core.state.HostToAnnounce(primary.address), ":", primary.address.port);
  StrAppend(line, ",slaves=", primary.replicas.size());
  return StrCat(line, ",sentinels=", primary.sentinels.size() + 1);
}

}  // namespace

std::string SentinelSection(const Services& services) {
  Sentinel& sentinel = *services.sentinel.sentinel();
  const SentinelState& state = sentinel.state();
  const int64_t tilt_s = (sentinel.core().NowMs() - state.tilt_since_ms) / kMsPerSecond;
  InfoText text("Sentinel");
  text.Add("sentinel_masters", state.primaries.size())
      .Add("sentinel_tilt", state.is_in_tilt ? 1 : 0)
      .Add("sentinel_tilt_since_seconds", state.is_in_tilt ? tilt_s : -1)
      .Add("sentinel_total_tilt", state.tilt_count)
      .Add("sentinel_running_scripts", sentinel.scripts().running_count())
      .Add("sentinel_scripts_queue_length", sentinel.scripts().jobs().size())
      .Add("sentinel_simulate_failure_flags",
           (state.simulated_failures.crash_after_election ? kAfterElection : 0) |
               (state.simulated_failures.crash_after_promotion ? kAfterPromotion : 0));
  int number = 0;
  for (const auto& [name, primary] : state.primaries) {
    text.Add(StrCat("master", number++), LineOf(sentinel.core(), *primary));
  }
  return text.Take();
}

}  // namespace respite
