#include "server/storage/data_set.h"

#include "base/number_text.h"
#include "server/server.h"
#include "server/storage/aof_loader.h"

namespace respite {

namespace {

void LogLoaded(Server& server, const char* source, int64_t started_us) {
  const double elapsed_s = static_cast<double>(server.clock().MonotonicUs() - started_us) / 1e6;
  server.log().Notice("DB loaded from " + std::string(source) + ": " + FixedText(elapsed_s, 3) + " seconds");
}

LoadOutcome OpenAppendOnlyFile(Server& server) {
  const bool is_there = !server.aof().directory().manifest().Empty();
  const int64_t started_us = server.clock().MonotonicUs();
  uint64_t base_octets = 0;
  if (is_there) {
    AofLoader loader(server);
    const LoadOutcome outcome = loader.Load();
    if (outcome != LoadOutcome::kLoaded) return outcome;
    base_octets = loader.BaseOctets();
    LogLoaded(server, "append only file", started_us);
  }
  if (server.aof().Begin(base_octets) == Step::kFailed) return LoadOutcome::kFailed;
  return is_there ? LoadOutcome::kLoaded : LoadOutcome::kAbsent;
}

}  // namespace

LoadOutcome OpenDataSet(Server& server) {
  if (server.aof().Prepare() == Step::kFailed) return LoadOutcome::kFailed;
  if (server.settings().appendonly) return OpenAppendOnlyFile(server);
  const int64_t started_us = server.clock().MonotonicUs();
  const LoadOutcome outcome = LoadDump(server, {});
  if (outcome == LoadOutcome::kLoaded) LogLoaded(server, "disk", started_us);
  if (outcome == LoadOutcome::kFailed) {
    server.log().Warning("Fatal error loading the DB, check server logs. Exiting.");
    server.log().Warning("Terminating server after rdb file reading failure.");
  }
  return outcome;
}

}  // namespace respite
