// Log lines from the start of the process until it is ready, with Redis' texts and order, since launchers parse them.
//
// Launchers treat these texts, in any case, as a failed start, so no line may contain them: "error", "denied", "can't",
// "not listen", "already in use". A path may contain them, so lines with a path are logged after readiness.
#pragma once

#include <string>
#include <vector>

#include "base/log.h"
#include "server/config/config.h"

namespace respite {

// Logs the name and version of this program as the first line: "Respite 0.1.0, as Redis 7.2.4".
void LogIdentity(const Settings& settings, Logger& log);
void LogStarting(const CommandLine& line, const Config& config, Logger& log);
// Logs the mode and port, with the logo if Redis would show it: on terminals, or if always-show-logo says so.
void LogMode(const Config& config, Logger& log);

// Returns a text that says where data is saved, or that it is lost when the process ends.
std::string DataPlaceText(const Settings& settings);

// Returns one warning for each setting that this version does not support.
std::vector<std::string> UnsupportedSettings(const Config& config);

}  // namespace respite
