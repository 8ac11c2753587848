// What DEBUG changes in the server and no directive does.
#pragma once

#include <cstdint>

namespace respite {

struct DebugSwitches {
  bool pause_cron = false;  // the timer does nothing: no expiry, no statistics, no checks of clients
};

}  // namespace respite
