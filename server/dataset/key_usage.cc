#include "server/dataset/key_usage.h"

#include <algorithm>

namespace respite {

uint32_t KeyUsage::Frequency(uint32_t bits, int64_t now_ms) const {
  uint32_t counter = bits & 0xff;
  if (settings_.lfu_decay_time == 0) return counter;
  return counter - std::min(counter, IdleMinutes(bits, now_ms) / static_cast<uint32_t>(settings_.lfu_decay_time));
}

uint32_t KeyUsage::LfuBitsAfterUse(uint32_t old_bits, int64_t now_ms) const {
  uint32_t counter = Frequency(old_bits, now_ms);
  if (counter < 255) {
    // Increments the counter with a probability that falls as the counter grows. With lfu-log-factor 10, the counter
    // reaches its maximum after about a million uses.
    double above_fresh = counter > kInitialLfuCounter ? counter - kInitialLfuCounter : 0;
    if (random_.Unit() < 1.0 / (above_fresh * settings_.lfu_log_factor + 1)) ++counter;
  }
  return Pack(now_ms, counter);
}

}  // namespace respite
