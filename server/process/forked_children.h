// ForkedChildren: runs saves and rewrites in child processes. It is the implementation of Forker that calls fork().
//
// A child closes its copies of all descriptors except the standard streams, the pipe for its reports, and its output.
// Otherwise client sockets, listeners and file locks could not close together with the server. A child exits with code
// 0 (done), 1 (failed) or 255 (SIGUSR1).
//
// POSIX allows the child of a process with threads few functions. These children also free memory, sync files and look
// up names, which is safe for these reasons:
//
// * Memory: jemalloc and glibc make fork() wait until no thread is inside the allocator, so the child's heap is
//   consistent. With _Fork, as in the crash report, the heap may be inconsistent.
// * Locks of Respite: a child uses no LazyFreeThread, file Worker or NameResolver, and the Logger has no lock.
// * Streams of C and C++ are not used. Files are read and written with system calls.
// * The lock of the time zone: the Logger of a child does not convert to local time.
// * The lock of syslog: no thread holds it during the fork (SyslogPause).
// * Threads: the thread of the server's loop forks, and the child has a copy of no other thread. So the child uses
//   nothing of other servers of this process. The child dies with the thread that forked it. That thread kills the
//   child anyway before it ends.
#pragma once

#include <functional>
#include <optional>

#include "base/descriptor.h"
#include "base/log.h"
#include "base/real_clock.h"
#include "server/storage/children.h"

namespace respite {

class ForkedChildren final : public Forker {  // runs BGSAVE, BGREWRITEAOF … in child processes
 public:
  // A function that runs first in a new child: it sets the title, the processors and the oom-score-adj of the child.
  using Preparation = std::function<void(ChildWork)>;

  ForkedChildren(const RealClock& real_clock, Logger& log, Preparation prepare);
  ~ForkedChildren() override;
  ForkedChildren(const ForkedChildren&) = delete;
  ForkedChildren& operator=(const ForkedChildren&) = delete;

  Result<pid_t, int> Start(ChildWork work, Job job, int output) override;  // forks a child; returns its PID, or errno
  ChildProgress Progress() override;        // the latest progress that the running child has reported
  std::optional<ChildEnd> Poll() override;  // returns a child that has ended; nullopt: none
  void Kill() override;

 private:
  struct Child {  // the child process that runs now
    ChildWork work;
    pid_t pid;
    int64_t started_us;           // when the child was forked (real time)
    Descriptor report_pipe;       // pipe from which the child's progress is read
    ChildProgress progress = {};  // the child's latest report
  };

  [[noreturn]] void Live(ChildWork work, const Job& job, Descriptor report_pipe, int output, pid_t parent) noexcept;
  void ReadReports();  // updates the progress of child_
  std::optional<ChildEnd> Reap(int options);

  const RealClock& real_clock_;
  Logger& log_;
  Preparation prepare_;          // function that runs first in a new child
  std::optional<Child> child_;   // the child that runs now; nullopt: none
  std::optional<ChildEnd> end_;  // how the child that was killed has ended; nullopt: already reported
};

// Returns the modified memory of this process that it shares with no other process. Cost: milliseconds for each GB of
// memory.
uint64_t PrivateDirtyBytes();  // modified memory that this process shares with no other

}  // namespace respite
