// Host: the interface through which a server (Node) uses its event loop. In tests, a fixture implements Host.
#pragma once

#include <cstdint>
#include <functional>

namespace respite {

class Host {  // interface of a server to its event loop; in tests, to a fixture
 public:
  virtual ~Host() = default;
  virtual void Stop(int exit_code) = 0;               // ends the server, and the process if it has no other server
  virtual void Post(std::function<void()> task) = 0;  // runs the task in a later Turn of the event loop
  // Serves clients. Called from time to time in the middle of a Turn (a pass of the event loop) that takes long.
  virtual bool ServeDuringLongTask() = 0;  // serves clients during a slow script or load; false: the server must stop
  // Sets the time of the Clock, in ms, at which the Host must call Housekeeping::Wake. Each call replaces the time of
  // the earlier call.
  virtual void WakeAt(int64_t monotonic_ms) = 0;  // runs the timers when the clock reaches this time
  // Sets the real time, in µs, at which the Host must start a Turn, independently of the Clock. Each call replaces the
  // time of the earlier call.
  virtual void StartTurnAt(int64_t real_us) = 0;  // starts a Turn of the event loop at this time
};

}  // namespace respite
