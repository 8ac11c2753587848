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

RdbLoadEnd LoadRdb(const Services& services, File& file, const std::string& name, uint64_t offset,
                   const RdbLoadOptions& options) {
  KeyspaceSink sink(services, {services.data.dataset.keyspace, services.execution.function_libraries}, options);
  const auto end = ReadRdb(file, offset, LoadReadOptions(services), sink);
  if (sink.Stopped()) return {LoadOutcome::kStopped, offset};
  if (!end) {
    sink.LogFailure(end.error(), "the file " + name);
    const auto head = offset == 0 ? ReadFileHead(file) : FileHead{.kind = FileHead::Kind::kRdb};
    if (head && head.value().kind != FileHead::Kind::kRdb) {
      services.env.log.Warning("The file " + name + " is " + head.value().what + ".");
    }
    return {LoadOutcome::kFailed, offset, end.error().text};
  }
  sink.LogLoaded();
  return {LoadOutcome::kLoaded, end.value()};
}

RdbLoadEnd LoadRdbFile(const Services& services, const std::string& path, const RdbLoadOptions& options,
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
  RdbLoadEnd end = LoadRdb(services, *file.value(), path, 0, options);
  services.storage.loading.End();
  return end;
}

LoadOutcome LoadDump(const Services& services, const RdbLoadOptions& options, const Session* holder) {
  return LoadRdbFile(services, services.env.settings.dbfilename, options, holder).outcome;
}

}  // namespace respite
