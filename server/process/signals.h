// Signals: SIGTERM and SIGINT ask for a shutdown, a second SIGINT ends the process at once, SIGHUP, SIGPIPE and
// SIGALRM are nothing to us.
#pragma once

#include "base/descriptor.h"

namespace respite {

// Before anything is written anywhere.
void IgnoreNoise();

// Catches SIGTERM and SIGINT while it lives; there can be one. The handler itself logs and exits on a second SIGINT, so
// that works even while a command keeps the loop busy.
class ShutdownSignals {
 public:
  ShutdownSignals();
  ~ShutdownSignals();
  ShutdownSignals(const ShutdownSignals&) = delete;
  ShutdownSignals& operator=(const ShutdownSignals&) = delete;

  // Becomes readable when a signal arrives.
  int DescriptorToWatch() const { return event_.Get(); }
  // The last signal; the descriptor is no longer readable.
  int Take();
  // The shutdown was given up: the next SIGINT is a first one again.
  void Forget();

 private:
  Descriptor event_;
};

}  // namespace respite
