// Log lines from the start of the process until it is ready. Most have the texts and the order of Redis, since
// launchers parse them.
//
// If a line contains one of these texts, in upper or lower case, launchers think that the start has failed: "error",
// "denied", "can't", "not listen", "already in use". So no line may contain them. Paths of files may contain them, so a
// line with a path is logged only after the line that reports readiness.
#pragma once

#include <string>
#include <vector>

#include "base/log.h"
#include "server/config/config.h"

namespace respite {

// LogIdentity writes the first line of the log.
void LogIdentity(const Settings& settings, Logger& log);                       // logs "Respite 0.1.0, as Redis 7.2.4"
void LogStarting(const CommandLine& line, const Config& config, Logger& log);  // logs title, version, PID …
// Logs the mode and the port of the server. Shows the logo instead under the same condition as Redis: the log goes to a
// terminal, or always-show-logo is set.
void LogMode(const Config& config, Logger& log);  // logs mode and port, or shows the logo

std::string DataPlaceText(const Settings& settings);  // log line: where data is saved, or that it is not saved

std::vector<std::string> UnsupportedSettingWarnings(const Config& config);  // warnings about settings of modules

}  // namespace respite
