#include "server/storage/data_set.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/number_text.h"
#include "server/config/settings.h"
#include "server/execution/services.h"
#include "server/storage/aof_loader.h"
#include "server/storage/append_only_file.h"
#include "server/storage/preload.h"
#include "server/storage/storage_subsystem.h"

namespace respite {

namespace {

void LogLoaded(const Services& services, const char* source, int64_t started_us) {
  const double elapsed_s = static_cast<double>(services.env.clock.MonotonicUs() - started_us) / 1e6;
  services.env.log.Notice("DB loaded from " + std::string(source) + ": " + FixedText(elapsed_s, 3) + " seconds");
}

LoadOutcome OpenAppendOnlyFile(const Services& services) {
  const bool is_there = !services.storage.aof.directory().manifest().IsEmpty();
  const int64_t started_us = services.env.clock.MonotonicUs();
  uint64_t base_bytes = 0;
  if (is_there) {
    AofLoader loader(services);
    const LoadOutcome outcome = loader.Load();
    if (outcome != LoadOutcome::kLoaded) return outcome;
    base_bytes = loader.BaseBytes();
    LogLoaded(services, "append only file", started_us);
  }
  if (services.storage.aof.Begin(base_bytes) == Step::kFailed) return LoadOutcome::kFailed;
  return is_there ? LoadOutcome::kLoaded : LoadOutcome::kAbsent;
}

}  // namespace

LoadOutcome LoadDataAtStartup(const Services& services) {
  if (services.storage.aof.Prepare() == Step::kFailed) return LoadOutcome::kFailed;
  if (!services.env.settings.preload_file.empty()) return LoadPreloadFile(services);
  if (services.env.settings.appendonly) return OpenAppendOnlyFile(services);
  if (services.env.settings.starts_empty) return LoadOutcome::kAbsent;
  const int64_t started_us = services.env.clock.MonotonicUs();
  // A replica keeps the expired keys of the file until its primary deletes them.
  const auto expired =
      services.env.settings.replicaof ? RdbLoadOptions::Expired::kKeep : RdbLoadOptions::Expired::kDrop;
  const LoadOutcome outcome = LoadDump(services, {.expired = expired});
  if (outcome == LoadOutcome::kLoaded) LogLoaded(services, "disk", started_us);
  if (outcome == LoadOutcome::kFailed) {
    services.env.log.Warning("Fatal error loading the DB, check server logs. Exiting.");
    services.env.log.Warning("Terminating server after rdb file reading failure.");
  }
  return outcome;
}

}  // namespace respite
