// Checks of the system for settings that harm a server, for the log at startup and for --check-system.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "server/config/settings.h"

namespace respite {

enum class CheckResult : uint8_t { kSkipped, kPassed, kWarning };  // the result of one check

struct SystemCheck {  // the result of one check of the system (kernel settings, clock …)
  std::string name;
  CheckResult result;  // passed, warning, or skipped
  std::string advice;  // what to change, only for a warning
};

// Runs all checks. Cost: about 50 ms of CPU time, to measure how expensive it is to read the clock.
std::vector<SystemCheck> CheckSystem();  // runs all checks of the system
int PrintSystemChecks();                 // runs and prints all checks; returns the exit code: 1 after a warning, else 0

// Logs the warnings of the quick checks. If transparent huge pages are always on and `disable-thp` says so, turns them
// off for this process instead of warning.
void WarnAboutSystem(const Settings& settings, Logger& log);   // logs warnings of quick checks; may turn THP off
void WarnAboutBacklog(const Settings& settings, Logger& log);  // warns if `tcp-backlog` exceeds the kernel's limit

}  // namespace respite
