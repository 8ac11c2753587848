#include "server/storage/rdb_loader.h"

#include <cerrno>

#include "base/log.h"
#include "server/config/settings.h"
#include "server/dataset/dataset.h"
#include "server/execution/services.h"
#include "server/storage/keyspace_sink.h"
#include "server/storage/loading.h"

namespace respite {

RdbLoadEnd LoadRdb(const Services& services, File& file, const std::string& name, uint64_t offset,
                   const RdbLoadOptions& options) {
  KeyspaceSink sink(services, {services.data.keyspace, services.function_libraries}, options);
  const auto end = ReadRdb(file, offset, LoadReadOptions(services), sink);
  if (sink.Stopped()) return {LoadOutcome::kStopped, offset};
  if (!end) {
    sink.LogFailure(end.error(), "the file " + name);
    return {LoadOutcome::kFailed, offset};
  }
  sink.LogLoaded();
  return {LoadOutcome::kLoaded, end.value()};
}

LoadOutcome LoadDump(const Services& services, const RdbLoadOptions& options, const Session* holder) {
  const std::string name = services.settings.dbfilename;
  auto file = services.files.Open(name, FileSystem::Mode::kRead);
  if (!file) {
    if (file.error() == ENOENT) return LoadOutcome::kAbsent;
    services.log.Warning("Fatal error: can't open the RDB file " + name + " for reading: " + IoErrorText(file.error()));
    return LoadOutcome::kFailed;
  }
  const auto size = file.value()->Size();
  services.loading.Begin(size ? size.value() : 0, Phase::Load::kInTurn, holder);
  const RdbLoadEnd end = LoadRdb(services, *file.value(), name, 0, options);
  services.loading.End();
  return end.outcome;
}

}  // namespace respite
