#include "server/storage/aof_directory.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "base/str_cat.h"

namespace respite {

namespace {

// The maximum size, in bytes, of a manifest that this server reads. Respite and Redis write no larger ones.
constexpr uint64_t kManifestBytesMax = 64 << 20;

}  // namespace

AofDirectory::AofDirectory(FileSystem& files, const Settings& settings, Logger& log)
    : files_(files), settings_(settings), log_(log), removal_(files) {}

Step AofDirectory::Read(OldFile old_file) {
  auto manifest = ReadManifest();
  if (!manifest) return Step::kFailed;
  manifest_ = std::move(*manifest);
  if (old_file != OldFile::kTake || !ShouldTakeOldFile()) return Step::kDone;
  // Files in the directory are newer than the old file, also if their manifest is lost.
  return CheckManifestIsThere() == Step::kDone ? UseOldFileAsBase() : Step::kFailed;
}

std::optional<AofManifest> AofDirectory::ReadManifest() const {
  const std::string path = PathOf(AofManifest::Name(settings_.appendfilename));
  if (files_.KindOf(settings_.appenddirname) != FileSystem::Kind::kDirectory) {
    log_.Debug("The AOF directory " + settings_.appenddirname + " doesn't exist");
    return AofManifest();
  }
  if (files_.KindOf(path) == FileSystem::Kind::kAbsent) {
    log_.Debug("The AOF manifest file " + path + " doesn't exist");
    return AofManifest();
  }
  const auto text = ReadFile(files_, path, kManifestBytesMax);
  if (!text) {
    log_.Warning("Fatal error: can't open the AOF manifest file " + path +
                 " for reading: " + IoErrorText(text.error()));
    return std::nullopt;
  }
  auto manifest = AofManifest::Parse(text.value());
  if (manifest) return std::move(manifest.value());
  log_.Warning("*** FATAL AOF MANIFEST FILE ERROR ***");
  if (const auto& line = manifest.error().line) {
    log_.Warning(StrCat("Reading the manifest file, at line ", line->number));
    log_.Warning(">>> '" + line->text + "'");
  }
  log_.Warning(manifest.error().why);
  return std::nullopt;
}

// Fails if the directory has non-empty AOF files but no manifest, which must have been lost. Redis would start without
// keys in this case, and overwrite the files.
Step AofDirectory::CheckManifestIsThere() {
  if (!manifest_.IsEmpty() || files_.KindOf(settings_.appenddirname) != FileSystem::Kind::kDirectory)
    return Step::kDone;
  if (files_.KindOf(PathOf(AofManifest::Name(settings_.appendfilename))) != FileSystem::Kind::kAbsent)
    return Step::kDone;
  const auto names = files_.List(settings_.appenddirname);
  if (!names)
    return Refuse("Can't read append-only dir " + settings_.appenddirname + ": " + IoErrorText(names.error()));
  for (const std::string& name : names.value()) {
    if (!AofManifest::IsPartName(settings_.appendfilename, name)) continue;
    const auto bytes = FileSize(name);
    if (bytes && bytes.value() == 0) continue;
    return Refuse("Fatal error: the AOF manifest file " + PathOf(AofManifest::Name(settings_.appendfilename)) +
                  " doesn't exist, but " + PathOf(name) +
                  " does. Put the manifest back, or move the files away to begin with an empty data set.");
  }
  return Step::kDone;
}

// Returns whether the single append-only file that Redis before version 7 wrote must be moved into the directory. This
// is so if the manifest names no files. As in Redis, it is also so if the last upgrade was interrupted after the
// manifest was written, but before the file was moved.
bool AofDirectory::ShouldTakeOldFile() const {
  const std::string& name = settings_.appendfilename;
  if (files_.KindOf(name) != FileSystem::Kind::kFile) return false;
  if (manifest_.IsEmpty()) return true;
  return manifest_.base() && manifest_.incrementals().empty() && manifest_.base()->name == name &&
         files_.KindOf(PathOf(name)) == FileSystem::Kind::kAbsent;
}

Step AofDirectory::UseOldFileAsBase() {
  const std::string& name = settings_.appendfilename;
  if (Make() == Step::kFailed) return Step::kFailed;
  if (!manifest_.base()) {
    AofManifest next = manifest_;
    next.UseOldFileAsBase(name);
    if (Commit(std::move(next)) == Step::kFailed) return Step::kFailed;
  }
  IoError error = files_.Rename(name, PathOf(name));
  if (error == kNoError) error = files_.SyncDirectory(settings_.appenddirname);
  if (error == kNoError) error = files_.SyncDirectory(".");
  if (error != kNoError) {
    return Refuse("Error trying to move the old AOF file " + name + " into dir " + settings_.appenddirname + ": " +
                  IoErrorText(error));
  }
  log_.Notice("Successfully migrated an old-style AOF file (" + name + ") into the AOF directory (" +
              settings_.appenddirname + ").");
  return Step::kDone;
}

Step AofDirectory::Make() {
  if (files_.KindOf(settings_.appenddirname) == FileSystem::Kind::kDirectory) return Step::kDone;
  IoError error = files_.MakeDirectory(settings_.appenddirname);
  if (files_.KindOf(settings_.appenddirname) == FileSystem::Kind::kFile) error = ENOTDIR;
  if (error == kNoError) error = files_.SyncDirectory(DirectoryOf(settings_.appenddirname));
  if (error == kNoError) return Step::kDone;
  return Refuse("Can't open or create append-only dir " + settings_.appenddirname + ": " + IoErrorText(error));
}

Step AofDirectory::Lock(const std::string& name) {
  if (lock_ != nullptr && locked_name_ == name) return Step::kDone;
  auto lock = files_.Lock(PathOf(name));
  if (lock) {
    lock_ = std::move(lock.value());
    locked_name_ = name;
    return Step::kDone;
  }
  if (lock.error() == EWOULDBLOCK) {
    return Refuse("The append-only file " + PathOf(name) + " belongs to another server that is running");
  }
  return Refuse("Can't lock the append-only file " + PathOf(name) + ": " + IoErrorText(lock.error()));
}

Step AofDirectory::Commit(AofManifest next) {
  const std::string path = PathOf(AofManifest::Name(settings_.appendfilename));
  const std::string temporary = PathOf(AofManifest::TemporaryName(settings_.appendfilename));
  const IoError error = ReplaceFile(files_, path, temporary, next.Text());
  if (error != kNoError) {
    return Refuse("Error trying to write the AOF manifest file " + path + ": " + IoErrorText(error));
  }
  manifest_ = std::move(next);
  RemoveUncommittedFiles();
  return Step::kDone;
}

AofManifest::NamePredicate AofDirectory::TakenNamePredicate() const {
  return [this](const std::string& name) { return files_.KindOf(PathOf(name)) != FileSystem::Kind::kAbsent; };
}

Step AofDirectory::SyncDirectory() {
  const IoError error = files_.SyncDirectory(settings_.appenddirname);
  if (error == kNoError) return Step::kDone;
  return Refuse("Fail to fsync AOF directory " + settings_.appenddirname + ": " + IoErrorText(error));
}

void AofDirectory::RemoveAfterNextCommit(std::vector<std::string> names) {
  uncommitted_files_.insert(uncommitted_files_.end(), std::make_move_iterator(names.begin()),
                            std::make_move_iterator(names.end()));
}

void AofDirectory::RemoveUncommittedFiles() {
  for (const std::string& name : std::exchange(uncommitted_files_, {})) {
    if (!manifest_.HasPartNamed(name)) RemoveInBackground(name);
  }
}

// Removes the files that a rewrite has replaced, and then their entries in the manifest. With this order, a crash
// leaves no file that the manifest does not list.
void AofDirectory::RemoveHistory() {
  if (settings_.aof_disable_auto_gc || manifest_.history().empty()) return;
  for (const AofManifest::Part& part : manifest_.history()) {
    log_.Notice("Removing the history file " + part.name + " in the background");
    RemoveInBackground(part.name);
    if (TakenNamePredicate()(part.name)) return;  // not removed: its entry stays; retried after the next rewrite
  }
  if (SyncDirectory() == Step::kFailed) return;
  AofManifest next = manifest_;
  next.DropHistory();
  Commit(std::move(next));
}

void AofDirectory::RemoveTemporaries() {
  const std::string& name = settings_.appendfilename;
  for (const std::string& temporary :
       {TemporaryBaseName(), AofManifest::TemporaryName(name), AofManifest::TemporaryIncrementalName(name)}) {
    if (files_.KindOf(PathOf(temporary)) == FileSystem::Kind::kFile) files_.Remove(PathOf(temporary));
  }
}

Result<uint64_t, IoError> AofDirectory::FileSize(const std::string& name) const {
  auto file = files_.Open(PathOf(name), FileSystem::Mode::kRead);
  if (file) return file.value()->Size();
  log_.Warning("Unable to obtain the AOF file " + name + " length. stat: " + IoErrorText(file.error()));
  return Failure(file.error());
}

Result<uint64_t, IoError> AofDirectory::TotalBytes() const {
  uint64_t total = 0;
  std::vector<AofManifest::Part> parts = manifest_.incrementals();
  if (manifest_.base()) parts.push_back(*manifest_.base());
  for (const AofManifest::Part& part : parts) {
    const auto bytes = FileSize(part.name);
    if (!bytes) return bytes;
    total += bytes.value();
  }
  return total;
}

}  // namespace respite
