// Becoming a background process: a child in a session of its own, with nothing of the launcher's open on 0, 1 and 2.
#pragma once

#include "base/descriptor.h"

namespace respite {

// Opens /dev/null in the place of standard descriptors that the launcher closed, so that no socket gets their numbers.
void FillStandardDescriptors();

class Daemon {
 public:
  // Returns in the child only. The parent exits with 0 as soon as the child calls Release (it listens, its pidfile
  // exists), has died, or took more than a second. Returns in the one process there is when fork fails.
  // Requires: no threads.
  static Daemon Start();

  Daemon() = default;  // in the foreground: Release does nothing
  void Release() { waiting_parent_ = Descriptor(); }

 private:
  Descriptor waiting_parent_;
};

}  // namespace respite
