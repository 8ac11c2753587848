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

// The first line of the log.
void LogIdentity(const Settings& settings, Logger& log);                       // "Respite 0.1.0, as Redis 7.2.4"
void LogStarting(const CommandLine& line, const Config& config, Logger& log);  // Redis' first lines: "… is starting …"
// Shows the logo where Redis would: on terminals, or if always-show-logo says so.
void LogMode(const Config& config, Logger& log);  // mode and port, or the logo

std::string DataPlaceText(const Settings& settings);  // where data is saved, if anywhere

std::vector<std::string> UnsupportedSettingWarnings(const Config& config);  // one warning for each

}  // namespace respite
