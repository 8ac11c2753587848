// Pulse: how often the timer rings, as hz and dynamic-hz say: more often when there are many clients to look after.
#pragma once

#include <algorithm>

#include "server/clients/clients.h"
#include "server/config/settings.h"

namespace respite {

class Pulse {
 public:
  Pulse(const Settings& settings, const Clients& clients) : settings_(settings), clients_(clients), hz_(settings.hz) {}

  int Hz() const { return hz_; }
  // Takes the directives over; the timer follows with its next tick.
  void Adjust() {
    hz_ = settings_.hz;
    if (!settings_.dynamic_hz) return;
    while (clients_.Count() / static_cast<size_t>(hz_) > kClientsPerTick && hz_ < kMaxHz)
      hz_ = std::min(hz_ * 2, kMaxHz);
  }

 private:
  static constexpr size_t kClientsPerTick = 200;  // Redis: MAX_CLIENTS_PER_CLOCK_TICK, what dynamic-hz aims at

  const Settings& settings_;
  const Clients& clients_;
  int hz_;
};

}  // namespace respite
