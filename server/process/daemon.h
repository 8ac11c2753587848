// Daemonizing: forks a child with its own session and with /dev/null as 0, 1 and 2.
#pragma once

#include "base/descriptor.h"

namespace respite {

// Opens /dev/null for standard descriptors that the launcher closed, so that no socket gets their numbers.
void FillStandardDescriptors();

class Daemon {
 public:
  // Returns in the child only. The parent exits with 0 when the child calls Release (its pidfile is written and it
  // listens), when it dies, or after a second. If fork fails, returns in the original process. Requires: no threads.
  static Daemon Start();

  Daemon() = default;  // in the foreground; Release does nothing
  void Release() { waiting_parent_ = Descriptor(); }

 private:
  Descriptor waiting_parent_;
};

}  // namespace respite
