// Log lines from the start of the process until it is ready, in Redis' words and order, since launchers parse them.
//
// Launchers take these texts, in any case, for a failed start, so no line may contain them: "error", "denied", "can't",
// "not listen", "already in use". A line with a path, which may contain them, follows readiness.
#pragma once

#include <string>
#include <vector>

#include "base/log.h"
#include "server/config/config.h"

namespace respite {

// Logs what this program is, as the first line: "Respite 0.1.0, as Redis 7.2.4".
void LogIdentity(const Settings& settings, Logger& log);
void LogStarting(const CommandLine& line, const Config& config, Logger& log);
// Logs the mode and port, with the logo when Redis shows it: on terminals, or if always-show-logo says so.
void LogMode(const Config& config, Logger& log);

// Says where data goes, or that it ends with the process.
std::string DataPlaceText(const Settings& settings);

// One warning for each setting that this version does not support.
std::vector<std::string> UnsupportedSettings(const Config& config);

}  // namespace respite
