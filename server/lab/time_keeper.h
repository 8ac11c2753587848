// TimeKeeper: who does what becomes due when the clock of a server is moved: Housekeeping, which is above this room.
#pragma once

#include <cstdint>
#include <functional>

namespace respite {

class TimeKeeper {
 public:
  virtual ~TimeKeeper() = default;
  // Lets `elapsed_ms` pass in steps: everything that becomes due on the way is done at its own time, in order.
  // `advance` moves the clock by a number of ms. Requires: no command runs.
  virtual void PassTime(int64_t elapsed_ms, const std::function<void(int64_t)>& advance) = 0;
  // The clock has another speed, or shows another time: when the next thing is due has to be asked anew.
  enum class Motion : uint8_t { kRuns, kStands };
  virtual void OnClockChanged(Motion motion) = 0;
};

}  // namespace respite
