// ClientUsage: statistics of one client. Times are in milliseconds of the monotonic clock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace respite {

struct Command;

struct ClientUsage {
  explicit ClientUsage(int64_t now_ms) : created_ms(now_ms), last_active_ms(now_ms) {}

  void Received(size_t bytes, int64_t now_ms) {
    bytes_in += bytes;
    last_active_ms = now_ms;
  }
  void Buffers(size_t bytes) { input_peak_bytes = std::max(input_peak_bytes, bytes); }

  int64_t created_ms;
  int64_t last_active_ms;
  const Command* last_command = nullptr;
  uint64_t commands = 0;
  uint64_t bytes_in = 0;
  uint64_t bytes_out = 0;
  size_t input_peak_bytes = 0;  // most input buffered since the timer's last check
};

}  // namespace respite
