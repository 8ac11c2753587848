// What a Node asks of its environment: the event loop in production, a fixture in tests.
#pragma once

#include <cstdint>
#include <functional>

namespace respite {

class Host {
 public:
  virtual ~Host() = default;
  // Ends the loop after this Turn; the process exits with this code.
  virtual void Stop(int exit_code) = 0;
  // Runs `task` as soon as the loop is free again, in another Turn.
  virtual void Post(std::function<void()> task) = 0;
  // Serves clients in the middle of a Turn, while a script or loading takes long. Returns false if the server must
  // stop.
  virtual bool ServeDuringLongTask() = 0;
  // Calls Housekeeping::Wake once the monotonic clock has reached this time, or earlier if it is far away. Replaces an
  // earlier call.
  virtual void WakeAt(int64_t monotonic_ms) = 0;
  // Causes a Turn once the Pace has reached this time, whatever the clock says. Replaces an earlier call.
  virtual void TurnAt(int64_t pace_us) = 0;
};

}  // namespace respite
