#include "server/process/state_log.h"

#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "datatypes/keyspace.h"
#include "server/clients/clients.h"
#include "server/clients/server_phase.h"
#include "server/dataset/memory_gauge.h"

namespace respite {

namespace {

constexpr int64_t kEveryMs = 5000;

void LogDatabases(const StateLog::Parts& parts) {
  for (int index = 0; index < parts.keyspace.Count(); ++index) {
    const Database& database = parts.keyspace[index];
    if (database.Size() == 0 && database.TimedSize() == 0) continue;
    parts.log.Verbose("DB " + std::to_string(index) + ": " + std::to_string(database.Size()) + " keys (" +
                      std::to_string(database.TimedSize()) + " volatile) in " +
                      std::to_string(database.Entries().Capacity()) + " slots HT.");
  }
}

}  // namespace

void StateLog::Tick(const Parts& parts) {
  if (!parts.log.Shows(LogLevel::kVerbose) || parts.phase.IsMidTurn()) return;
  const int64_t now_ms = parts.clock.MonotonicMs();
  if (now_ms < next_ms_) return;
  next_ms_ = now_ms + kEveryMs;
  LogDatabases(parts);
  parts.log.Debug(std::to_string(parts.clients.Count()) + " clients connected (0 replicas), " +
                  std::to_string(parts.memory.UsedBytes()) + " bytes in use");
}

}  // namespace respite
