#include "server/process/parent_watch.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace respite {

ParentWatch::Finding ParentWatch::Find() {
  pid_ = getppid();
  if (pid_ == 0) return Finding::kOutside;
  descriptor_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));  // closed by exec
  if (descriptor_.Get() < 0 && errno == ESRCH) return Finding::kGone;
  // If getppid still returns pid_, the parent did not end between the two calls of getppid. So its PID was not reused,
  // and descriptor_ belongs to the parent. HasAdoptiveParent: the parent had ended even before the first call.
  return getppid() != pid_ || HasAdoptiveParent() ? Finding::kGone : Finding::kThere;
}

bool ParentWatch::HasAdoptiveParent() const {
  const pid_t session = getsid(0);
  return session != getpid() && session != getsid(pid_);
}

bool ParentWatch::HasEnded() const {
  if (descriptor_.Get() < 0) return getppid() != pid_;
  pollfd ended{descriptor_.Get(), POLLIN, 0};
  return poll(&ended, 1, 0) > 0;
}

}  // namespace respite
