// Signals: SIGTERM and SIGINT request a shutdown, and a second SIGINT ends the process immediately. SIGHUP, SIGPIPE and
// SIGALRM are ignored.
#pragma once

#include "base/descriptor.h"

namespace respite {

// Makes `handler` (or SIG_IGN, SIG_DFL) the action of a signal. Other signals can interrupt the handler.
void SetSignalHandler(int signal, void (*handler)(int));  // `handler` may be SIG_IGN or SIG_DFL

// Makes the process ignore SIGHUP, SIGPIPE and SIGALRM. Must be called before the first write.
void IgnoreUnusedSignals();  // ignores SIGHUP, SIGPIPE and SIGALRM

// SIGTERM and SIGINT are caught while this object exists. The signal handler itself logs, and exits on a second SIGINT,
// so this works even while a command blocks the loop. Requires: there is only one instance.
class ShutdownSignals {  // catches SIGTERM and SIGINT
 public:
  ShutdownSignals();
  ~ShutdownSignals();
  ShutdownSignals(const ShutdownSignals&) = delete;
  ShutdownSignals& operator=(const ShutdownSignals&) = delete;

  int PollDescriptor() const { return event_.Get(); }  // readable when a signal arrives
  // Returns the last signal, and makes the descriptor unreadable until the next one.
  int Take();
  // Must be called after a shutdown was cancelled.
  void ForgetFirstSigint();  // makes the next SIGINT count as the first one

 private:
  Descriptor event_;  // an eventfd that the signal handler writes
};

}  // namespace respite
