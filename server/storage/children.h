// Children: work that a forked copy of the process does while the server goes on: snapshots and rewrites of the
// append-only file. There is one at a time.
//
// A child sees the data set as it was at the fork. It reports how far it is through a pipe, ends with an outcome, and
// leaves without touching anything else of the server. It dies with its parent, and of SIGUSR1.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"

namespace respite {

class Logger;
class Clock;

enum class ChildWork : uint8_t { kSnapshot, kRewrite };

// What a child tells while it works, and at its end.
struct ChildProgress {
  uint64_t keys_done = 0;
  uint64_t cow_bytes = 0;  // pages that are no longer shared, so far
  uint64_t cow_peak_bytes = 0;
  int64_t cow_at_us = 0;  // monotonic time of the last look at them; 0: none yet
};

// How a child tells. The work calls Tell now and then; most calls do nothing.
class ChildReporter {
 public:
  virtual ~ChildReporter() = default;
  virtual void Tell(uint64_t keys_done) = 0;
};

enum class ChildOutcome : uint8_t { kSucceeded, kFailed, kKilled };  // kKilled: by Kill, or SIGUSR1

struct ChildEnd {
  ChildWork work;
  ChildOutcome outcome;
  int signal = 0;  // that ended it, if one did
  pid_t pid = 0;   // names its temporary files
  int64_t elapsed_ms = 0;
  ChildProgress last = {};
};

// How to get a child: a real fork, or in tests a call in the same process whose end is reported later.
class Forker {
 public:
  // True when the work is done. It logs by itself why not.
  using Job = std::function<bool(ChildReporter&)>;

  virtual ~Forker() = default;
  // The error is an errno. Requires: no child runs. Cost: the fork itself, about 10 ms for each GB of data.
  virtual Result<pid_t, int> Start(ChildWork work, Job job) = 0;
  // What the child has told.
  virtual ChildProgress Progress() = 0;
  // Its end, once; nothing while it runs.
  virtual std::optional<ChildEnd> Poll() = 0;
  // Ends the child and waits for it; Poll reports it as killed.
  virtual void Kill() = 0;
};

}  // namespace respite
