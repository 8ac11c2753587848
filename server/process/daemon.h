// Daemonizing: forks a child with its own session and with /dev/null as descriptors 0, 1 and 2.
#pragma once

#include "base/descriptor.h"

namespace respite {

// Opens /dev/null for standard descriptors that the launcher closed, so that no socket gets their numbers.
void FillStandardDescriptors();

class Daemon {
 public:
  // Returns only in the child. The parent exits with 0 when the child calls Release (after it has written its pidfile
  // and listens), when the child dies, or after a second. If fork fails, returns in the original process. Requires: no
  // threads.
  static Daemon Start();

  Daemon() = default;  // in the foreground; Release does nothing
  void Release() { waiting_parent_ = Descriptor(); }

 private:
  Descriptor waiting_parent_;
};

}  // namespace respite
