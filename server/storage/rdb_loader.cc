#include "server/storage/rdb_loader.h"

#include <cerrno>

#include "base/log.h"
#include "persistence/file_head.h"
#include "server/config/settings.h"
#include "server/dataset/dataset.h"
#include "server/execution/services.h"
#include "server/storage/keyspace_sink.h"
#include "server/storage/loading.h"

namespace respite {

RdbLoadParts::RdbLoadParts(const Services& services)
    : settings(services.settings),
      debug(services.debug),
      clock(services.clock),
      log(services.log),
      files(services.files),
      data(services.data),
      function_libraries(services.function_libraries),
      loading(services.loading) {}

RdbLoadEnd LoadRdb(const RdbLoadParts& parts, File& file, const std::string& name, uint64_t offset,
                   const RdbLoadOptions& options) {
  KeyspaceSink sink(parts, {parts.data.keyspace, parts.function_libraries}, options);
  const auto end = ReadRdb(file, offset, LoadReadOptions(parts), sink);
  if (sink.Stopped()) return {LoadOutcome::kStopped, offset};
  if (!end) {
    sink.LogFailure(end.error(), "the file " + name);
    const auto head = offset == 0 ? ReadFileHead(file) : FileHead{.kind = FileHead::Kind::kRdb};
    if (head && head.value().kind != FileHead::Kind::kRdb) {
      parts.log.Warning("The file " + name + " is " + head.value().what + ".");
    }
    return {LoadOutcome::kFailed, offset, end.error().text};
  }
  sink.LogLoaded();
  return {LoadOutcome::kLoaded, end.value()};
}

RdbLoadEnd LoadRdbFile(const RdbLoadParts& parts, const std::string& path, const RdbLoadOptions& options,
                       const Session* holder) {
  auto file = parts.files.Open(path, FileSystem::Mode::kRead);
  if (!file) {
    if (file.error() == ENOENT) return {LoadOutcome::kAbsent, 0};
    const std::string reason = IoErrorText(file.error());
    parts.log.Warning("Fatal error: can't open the RDB file " + path + " for reading: " + reason);
    return {LoadOutcome::kFailed, 0, reason};
  }
  const auto size = file.value()->Size();
  parts.loading.Begin(size ? size.value() : 0, ServerPhase::Load::kInTurn, holder);
  RdbLoadEnd end = LoadRdb(parts, *file.value(), path, 0, options);
  parts.loading.End();
  return end;
}

LoadOutcome LoadDump(const RdbLoadParts& parts, const RdbLoadOptions& options, const Session* holder) {
  return LoadRdbFile(parts, parts.settings.dbfilename, options, holder).outcome;
}

}  // namespace respite
