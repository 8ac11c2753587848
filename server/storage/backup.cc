#include "server/storage/backup.h"

#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/str_cat.h"
#include "server/clients/current_execution.h"
#include "server/config/settings.h"
#include "server/storage/child_processes.h"
#include "server/storage/loading.h"
#include "server/storage/rdb_contents.h"

namespace respite {

namespace {

// Returns whether the error of a hard link means that no hard link is possible between these two directories, or in
// their file system.
bool IsLinkingImpossible(IoError error) {
  return error == EXDEV || error == EPERM || error == ENOSYS || error == EOPNOTSUPP || error == EMLINK;
}

}  // namespace

Backup::Backup(const Parts& parts)
    : parts_(parts), directory_(parts.files, parts.env.settings), recorder_(parts.env, parts.files, parts.journals) {
  parts_.aof.AttachListener(*this);
}

// --- BACKUP START

Backup::FailureReason Backup::Start() {
  if (state_ == State::kFailed) {
    // Removes the files of the failed backup again, because Fail may not have been able to remove them.
    if (auto reason = CleanUp()) return reason;
  }
  if (auto reason = directory_.Open()) return reason;
  state_ = State::kPending;
  started_s_ = parts_.env.clock.WallMs() / 1000;
  parts_.env.log.Notice("Backup started into " + directory_.AbsolutePathOf(""));
  auto reason = Begin();
  if (reason) Fail(*reason);
  return reason;
}

bool Backup::MustWaitToFork() const {
  return parts_.child_processes.Busy() || !parts_.current_execution.MayBlock() || parts_.loading.IsActive() ||
         !parts_.contents.IsWorthSaving();
}

Backup::FailureReason Backup::Begin() {
  if (parts_.aof.IsOn() && !is_linking_impossible_) return BeginFromAof();
  return MustWaitToFork() ? std::nullopt : BeginByItself();
}

Backup::FailureReason Backup::BeginFromAof() {
  if (!parts_.aof.IsRewriting()) {
    if (MustWaitToFork()) return std::nullopt;
    const auto start = parts_.aof.Rewrite();
    if (start == AppendOnlyFile::RewriteStart::kFailed) return "The rewrite of the append-only file can't start";
    if (start == AppendOnlyFile::RewriteStart::kScheduled) return std::nullopt;
  }
  way_ = Way::kFromAof;
  state_ = State::kSnapshotting;
  return std::nullopt;
}

Backup::FailureReason Backup::BeginByItself() {
  const std::string& file_name = parts_.env.settings.appendfilename;
  manifest_ = {};
  manifest_.AddBase(file_name, parts_.aof.BaseFormat());
  const std::string incremental = directory_.PathOf(manifest_.AddIncremental(file_name));
  const IoError error = recorder_.Begin(incremental, FileSystem::Mode::kCreateNew);
  if (error != kNoError) return "Can't create " + incremental + ": " + IoErrorText(error);
  const std::string path = directory_.PathOf(directory_.TemporaryBaseName());
  const auto pid = parts_.child_processes.Start(
      ChildWork::kBackup, [this, path](ChildReporter& reporter) { return parts_.aof.WriteBase(path, &reporter); },
      [this](const ChildEnd& end) { HandleChildEnd(end); });
  if (!pid) return "Can't fork: " + IoErrorText(pid.error());
  parts_.env.log.Notice(StrCat("Background writing of the backup's base started by pid ", pid.value()));
  way_ = Way::kByItself;
  state_ = State::kSnapshotting;
  return std::nullopt;
}

// --- The base is complete

void Backup::HandleChildEnd(const ChildEnd& end) {
  if (state_ != State::kSnapshotting || way_ != Way::kByItself) return;  // Fail has killed the child
  if (end.outcome != ChildOutcome::kSucceeded) {
    return Fail(end.signal == 0 ? "The child that wrote the base has failed, see the log"
                                : StrCat("The child that wrote the base was ended by signal ", end.signal));
  }
  const IoError error = directory_.Rename(directory_.TemporaryBaseName(), manifest_.base()->name);
  if (error != kNoError) return Fail("Can't rename the base: " + IoErrorText(error));
  HandleBaseComplete();
}

void Backup::HandleRewriteEnd(bool has_new_base) {
  if (state_ != State::kSnapshotting || way_ != Way::kFromAof) return;
  if (!has_new_base) return Fail("The rewrite of the append-only file has failed, see the log");
  PinBase();
}

// Gives the base a second name in the directory of the backup. If hard links are impossible there, the backup begins
// again and writes files of its own, which costs another fork. After any other error, the backup fails.
void Backup::PinBase() {
  const AofDirectory& aof = parts_.aof.directory();
  manifest_ = aof.manifest();
  manifest_.DropHistory();
  const std::string& base = manifest_.base()->name;
  const IoError error = directory_.Link(aof.PathOf(base), base);
  if (error == kNoError) return HandleBaseComplete();
  if (!IsLinkingImpossible(error)) return Fail("Can't link the base: " + IoErrorText(error));
  parts_.env.log.Notice("The files of the append-only file can't be linked into the backup directory: " +
                        IoErrorText(error) + ". The backup writes files of its own.");
  is_linking_impossible_ = true;
  state_ = State::kPending;
}

void Backup::HandleBaseComplete() {
  state_ = State::kIncrementing;
  parts_.env.log.Notice("The base of the backup is complete: " + directory_.AbsolutePathOf(manifest_.base()->name));
}

// --- Meanwhile

void Backup::Flush() {
  const IoError error = recorder_.Flush();
  if (error != kNoError) Fail("Error writing the commands since the base: " + IoErrorText(error));
}

void Backup::Cron() {
  directory_.Tidy();
  if (state_ == State::kPending) {
    if (const auto reason = Begin()) Fail(*reason);
  }
  const int64_t ttl_s = parts_.env.settings.backup_sealed_ttl;
  if (state_ != State::kSealed || ttl_s == 0) return;
  if ((parts_.env.clock.MonotonicMs() - sealed_ms_) / 1000 < ttl_s) return;
  parts_.env.log.Notice("Removing the sealed backup, because of backup-sealed-ttl");
  if (const auto reason = CleanUp()) {
    parts_.env.log.Warning(*reason);
    sealed_ms_ = parts_.env.clock.MonotonicMs();  // tries again after another backup-sealed-ttl
  }
}

bool Backup::MustPostponeRewrite() const {
  if (way_ == Way::kFromAof) return state_ == State::kIncrementing;
  // While a backup makes its own files, a rewrite is postponed only if the append-only file is off. As in Redis,
  // BGREWRITEAOF then waits.
  return !parts_.aof.IsOn() && (state_ == State::kSnapshotting || state_ == State::kIncrementing);
}

bool Backup::IsWritingBase() const { return parts_.child_processes.Does(ChildWork::kBackup); }

// Called before the append-only file is turned off. A backup that uses its files takes over the incremental file, and
// from now on appends the commands itself. If the base is still being written, the backup begins again.
void Backup::HandleTurnOff() {
  if (way_ != Way::kFromAof) return;
  if (state_ == State::kSnapshotting) {
    state_ = State::kPending;  // begins again, because the rewrite will be killed
    way_ = Way::kByItself;
  } else if (state_ == State::kIncrementing) {
    const IoError error = TakeOverIncremental();
    if (error != kNoError) Fail("Can't continue without the append-only file: " + IoErrorText(error));
  }
}

IoError Backup::TakeOverIncremental() {
  const std::string& name = manifest_.incrementals().back().name;
  IoError error = parts_.aof.FlushAndSync();
  if (error == kNoError) error = directory_.Link(parts_.aof.directory().PathOf(name), name);
  if (error == kNoError) error = recorder_.Begin(directory_.PathOf(name), FileSystem::Mode::kAppend);
  if (error == kNoError) way_ = Way::kByItself;
  return error;
}

void Backup::HandleDataReplaced(const char* reason) {
  if (state_ == State::kSnapshotting || state_ == State::kIncrementing) Fail(reason);
}

void Backup::HandleShutdown() {
  if (IsInProgress()) Fail("The server was shut down");
}

// --- The end of a backup

Backup::FailureReason Backup::Seal() {
  if (auto reason = way_ == Way::kFromAof ? SealFromAof() : SealByItself()) return reason;
  const IoError error = directory_.InstallManifest();
  if (error != kNoError) {
    std::string reason = "Can't rename the manifest of the backup: " + IoErrorText(error);
    Fail(reason);
    return reason;
  }
  recorder_.End();
  state_ = State::kSealed;
  sealed_s_ = parts_.env.clock.WallMs() / 1000;
  sealed_ms_ = parts_.env.clock.MonotonicMs();
  parts_.env.log.Notice("Backup sealed: " + directory_.AbsolutePathOf(directory_.ManifestName()));
  return std::nullopt;
}

// Links the last incremental file into the directory of the backup, writes the manifest under its temporary name, and
// then makes the append-only file begin its next incremental. That step comes last, because it cannot be undone. If
// writing the manifest fails, for example on a full disk, only the link must be removed.
Backup::FailureReason Backup::SealFromAof() {
  const std::string& name = manifest_.incrementals().back().name;
  IoError error = parts_.aof.FlushAndSync();
  if (error != kNoError) return "Can't sync the append-only file: " + IoErrorText(error);
  error = directory_.Link(parts_.aof.directory().PathOf(name), name);
  if (error != kNoError) return "Can't link the incremental file: " + IoErrorText(error);
  error = directory_.WriteTemporaryManifest(manifest_);
  if (error == kNoError && parts_.aof.BeginNextIncremental("for the writes after a backup") == Step::kDone) {
    return std::nullopt;
  }
  directory_.Unlink(name);
  if (error != kNoError) return "Can't write the manifest of the backup: " + IoErrorText(error);
  return "The append-only file can't begin its next file, see the log";
}

Backup::FailureReason Backup::SealByItself() {
  IoError error = recorder_.SyncNow();
  if (error != kNoError) return "Can't sync the incremental file: " + IoErrorText(error);
  error = directory_.WriteTemporaryManifest(manifest_);
  if (error != kNoError) return "Can't write the manifest of the backup: " + IoErrorText(error);
  return std::nullopt;
}

void Backup::Abort() { Fail("aborted by user"); }

// Ends the backup and removes its files. A rewrite of the append-only file continues, because it is of use without the
// backup.
void Backup::Fail(const std::string& reason) {
  parts_.env.log.Warning("The backup has failed: " + reason);
  state_ = State::kFailed;
  error_ = reason;
  recorder_.End();
  if (IsWritingBase()) parts_.child_processes.Kill();
  if (const auto why = directory_.RemoveFiles()) parts_.env.log.Warning(*why);
  directory_.Close();
}

Backup::FailureReason Backup::CleanUp() {
  auto reason = state_ == State::kSealed ? directory_.RemoveFiles() : directory_.RemoveLeftFiles();
  if (!reason) Forget();
  return reason;
}

void Backup::Forget() {
  directory_.Close();
  state_ = State::kIdle;
  error_.clear();
  started_s_ = sealed_s_ = 0;
}

std::vector<std::string> Backup::ImmutableFiles() const {
  if (state_ != State::kIncrementing && state_ != State::kSealed) return {};
  std::vector<std::string> paths = {directory_.AbsolutePathOf(manifest_.base()->name)};
  if (state_ == State::kIncrementing) return paths;
  for (const AofManifest::Part& part : manifest_.incrementals()) paths.push_back(directory_.AbsolutePathOf(part.name));
  paths.push_back(directory_.AbsolutePathOf(directory_.ManifestName()));
  return paths;
}

}  // namespace respite
