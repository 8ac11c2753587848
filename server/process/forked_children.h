// ForkedChildren: the real Forker.
//
// A child keeps the log and nothing else that the server has open: not the clients, whose connections must end with
// the server, not the listeners, not the locks of files. It ends with code 0 (done), 1 (failed) or 255 (SIGUSR1).
//
// The server has other threads (they free memory, sync files, look up names), and POSIX allows the child of such a
// process little. What it does here is safe all the same:
//
// * Memory: fork() waits until no other thread is inside of the allocator (jemalloc and glibc see to that), so the
//   child's heap is whole. With _Fork, which the report of a crash uses, it is not.
// * Our own locks: a child touches no Reclaimer, no Worker of files and no NameResolver; the Logger has no lock.
// * Streams of the standard library and of C: none. Files are read and written with system calls.
// * The lock of the time zone: only the main thread asks for local time, and it is the one that forks.
#pragma once

#include <functional>
#include <optional>

#include "base/descriptor.h"
#include "base/log.h"
#include "base/pace.h"
#include "server/storage/children.h"

namespace respite {

class ForkedChildren final : public Forker {
 public:
  // What a new child does first: its title, its processors, its rank when memory runs out.
  using Preparation = std::function<void(ChildWork)>;

  ForkedChildren(const Pace& pace, Logger& log, Preparation prepare);
  ~ForkedChildren() override;
  ForkedChildren(const ForkedChildren&) = delete;
  ForkedChildren& operator=(const ForkedChildren&) = delete;

  Result<pid_t, int> Start(ChildWork work, Job job) override;
  ChildProgress Progress() override;
  std::optional<ChildEnd> Poll() override;
  void Kill() override;

 private:
  struct Child {
    ChildWork work;
    pid_t pid;
    int64_t started_us;
    Descriptor reports;
    ChildProgress progress = {};
  };

  [[noreturn]] void Live(ChildWork work, const Job& job, Descriptor reports, pid_t parent) noexcept;
  void ReadReports();
  std::optional<ChildEnd> Reap(int options);

  const Pace& pace_;
  Logger& log_;
  Preparation prepare_;
  std::optional<Child> child_;
  std::optional<ChildEnd> end_;  // of one that was killed
};

// Memory of this process that it shares with no other and has written to, in octets. Cost: ms for each GB.
uint64_t PrivateDirtyBytes();

}  // namespace respite
