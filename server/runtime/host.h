// Host: the interface of a Node to its environment: the event loop in production, a fixture in tests.
#pragma once

#include <cstdint>
#include <functional>

namespace respite {

class Host {
 public:
  virtual ~Host() = default;
  // Ends the event loop after this Turn; the process exits with this code.
  virtual void Stop(int exit_code) = 0;
  // Runs `task` in another Turn, as soon as the loop is free.
  virtual void Post(std::function<void()> task) = 0;
  // Serves clients in the middle of a Turn, during a slow script or load. Returns false if the server must stop.
  virtual bool ServeDuringLongTask() = 0;
  // Calls Housekeeping::Wake when the monotonic clock reaches this time, or earlier if the time is far away. Replaces
  // an earlier call.
  virtual void WakeAt(int64_t monotonic_ms) = 0;
  // Starts a Turn when the Pace reaches this time, independently of the Clock. Replaces an earlier call.
  virtual void TurnAt(int64_t pace_us) = 0;
};

}  // namespace respite
