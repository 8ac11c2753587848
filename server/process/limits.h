// Limits of this process: open files, oom-score-adj, and the return of unused memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "server/config/config.h"
#include "server/config/config_text.h"
#include "server/config/settings.h"
#include "server/net/event_loop.h"

namespace respite {

struct OpenFilesGrant {           // result of RaiseOpenFilesLimit: how many clients the limit permits
  uint32_t maxclients;            // how many clients each server can have, at most as requested; 0 if too few to run
  std::vector<ConfigNote> notes;  // messages for the log
};

// Raises RLIMIT_NOFILE so that each of `nodes` servers can have `maxclients` clients. If the system does not allow
// this, raises it to the allowed maximum. Never lowers the limit.
OpenFilesGrant RaiseOpenFilesLimit(uint32_t maxclients, uint32_t nodes);  // raises RLIMIT_NOFILE for `nodes` servers
// Makes CONFIG SET maxclients raise RLIMIT_NOFILE, or fail if that is impossible. Requires: `config` and `log` exist as
// long as directives can change.
void WatchMaxClients(Config& config, Logger& log, uint32_t nodes);  // makes CONFIG SET maxclients raise RLIMIT_NOFILE

// Makes CONFIG SET jemalloc-bg-thread start or end the threads of jemalloc that return unused pages.
void WatchPurging(Config& config);  // makes CONFIG SET jemalloc-bg-thread take effect
// Starts these threads in a second, if jemalloc-bg-thread says so. No page is old before, and they would make the start
// slower. Requires: `settings` exist as long as `loop` runs.
void StartPurgingLater(EventLoop& loop, const Settings& settings);  // starts jemalloc's threads in a second

class OomScore {  // sets the kernel's oom_score_adj of this process
 public:
  explicit OomScore(Logger& log) : log_(log) {}

  enum class Outcome : uint8_t { kDone, kFailed };
  // The numbers are indices of oom-score-adj-values.
  enum class Process : uint8_t { kPrimary = 0, kReplica = 1, kChild = 2 };  // an index of oom-score-adj-values
  // Sets the score that `oom-score-adj` and `oom-score-adj-values` demand for this kind of process. If `oom-score-adj`
  // is off, restores the original score. Logs failures.
  Outcome Apply(const Settings& settings, Process process);  // writes the configured score, or restores the original

 private:
  Outcome Fail(const char* what);  // logs `what` and errno; returns kFailed

  Logger& log_;
  std::optional<int> original_score_;  // the score before this process changed it; nullopt: unchanged
};

}  // namespace respite
