// TimeKeeper: serves the events that become due when the clock of a server is moved. Housekeeping, which is above this
// room, implements it.
#pragma once

#include <cstdint>
#include <functional>

namespace respite {

class TimeKeeper {
 public:
  virtual ~TimeKeeper() = default;
  // Lets `elapsed_ms` pass in steps, so that each event that becomes due is served at its own time, in order. `advance`
  // moves the clock by a number of ms. Requires: no command runs.
  virtual void PassTime(int64_t elapsed_ms, const std::function<void(int64_t)>& advance) = 0;
  // Called when the clock has another speed or shows another time, so that the next due time is computed again.
  enum class Motion : uint8_t { kRuns, kStands };
  virtual void OnClockChanged(Motion motion) = 0;
};

}  // namespace respite
