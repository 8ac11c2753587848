// Host: the interface of a Node to its environment: the event loop in production, a fixture in tests.
#pragma once

#include <cstdint>
#include <functional>

namespace respite {

class Host {  // interface to the event loop; tests use a fixture instead
 public:
  virtual ~Host() = default;
  virtual void Stop(int exit_code) = 0;               // ends the event loop and the process
  virtual void Post(std::function<void()> task) = 0;  // runs the task in another Turn, when the loop is free
  // Serves clients in the middle of a Turn, while a slow script runs or data is being loaded. Returns false if the
  // server must stop.
  virtual bool ServeDuringLongTask() = 0;  // serves clients during a long task; false: the server must stop
  // Sets the monotonic time at which the Host must call Housekeeping::Wake. Each call replaces the time of the earlier
  // call.
  virtual void WakeAt(int64_t monotonic_ms) = 0;  // runs the timers at this time, or earlier
  // Sets the time of the Pace at which the Host must start a Turn, independently of the Clock. Each call replaces the
  // time of the earlier call.
  virtual void StartTurnAt(int64_t pace_us) = 0;  // starts a Turn at this real elapsed time (Pace)
};

}  // namespace respite
