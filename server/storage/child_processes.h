// ChildProcesses: starts and kills the only child process that the server may have. When the child has ended, calls a
// function of the part that started the child. Gives the child's progress to INFO.
#pragma once

#include <functional>
#include <optional>

#include "server/runtime/env.h"
#include "server/storage/children.h"

namespace respite {

class Keyspace;

class ChildProcesses {  // starts and kills the server's only child: a save, a rewrite …
 public:
  using EndHandler = std::function<void(const ChildEnd&)>;

  struct Parts {  // the arguments of the constructor
    const Env& env;
    Keyspace& keyspace;  // all databases, whose keys a child saves
  };
  ChildProcesses(const Parts& parts, Forker& forker) : parts_(parts), forker_(forker) {}

  // Starts a child that runs `job`. Returns its process ID, or an errno on failure. When the child has ended, Poll or
  // Kill calls `ended`. Requires: !Busy().
  Result<pid_t, int> Start(ChildWork work, Forker::Job job,  // forks a child that runs `job`; returns its pid
                           EndHandler ended, int output = -1);
  bool Busy() const { return work_.has_value(); }            // a child runs
  bool Does(ChildWork work) const { return work_ == work; }  // a child runs and does this work

  void Poll();  // called by the timer: if the child has ended, calls its handler `ended`
  void Kill();  // kills the child, if one runs, waits for its end, and calls its handler `ended`

  struct Figures {            // how far the current child is, for INFO; zeros if none runs
    ChildProgress progress;   // what the child has reported
    uint64_t keys_total = 0;  // number of all keys when the child was forked
    int64_t cow_age_s = 0;    // how many seconds ago progress.cow_bytes was measured
  };
  Figures CurrentFigures() const;  // how far the current child is, for INFO

 private:
  const Parts parts_;              // the arguments of the constructor
  Forker& forker_;                 // forks and kills the child
  std::optional<ChildWork> work_;  // what the child does; nullopt: none runs
  pid_t pid_ = 0;                  // process ID of the child that was started last
  EndHandler on_end_;              // called when the child has ended
  uint64_t keys_total_ = 0;        // number of all keys when the child was forked
};

}  // namespace respite
