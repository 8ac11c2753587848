#include "server/startup/out_of_memory_ending.h"

#include <unistd.h>

#include <cstdlib>

#include "server/startup/signal_log.h"

namespace respite {

namespace {

void LogOutOfMemory(size_t bytes) {
  const SignalLog log;
  log.Prefix();
  log.Write("# Out Of Memory allocating ");
  log.Decimal(static_cast<int64_t>(bytes));
  log.Write(" bytes!\n");
}

}  // namespace

void EndServerOutOfMemory(size_t bytes) {
  LogOutOfMemory(bytes);
  std::abort();
}

void EndChildOutOfMemory(size_t bytes) {
  LogOutOfMemory(bytes);
  _exit(1);
}

void EndReportOutOfMemory(size_t) { _exit(1); }

}  // namespace respite
