// Runs the server as a daemon: forks a child with its own session and with /dev/null as descriptors 0, 1 and 2.
#pragma once

#include "base/descriptor.h"

namespace respite {

// Opens /dev/null for each of the descriptors 0, 1 and 2 that the launcher has closed, so that no socket gets one of
// these numbers.
void FillStandardDescriptors();  // opens /dev/null for those of descriptors 0, 1 and 2 that are closed

class Daemon {  // a process in the background, whose parent waits until the process is ready
 public:
  // Forks a child, and returns in it. The parent exits with 0 when the child calls Release (because the server is
  // ready), when the child dies, or after a second. If pipe or fork fails, returns in the original process. Requires:
  // the process has no other threads.
  static Daemon Start();  // forks and returns in the child; after a failure returns in the old process

  Daemon() = default;                              // a process in the foreground; Release does nothing
  void Release() { parent_pipe_ = Descriptor(); }  // lets the parent process exit with 0

 private:
  Descriptor parent_pipe_;  // end of a pipe: when it is closed, the waiting parent exits
};

}  // namespace respite
