// Switches of the server that only the command DEBUG changes.
#pragma once

#include <cstdint>

namespace respite {

struct DebugSwitches {                              // server state that only DEBUG changes
  bool pause_cron = false;                          // the timer does no work: no expiry, statistics or client checks
  bool skip_payload_checksum = false;               // RESTORE accepts payloads with a wrong checksum
  bool any_command_in_scripts = false;              // scripts may call commands with the flag kNoScript
  int64_t aof_write_delay_us = 0;                   // microseconds to wait before each write to the append-only file
  bool reply_resizing = true;                       // CLIENT LIST shows a reply buffer that is resized as in Redis
  int64_t reply_peak_reset_ms = kReplyPeakResetMs;  // after this time EmulatedBufferPeakBytes is reset; negative: never

  static constexpr int64_t kReplyPeakResetMs = 5000;  // default of reply_peak_reset_ms
};

}  // namespace respite
