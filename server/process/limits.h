// What the system grants this process: open files, and its rank when memory runs out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "server/config/config.h"
#include "server/config/config_text.h"
#include "server/config/settings.h"

namespace respite {

struct OpenFilesGrant {
  uint32_t maxclients;            // how many clients can really be served; 0: too few to run at all
  std::vector<ConfigNote> notes;  // for the log
};

// Raises RLIMIT_NOFILE to what `maxclients` clients need, as far as the system lets us. Never lowers it.
OpenFilesGrant RaiseOpenFiles(uint32_t maxclients);
// From now on CONFIG SET maxclients raises it, or is refused. Both must outlive the use of the configuration.
void WatchMaxClients(Config& config, Logger& log);

// `oom-score-adj` and `oom-score-adj-values`.
class OomScore {
 public:
  explicit OomScore(Logger& log) : log_(log) {}

  enum class Outcome : uint8_t { kDone, kFailed };
  // Which of the values: of a primary, of a child that saves.
  enum class Process : uint8_t { kServer = 0, kChild = 2 };
  // Writes the score that the settings want; once they want none, the one found at first. A failure is logged.
  Outcome Apply(const Settings& settings, Process process = Process::kServer);

 private:
  Outcome Fail(const char* what);

  Logger& log_;
  std::optional<int> found_;  // the score before we changed it
};

}  // namespace respite
