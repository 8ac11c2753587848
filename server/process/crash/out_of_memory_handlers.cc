#include "server/process/crash/out_of_memory_handlers.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "server/process/crash/signal_log.h"

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

void EndCrashReporterOutOfMemory(size_t) { _exit(1); }

[[gnu::noinline]] void ReserveStack() {
  constexpr rlim_t kRoom = rlim_t{1} << 20;
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0) return;
  auto* lowest = static_cast<volatile char*>(__builtin_alloca(std::min(kRoom, limit.rlim_cur / 4)));
  *lowest = 0;
}

}  // namespace respite
