#include "server/process/state_log.h"

#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "datatypes/keyspace.h"
#include "server/clients/clients.h"
#include "server/clients/phase.h"
#include "server/dataset/memory_gauge.h"
#include "server/execution/services.h"

namespace respite {

namespace {

constexpr int64_t kEveryMs = 5000;

void LogDatabases(const Services& services) {
  for (int index = 0; index < services.keyspace.Count(); ++index) {
    const Database& database = services.keyspace[index];
    if (database.Size() == 0 && database.TimedSize() == 0) continue;
    services.log.Verbose("DB " + std::to_string(index) + ": " + std::to_string(database.Size()) + " keys (" +
                         std::to_string(database.TimedSize()) + " volatile) in " +
                         std::to_string(database.Entries().Capacity()) + " slots HT.");
  }
}

}  // namespace

void StateLog::Tick(const Services& services) {
  if (!services.log.Shows(LogLevel::kVerbose) || services.phase.IsMidTurn()) return;
  const int64_t now_ms = services.clock.MonotonicMs();
  if (now_ms < next_ms_) return;
  next_ms_ = now_ms + kEveryMs;
  LogDatabases(services);
  services.log.Debug(std::to_string(services.clients.Count()) + " clients connected (0 replicas), " +
                     std::to_string(services.memory.UsedBytes()) + " bytes in use");
}

}  // namespace respite
