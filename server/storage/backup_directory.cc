#include "server/storage/backup_directory.h"

#include <cerrno>
#include <utility>

namespace respite {

std::string BackupDirectory::Path() const {
  if (settings_.folder->Path() == folder_) return settings_.backupdirname;
  return folder_ + "/" + settings_.backupdirname;
}

std::string BackupDirectory::PathOf(const std::string& name) const { return Path() + "/" + name; }

std::string BackupDirectory::FailureText(const char* what, IoError error) const {
  return std::string("Can't ") + what + " the backup directory " + settings_.backupdirname + ": " + IoErrorText(error);
}

std::optional<std::string> BackupDirectory::Open() {
  folder_ = settings_.folder->Path();
  if (settings_.backupdirname == settings_.appenddirname) {
    return "The directory " + settings_.backupdirname +
           " belongs to the append-only file: choose another backupdirname";
  }
  if (files_.KindOf(Path()) == FileSystem::Kind::kFile) return FailureText("create", ENOTDIR);
  if (files_.KindOf(Path()) == FileSystem::Kind::kAbsent) {
    IoError error = files_.MakeDirectory(Path());
    if (error == kNoError) error = files_.SyncDirectory(DirectoryOf(Path()));
    if (error != kNoError) return FailureText("create", error);
  }
  if (auto reason = Lock()) return reason;
  const auto names = files_.List(Path());
  if (names && names.value().empty()) return std::nullopt;
  Close();
  if (!names) return FailureText("read", names.error());
  return "The backup directory " + settings_.backupdirname + " is not empty";
}

std::optional<std::string> BackupDirectory::Lock() {
  auto lock = files_.Lock(Path());
  if (!lock && lock.error() == EWOULDBLOCK) {
    return "The backup directory " + settings_.backupdirname + " belongs to another server that is running";
  }
  if (!lock) return FailureText("lock", lock.error());
  lock_ = std::move(lock.value());
  return std::nullopt;
}

bool BackupDirectory::IsOwnName(const std::string& name) const {
  const std::string& file_name = settings_.appendfilename;
  return name == ManifestName() || name == TemporaryBaseName() || name == AofManifest::TemporaryName(file_name) ||
         AofManifest::IsPartName(file_name, name);
}

// Removes the files of a backup, the manifest first, so that a crash leaves no manifest whose files are missing. Stops
// at the first file that cannot be removed, and returns the reason; nullopt: all files are removed.
std::optional<std::string> BackupDirectory::RemoveFiles() {
  IoError error = removal_.Remove(PathOf(ManifestName()));
  if (error == kNoError) error = files_.SyncDirectory(Path());
  const auto names = files_.List(Path());
  if (error != kNoError || !names) return FailureText("clean up", error != kNoError ? error : names.error());
  for (const std::string& name : names.value()) {
    if (!IsOwnName(name)) continue;
    error = removal_.Remove(PathOf(name));
    if (error != kNoError) return FailureText("clean up", error);
  }
  error = files_.SyncDirectory(Path());
  return error == kNoError ? std::nullopt : std::optional(FailureText("clean up", error));
}

std::optional<std::string> BackupDirectory::RemoveLeftFiles() {
  folder_ = settings_.folder->Path();
  const bool is_own = settings_.backupdirname != settings_.appenddirname;
  if (!is_own || files_.KindOf(Path()) != FileSystem::Kind::kDirectory) return std::nullopt;
  if (auto reason = Lock()) return reason;
  auto reason = RemoveFiles();
  Close();
  return reason;
}

IoError BackupDirectory::Link(const std::string& from, const std::string& name) {
  IoError error = files_.Link(from, PathOf(name));
  if (error != kNoError) return error;
  error = files_.SyncDirectory(Path());
  if (error != kNoError) Unlink(name);
  return error;
}

IoError BackupDirectory::Rename(const std::string& from, const std::string& to) {
  const IoError error = files_.Rename(PathOf(from), PathOf(to));
  return error == kNoError ? files_.SyncDirectory(Path()) : error;
}

IoError BackupDirectory::WriteTemporaryManifest(const AofManifest& manifest) {
  const std::string path = PathOf(AofManifest::TemporaryName(settings_.appendfilename));
  IoError error = kNoError;
  {
    auto file = files_.Open(path, FileSystem::Mode::kCreate);
    if (!file) return file.error();
    error = file.value()->Write(manifest.Text()).error;
    if (error == kNoError) error = file.value()->Sync();
  }
  if (error != kNoError) files_.Remove(path);
  return error;
}

IoError BackupDirectory::InstallManifest() {
  return Rename(AofManifest::TemporaryName(settings_.appendfilename), ManifestName());
}

}  // namespace respite
