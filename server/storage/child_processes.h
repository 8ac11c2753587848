// ChildProcesses: manages the one child that the server may have, also for INFO, and reports its end to the part that
// started it.
#pragma once

#include <functional>
#include <optional>

#include "server/runtime/env.h"
#include "server/storage/children.h"

namespace respite {

class Keyspace;

class ChildProcesses {  // manages the one child (RDB save, AOF rewrite …) that may run
 public:
  using EndHandler = std::function<void(const ChildEnd&)>;

  struct Parts {  // the objects that this one uses
    const Env& env;
    Keyspace& keyspace;
  };
  ChildProcesses(const Parts& parts, Forker& forker) : parts_(parts), forker_(forker) {}

  // Returns an errno on failure. Requires: not Busy(). `ended` runs in Poll or Kill.
  Result<pid_t, int> Start(ChildWork work, Forker::Job job, EndHandler ended, int output = -1);
  bool Busy() const { return work_.has_value(); }
  bool Does(ChildWork work) const { return work_ == work; }

  // Calls the handler of a child that has ended. Called by the timer.
  void Poll();
  // Kills the child, if there is one, and calls its handler. Cost: waits until the child has ended.
  void Kill();

  struct Figures {  // of the current child, for INFO; zeros without a child
    ChildProgress progress;
    uint64_t keys_total = 0;  // that the child must save
    int64_t cow_age_s = 0;    // since cow_bytes was measured
  };
  Figures CurrentFigures() const;  // of the current child

 private:
  const Parts parts_;  // the objects that this one uses
  Forker& forker_;
  std::optional<ChildWork> work_;
  pid_t pid_ = 0;
  EndHandler ended_;         // called when the child has ended
  uint64_t keys_total_ = 0;  // when the child started
};

}  // namespace respite
