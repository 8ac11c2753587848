// Host: the interface of a Node to its environment: the event loop in production, a fixture in tests.
#pragma once

#include <cstdint>
#include <functional>

namespace respite {

class Host {  // interface of a server to its event loop; in tests, to a fixture
 public:
  virtual ~Host() = default;
  virtual void Stop(int exit_code) = 0;               // ends the server; alone in its process, also the process
  virtual void Post(std::function<void()> task) = 0;  // runs the task in a later Turn
  // Serves clients in the middle of a Turn, while a slow script runs or data is being loaded. Returns false if the
  // server must stop.
  virtual bool ServeDuringLongTask() = 0;  // serves clients during a slow script or load; false: the server must stop
  // Sets the clock time at which the Host must call Housekeeping::Wake. Each call replaces the time of the earlier
  // call.
  virtual void WakeAt(int64_t monotonic_ms) = 0;  // runs the timers when the clock reaches this time
  // Sets the real time at which the Host must start a Turn, independently of the Clock. Each call replaces the
  // time of the earlier call.
  virtual void StartTurnAt(int64_t pace_us) = 0;  // a Turn starts at this real time
};

}  // namespace respite
