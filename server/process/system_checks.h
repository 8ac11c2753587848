// What about this machine is bad for a server: said in the log at start-up, and by --check-system.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "server/config/settings.h"

namespace respite {

enum class CheckResult : uint8_t { kSkipped, kPassed, kWarning };

struct SystemCheck {
  std::string name;
  CheckResult result;
  std::string advice;  // of a warning
};

// All checks. Cost: about 50 ms of processor time, for timing the clock.
std::vector<SystemCheck> CheckSystem();
// Prints them; the exit code is 1 if there is a warning.
int PrintSystemChecks();

// The quick checks, into the log. Turns huge pages off for this process if they are on and `disable-thp` says so.
void WarnAboutSystem(const Settings& settings, Logger& log);
// `tcp-backlog` above what the kernel grants.
void WarnAboutBacklog(const Settings& settings, Logger& log);

}  // namespace respite
