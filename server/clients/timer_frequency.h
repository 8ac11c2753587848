// TimerFrequency: the frequency of the timer (hz). With dynamic-hz it grows with the number of clients.
#pragma once

#include <algorithm>

#include "server/clients/clients.h"
#include "server/config/settings.h"

namespace respite {

class TimerFrequency {
 public:
  TimerFrequency(const Settings& settings, const Clients& clients)
      : settings_(settings), clients_(clients), hz_(settings.hz) {}

  int Hz() const { return hz_; }
  // Applies the directives from the next tick on.
  void Adjust() {
    hz_ = settings_.hz;
    if (!settings_.dynamic_hz) return;
    while (clients_.Count() / static_cast<size_t>(hz_) > kClientsPerTick && hz_ < kMaxHz)
      hz_ = std::min(hz_ * 2, kMaxHz);
  }

 private:
  static constexpr size_t kClientsPerTick = 200;  // Redis: MAX_CLIENTS_PER_CLOCK_TICK, the goal of dynamic-hz

  const Settings& settings_;
  const Clients& clients_;
  int hz_;
};

}  // namespace respite
