// Host: the interface of a Node to its environment: the event loop in production, a fixture in tests.
#pragma once

#include <cstdint>
#include <functional>

namespace respite {

class Host {  // the event loop, or a fixture in tests
 public:
  virtual ~Host() = default;
  virtual void Stop(int exit_code) = 0;               // ends the event loop and the process
  virtual void Post(std::function<void()> task) = 0;  // in another Turn, when the loop is free
  // Serves clients in the middle of a Turn, during a slow script or load.
  virtual bool ServeDuringLongTask() = 0;  // false: stop the server
  // Calls Housekeeping::Wake. Replaces an earlier call.
  virtual void WakeAt(int64_t monotonic_ms) = 0;  // runs the timers then, or earlier
  // Starts a Turn when the Pace reaches this time, independently of the Clock. Replaces an earlier call.
  virtual void StartTurnAt(int64_t pace_us) = 0;  // of the Pace
};

}  // namespace respite
