#include "server/storage/preload.h"

#include <optional>
#include <string>
#include <utility>

#include "base/log.h"
#include "persistence/aof_manifest.h"
#include "persistence/file_head.h"
#include "persistence/file_system.h"
#include "server/config/settings.h"
#include "server/dataset/data_subsystem.h"
#include "server/execution/services.h"
#include "server/storage/aof_loader.h"
#include "server/storage/append_only_file.h"
#include "server/storage/loading.h"
#include "server/storage/storage_subsystem.h"

namespace respite {

namespace {

constexpr uint64_t kPreloadManifestBytesMax = 1 << 20;
constexpr size_t kPrefixBytes = 4;  // "aof:"

LoadOutcome FailPreload(const Services& services, const std::string& why) {
  services.env.log.Warning("Fatal error: can't load the preload-file " + services.env.settings.preload_file + ": " +
                           why);
  return LoadOutcome::kFailed;
}

// Finds the files to load. `path` is either a manifest, which names them, or a single append-only file. Fails with the
// reason.
Result<AofFiles, std::string> FilesOf(FileSystem& files, const std::string& path) {
  const auto text = ReadFile(files, path, kPreloadManifestBytesMax);
  auto file = files.Open(path, FileSystem::Mode::kRead);
  if (!file || !text) return Failure(IoErrorText(file ? text.error() : file.error()));
  const auto format = DetectFileFormat(*file.value());
  if (!format) return Failure(IoErrorText(format.error()));
  AofFiles found;
  found.folder = DirectoryOf(path);
  found.may_be_changed = false;
  // First tries to parse the text as a manifest. Its first byte does not decide, because both a manifest and an
  // append-only file may begin with "#".
  auto manifest = AofManifest::Parse(text.value());
  if (manifest) {
    found.manifest = std::move(manifest.value());
    return found;
  }
  const auto kind = format.value().kind;
  if (kind == FileFormat::Kind::kRdb || kind == FileFormat::Kind::kRecords) {
    found.manifest.UseOldFileAsBase(path.substr(path.rfind('/') + 1));
    return found;
  }
  std::string why = "it is no valid manifest: " + manifest.error().why;
  if (const auto& line = manifest.error().line) why += ", at line " + std::to_string(line->number) + ": " + line->text;
  return Failure(std::move(why));
}

// Checks a file that the manifest names, and adds its size to `total_bytes`. Returns why the file cannot be loaded, or
// nullopt.
std::optional<std::string> CheckPart(FileSystem& files, const std::string& path, uint64_t& total_bytes) {
  auto file = files.Open(path, FileSystem::Mode::kRead);
  if (!file) return path + ": " + IoErrorText(file.error());
  const auto bytes = file.value()->Size();
  if (!bytes) return path + ": " + IoErrorText(bytes.error());
  const auto format = DetectFileFormat(*file.value());
  if (!format) return path + ": " + IoErrorText(format.error());
  if (format.value().kind == FileFormat::Kind::kOther) return path + " is " + format.value().what;
  total_bytes += bytes.value();
  return std::nullopt;
}

std::optional<std::string> CheckParts(FileSystem& files, AofFiles& found) {
  if (found.manifest.IsEmpty()) return "the manifest names no files";
  if (!found.manifest.base()) return "the manifest names no base";
  auto why = CheckPart(files, found.folder + "/" + found.manifest.base()->name, found.total_bytes);
  for (const AofManifest::Part& part : found.manifest.incrementals()) {
    if (!why) why = CheckPart(files, found.folder + "/" + part.name, found.total_bytes);
  }
  return why;
}

LoadOutcome LoadPreloadedAof(const Services& services, const std::string& path) {
  auto found = FilesOf(services.env.files, path);
  if (!found) return FailPreload(services, found.error());
  if (const auto why = CheckParts(services.env.files, found.value())) return FailPreload(services, *why);
  const LoadOutcome outcome = AofLoader(services).LoadFiles(std::move(found.value()));
  return outcome == LoadOutcome::kFailed ? FailPreload(services, "see the log above") : outcome;
}

LoadOutcome LoadPreloadedRdb(const Services& services, const std::string& path) {
  const RdbLoadResult end = LoadRdbFile(services, path, {.expired = RdbLoadOptions::Expired::kDrop});
  if (end.outcome == LoadOutcome::kAbsent) return FailPreload(services, "there is no such file");
  return end.outcome == LoadOutcome::kFailed ? FailPreload(services, end.failure) : end.outcome;
}

}  // namespace

LoadOutcome LoadPreloadFile(const Services& services) {
  const std::string& target = services.env.settings.preload_file;
  const std::string path = target.substr(kPrefixBytes);
  const LoadOutcome outcome =
      target.starts_with("aof:") ? LoadPreloadedAof(services, path) : LoadPreloadedRdb(services, path);
  if (outcome != LoadOutcome::kLoaded) return outcome;
  // Begins a new replication history with this data, because replicas may have newer data of the old history. The new
  // history begins above the offset in the file, because elections prefer the replica with the larger offset.
  Loading::FileHistory& file = services.storage.loading.file_history();
  if (file.IsWhole()) services.data.dataset.history.least_offset = file.offset + 1;
  file = {};
  services.storage.loading.TakeSkippedExpiredKeys();
  services.env.log.Warning("DB loaded from the preload-file " + target +
                           ". Remove the directive before the next start, which would load it again.");
  if (!services.env.settings.appendonly) return LoadOutcome::kLoaded;
  return services.storage.aof.BeginWithNewBase() == Step::kDone ? LoadOutcome::kLoaded : LoadOutcome::kFailed;
}

}  // namespace respite
