// Switches of the server that only the command DEBUG changes.
#pragma once

#include <cstdint>

namespace respite {

struct DebugSwitches {                  // switches of the server that only the command DEBUG changes
  bool pause_cron = false;              // true: a timer tick expires no keys, checks no clients, starts no saves …
  bool skip_payload_checksum = false;   // true: RESTORE and RDB loading accept wrong checksums
  bool any_command_in_scripts = false;  // true: scripts may call most commands with the flag kNoScript
  int64_t aof_write_delay_us = 0;       // how long each write to the append-only file waits first, in µs
  bool reply_resizing = true;           // true: CLIENT LIST's emulated reply buffer changes its size
  // CLIENT LIST shows the peak as rbp. Set by DEBUG REPLYBUFFER PEAK-RESET-TIME.
  int64_t reply_peak_reset_ms = kReplyPeakResetMs;  // how often a client's peak reply size is reset; < 0: never

  static constexpr int64_t kReplyPeakResetMs = 5000;  // the default of reply_peak_reset_ms
};

}  // namespace respite
