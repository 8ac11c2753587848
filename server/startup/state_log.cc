#include "server/startup/state_log.h"

#include <string>

#include "server/server.h"

namespace respite {

namespace {

constexpr int64_t kEveryMs = 5000;

void LogDatabases(Server& server) {
  for (int index = 0; index < server.keyspace().Count(); ++index) {
    const Database& database = server.keyspace()[index];
    if (database.Size() == 0 && database.TimedSize() == 0) continue;
    server.log().Verbose("DB " + std::to_string(index) + ": " + std::to_string(database.Size()) + " keys (" +
                         std::to_string(database.TimedSize()) + " volatile) in " +
                         std::to_string(database.Entries().Capacity()) + " slots HT.");
  }
}

}  // namespace

void StateLog::Tick(Server& server) {
  if (!server.log().Shows(LogLevel::kVerbose) || server.IsMidTurn()) return;
  const int64_t now_ms = server.clock().MonotonicMs();
  if (now_ms < next_ms_) return;
  next_ms_ = now_ms + kEveryMs;
  LogDatabases(server);
  server.log().Debug(std::to_string(server.clients().Count()) + " clients connected (0 replicas), " +
                     std::to_string(server.UsedMemory()) + " bytes in use");
}

}  // namespace respite
