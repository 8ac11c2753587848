#include "server/info/memory_overhead.h"

#include "server/server.h"

namespace respite {

MemoryOverhead MeasureOverhead(Server& server) {
  MemoryOverhead memory;
  memory.used_bytes = server.UsedMemory();
  memory.startup_bytes = server.stats().startup_memory_bytes;
  server.clients().ForEach([&](const Session& session) { memory.clients_bytes += session.HeldBytes(); });
  memory.overhead_bytes = memory.startup_bytes + memory.clients_bytes;
  for (int index = 0; index < server.keyspace().Count(); ++index) {
    const Database& database = server.keyspace()[index];
    if (database.Size() == 0) continue;
    memory.keys += database.Size();
    const size_t keys_bytes = database.Entries().UsedBytes() + database.Size() * sizeof(Entry);
    memory.databases.push_back({index, keys_bytes, database.Timed().UsedBytes()});
    memory.overhead_bytes += keys_bytes + database.Timed().UsedBytes();
  }
  return memory;
}

}  // namespace respite
