#include "server/storage/rdb_loader.h"

#include <cerrno>

#include "base/log.h"
#include "persistence/file_head.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/dataset/dataset.h"
#include "server/execution/execution_subsystem.h"
#include "server/execution/services.h"
#include "server/storage/keyspace_sink.h"
#include "server/storage/loading.h"
#include "server/storage/storage_subsystem.h"

namespace respite {

RdbLoadResult LoadRdb(const Services& services, File& file, const std::string& name, uint64_t offset,
                      const RdbLoadOptions& options) {
  KeyspaceSink sink(services, {services.data.dataset.keyspace, services.execution.function_libraries}, options);
  const auto end = ReadRdb(file, offset, MakeRdbReadOptions(services), sink);
  if (sink.MustServerStop()) return {LoadOutcome::kStopped, offset};
  if (!end) {
    sink.LogFailure(end.error(), "the file " + name);
    const auto head = offset == 0 ? DetectFileFormat(file) : FileFormat{.kind = FileFormat::Kind::kRdb};
    if (head && head.value().kind != FileFormat::Kind::kRdb) {
      services.env.log.Warning("The file " + name + " is " + head.value().what + ".");
    }
    return {LoadOutcome::kFailed, offset, end.error().text};
  }
  sink.LogLoaded();
  return {LoadOutcome::kLoaded, end.value()};
}

RdbLoadResult LoadRdbFile(const Services& services, const std::string& path, const RdbLoadOptions& options,
                          const Session* holder) {
  auto file = services.env.files.Open(path, FileSystem::Mode::kRead);
  if (!file) {
    if (file.error() == ENOENT) return {LoadOutcome::kAbsent, 0};
    const std::string reason = IoErrorText(file.error());
    services.env.log.Warning("Fatal error: can't open the RDB file " + path + " for reading: " + reason);
    return {LoadOutcome::kFailed, 0, reason};
  }
  const auto size = file.value()->Size();
  services.storage.loading.Begin(size ? size.value() : 0, ServerPhase::Load::kInTurn, holder);
  RdbLoadResult end = LoadRdb(services, *file.value(), path, 0, options);
  services.storage.loading.End();
  return end;
}

LoadOutcome LoadDump(const Services& services, const RdbLoadOptions& options, const Session* holder) {
  return LoadRdbFile(services, services.env.settings.dbfilename, options, holder).outcome;
}

}  // namespace respite
