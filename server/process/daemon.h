// Runs the server as a daemon: forks a child with its own session and with /dev/null as descriptors 0, 1 and 2.
#pragma once

#include "base/descriptor.h"

namespace respite {

// Keeps sockets from getting the descriptors 0, 1 or 2.
void FillStandardDescriptors();  // opens /dev/null for those that the launcher closed

class Daemon {  // a process in the background, whose parent waits until it is ready
 public:
  // The parent exits with 0 when the child calls Release (after it has written its pidfile and listens), when the child
  // dies, or after a second. If pipe or fork fails, returns in the original process. Requires: the process has no other
  // threads.
  static Daemon Start();  // forks; returns only in the child

  Daemon() = default;                                 // a process in the foreground; Release does nothing
  void Release() { waiting_parent_ = Descriptor(); }  // lets the parent exit with 0

 private:
  Descriptor waiting_parent_;  // a pipe: the parent exits when this end is closed
};

}  // namespace respite
