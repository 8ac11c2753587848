// Log lines from the start of the process until it is ready, in Redis' words and order, since launchers parse them.
//
// Launchers take these texts, in any case, for a failed start, so no line may contain them: "error", "denied", "can't",
// "not listen", "already in use".
#pragma once

#include <string>
#include <vector>

#include "base/log.h"
#include "server/config/config.h"

namespace respite {

void LogStarting(const CommandLine& line, const Config& config, Logger& log);
// Logs the mode and port, with the logo when Redis shows it: on terminals, or if always-show-logo says so.
void LogMode(const Config& config, Logger& log);

// One warning for each setting that this version does not support.
std::vector<std::string> UnsupportedSettings(const Config& config);

}  // namespace respite
