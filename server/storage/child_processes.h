// ChildProcesses: starts and kills the one child that the server may have. Reports the child's end to the part that
// started it, and its progress to INFO.
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

  struct Parts {  // other parts of the server that this class uses
    const Env& env;
    Keyspace& keyspace;
  };
  ChildProcesses(const Parts& parts, Forker& forker) : parts_(parts), forker_(forker) {}

  // Starts a child. Returns its process ID, or an errno on failure. When the child has ended, Poll or Kill calls
  // `ended`. Requires: !Busy().
  Result<pid_t, int> Start(ChildWork work, Forker::Job job, EndHandler ended, int output = -1);  // its pid, or an errno
  bool Busy() const { return work_.has_value(); }
  bool Does(ChildWork work) const { return work_ == work; }

  // Calls the handler of a child that has ended. Called by the timer.
  void Poll();
  // Kills the child, if there is one, and calls its handler. Cost: waits until the child has ended.
  void Kill();

  struct Figures {  // values of the current child for INFO; zeros without a child
    ChildProgress progress;
    uint64_t keys_total = 0;  // number of keys that the child must save
    int64_t cow_age_s = 0;    // time since cow_bytes was measured
  };
  Figures CurrentFigures() const;  // values of the current child

 private:
  const Parts parts_;  // other parts of the server that this class uses
  Forker& forker_;
  std::optional<ChildWork> work_;
  pid_t pid_ = 0;
  EndHandler ended_;         // called when the child has ended
  uint64_t keys_total_ = 0;  // number of keys when the child started
};

}  // namespace respite
