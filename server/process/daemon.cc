#include "server/process/daemon.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <initializer_list>

namespace respite {

namespace {

// The maximum time, in milliseconds, for which the parent of a daemon waits until the child is ready. It must be
// shorter than two seconds: launchers wait that long for the exit of the parent.
constexpr int kParentWaitMs = 1000;

[[noreturn]] void WaitAndLeave(int child_end) {
  pollfd closed{child_end, POLLIN, 0};
  poll(&closed, 1, kParentWaitMs);
  _exit(0);
}

void DetachStandardDescriptors() {
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return;
  for (int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, standard);
  if (null > STDERR_FILENO) close(null);
}

}  // namespace

void FillStandardDescriptors() {
  int opened = open("/dev/null", O_RDWR);
  while (opened >= 0 && opened <= STDERR_FILENO) opened = dup(opened);
  if (opened > STDERR_FILENO) close(opened);
}

Daemon Daemon::Start() {
  Daemon daemon;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return daemon;
  Descriptor parents(ends[0]);
  daemon.parent_pipe_ = Descriptor(ends[1]);
  pid_t child = fork();
  if (child > 0) {
    daemon.Release();  // closes the parent's copy of the child's end
    WaitAndLeave(parents.Get());
  }
  if (child < 0) return daemon;
  setsid();
  DetachStandardDescriptors();
  return daemon;
}

}  // namespace respite
