// What DEBUG changes in the server and no directive does.
#pragma once

#include <cstdint>

namespace respite {

struct DebugSwitches {
  bool pause_cron = false;              // the timer does nothing: no expiry, no statistics, no checks of clients
  bool skip_payload_checksum = false;   // RESTORE takes payloads with a wrong checksum
  bool any_command_in_scripts = false;  // even those with kNoScript
  int64_t aof_write_delay_us = 0;       // sleeps so long before each write of the append-only file
  bool reply_resizing = true;           // Session::reply_room_bytes follows what the client is sent
  int64_t reply_peak_reset_ms = kReplyPeakResetMs;  // how often Session::output_peak_bytes starts anew; negative: never

  static constexpr int64_t kReplyPeakResetMs = 5000;
};

}  // namespace respite
