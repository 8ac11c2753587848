// Signals: SIGTERM and SIGINT request a shutdown. A SIGINT after one of them ends the process immediately. SIGHUP and
// SIGPIPE are ignored, and so is SIGALRM unless a watchdog is on.
#pragma once

#include "base/descriptor.h"

namespace respite {

// Makes `handler` (or SIG_IGN, SIG_DFL) the action of a signal. Other signals can interrupt the handler.
void SetSignalHandler(int signal, void (*handler)(int));  // sets a signal's action, also SIG_IGN and SIG_DFL

// Makes the process ignore SIGHUP and SIGPIPE. Also ignores SIGALRM, until a watchdog starts, which handles SIGALRM.
// Must be called before the first write to a socket or pipe, because SIGPIPE would end the process.
void IgnoreUnusedSignals();  // makes the process ignore SIGHUP, SIGPIPE and SIGALRM

// Catches SIGTERM and SIGINT while this object exists. The signal handler writes to the log, and ends the process if
// SIGINT arrives during a shutdown. So both work even while a command blocks the event loop. Requires: there is only
// one instance.
class ShutdownSignals {  // catches SIGTERM and SIGINT, to shut the server down
 public:
  ShutdownSignals();
  ~ShutdownSignals();
  ShutdownSignals(const ShutdownSignals&) = delete;
  ShutdownSignals& operator=(const ShutdownSignals&) = delete;

  int PollDescriptor() const { return event_.Get(); }  // readable when SIGTERM or SIGINT arrives
  // Returns the last signal, SIGTERM or SIGINT; 0 if there was none, or after ForgetSignal. Afterwards, PollDescriptor
  // is not readable until the next signal.
  int Take();
  // Forgets the signal of a shutdown that was cancelled, so that the next SIGINT requests a shutdown again. Must be
  // called after each cancellation.
  void ForgetSignal();  // after a cancelled shutdown: lets the next SIGINT request a shutdown again

 private:
  Descriptor event_;  // eventfd that becomes readable at SIGTERM or SIGINT
};

}  // namespace respite
