// The lines of the log between the start of the process and its readiness, in Redis' words and order, since launchers
// look for them.
//
// None of them may hold what launchers take for a failed start, in any case of letters: "error", "denied", "can't",
// "not listen", "already in use".
#pragma once

#include <string>
#include <vector>

#include "base/log.h"
#include "server/config/config.h"

namespace respite {

void LogStarting(const CommandLine& line, Logger& log);
// The mode and port, with the logo where Redis shows its own: on terminals, or when told so.
void LogMode(const Settings& settings, Logger& log);

// What the settings ask for and this version does not do, one warning each.
std::vector<std::string> UnservedWishes(const Config& config);

}  // namespace respite
