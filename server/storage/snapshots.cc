#include "server/storage/snapshots.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/log.h"
#include "base/real_clock.h"
#include "base/str_cat.h"
#include "datatypes/keyspace.h"
#include "persistence/file_system.h"
#include "persistence/rdb_file_writer.h"
#include "scripting/function_library.h"
#include "server/config/settings.h"
#include "server/config/usage.h"
#include "server/dataset/memory_gauge.h"
#include "server/dataset/unit.h"
#include "server/runtime/latency.h"
#include "server/storage/child_processes.h"
#include "server/storage/debug_delay.h"
#include "server/storage/loading.h"
#include "server/storage/rdb_contents.h"

namespace respite {

namespace {

constexpr int64_t kTryAgainAfterMs = 5000;  // Redis: CONFIG_BGSAVE_RETRY_DELAY
constexpr Bytes kTemporaryPrefix = "temp-";
constexpr Bytes kTemporarySuffix = ".rdb";

std::string TemporaryName(pid_t pid) { return StrCat(kTemporaryPrefix, pid, kTemporarySuffix); }

// Returns the process ID in the name of a temporary RDB file: it is the ID of the process that writes or wrote the
// file. Returns 0 if no temporary RDB file has such a name.
pid_t OwnerOf(Bytes name) {
  if (!name.starts_with(kTemporaryPrefix) || !name.ends_with(kTemporarySuffix)) return 0;
  name.remove_prefix(kTemporaryPrefix.size());
  name.remove_suffix(std::min(kTemporarySuffix.size(), name.size()));
  // Skips the seconds in temp-<seconds>.<pid>.rdb, the name of a snapshot that a replica receives from its primary.
  const size_t dot = name.find('.');
  if (dot != Bytes::npos && dot != 0 && name.find_first_not_of("0123456789") == dot) {
    name.remove_prefix(dot + 1);
  }
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  return error == std::errc() && end == name.data() + name.size() && pid > 0 ? pid : 0;
}

// Returns whether another process with this ID runs, which may be writing a temporary file. Returns false for a zombie,
// because its parent may never reap it.
bool IsAlive(pid_t pid) {
  if (pid == getpid()) return false;  // an earlier process had this ID: this process has written nothing yet
  if (kill(pid, 0) != 0) return errno != ESRCH;
  const std::string line = FirstLineOf((StrCat("/proc/", pid, "/stat")).c_str()).value_or("");
  const size_t state = line.rfind(") ");  // after the name, which may contain anything
  return state == std::string::npos || line.substr(state + 2, 1) != "Z";
}

}  // namespace

Snapshots::Snapshots(const Parts& parts)
    : parts_(parts), last_save_wall_s_(parts.env.clock.WallMs() / 1000), last_save_ms_(parts.env.clock.MonotonicMs()) {}

bool Snapshots::IsRunning() const { return parts_.child_processes.Does(ChildWork::kSnapshot); }

Snapshots::Outcome Snapshots::Save() {
  ++save_count_;
  has_dump_ = true;
  const uint64_t changes = parts_.keyspace_stats.dirty;
  const std::string path = parts_.env.settings.dbfilename;
  if (!Lock(path) || !Write(path, nullptr)) return Outcome::kFailed;
  NoteSaved(changes, path);
  return Outcome::kDone;
}

Snapshots::Outcome Snapshots::StartBackgroundSave() {
  ++save_count_;
  has_dump_ = true;
  last_try_ms_ = started_ms_ = parts_.env.real_clock.NowMs();
  changes_before_ = parts_.keyspace_stats.dirty;
  const std::string path = parts_.env.settings.dbfilename;
  if (!Lock(path)) {
    last_outcome_ = Outcome::kFailed;
    return Outcome::kFailed;
  }
  background_dump_folder_ = parts_.env.settings.folder->Path();
  background_dump_name_ = path;
  const auto pid = parts_.child_processes.Start(
      ChildWork::kSnapshot, [this, path](ChildReporter& reporter) { return Write(path, &reporter); },
      [this](const ChildEnd& end) { HandleChildEnd(end); });
  if (!pid) {
    last_outcome_ = Outcome::kFailed;
    ++failures_in_a_row_;
    parts_.env.log.Warning("Can't save in background: fork: " + IoErrorText(pid.error()));
    return Outcome::kFailed;
  }
  parts_.env.log.Notice(StrCat("Background saving started by pid ", pid.value()));
  return Outcome::kDone;
}

// Writes the data to a temporary file and renames the file to `path`. Runs in the child of a background save, or for
// Save() in the server. Returns false on failure, which is logged.
bool Snapshots::Write(const std::string& path, ChildReporter* reporter) {
  FileSystem& files = parts_.files;
  const std::string temporary = TemporaryName(getpid());
  if (!WriteTemporary(temporary, reporter)) return false;
  IoError error = files.Rename(temporary, path);
  if (error != kNoError) {
    parts_.env.log.Warning("Error moving temp DB file " + temporary + " on the final destination " + path +
                           " (in server root dir " + parts_.env.settings.folder->Path() + "): " + IoErrorText(error));
    files.Remove(temporary);
    return false;
  }
  error = files.SyncDirectory(DirectoryOf(path));
  if (error != kNoError) {
    parts_.env.log.Warning("Failed to fsync directory while saving DB: " + IoErrorText(error));
    return false;
  }
  parts_.env.log.Notice("DB saved on disk");
  return true;
}

bool Snapshots::WriteTemporary(const std::string& temporary, ChildReporter* reporter) {
  FileSystem& files = parts_.files;
  IoError error = kNoError;
  {
    auto file = files.Open(temporary, FileSystem::Mode::kCreate);
    if (!file) {
      parts_.env.log.Warning("Failed opening the temp RDB file " + temporary + " (in server root dir " +
                             parts_.env.settings.folder->Path() + ") for saving: " + IoErrorText(file.error()));
      return false;
    }
    const auto saved = WriteRdb(*file.value(), parts_.contents.ContentFor(RdbPurpose::kSnapshot),
                                parts_.contents.Options(), parts_.contents.ProgressCallback(reporter));
    error = saved ? file.value()->Sync() : saved.error();
  }
  if (error == kNoError) return true;
  parts_.env.log.Warning("Write error while saving DB to the disk: " + IoErrorText(error));
  files.Remove(temporary);
  return false;
}

// Locks the RDB file `path`, if it exists. Returns false if another server has locked it. Must be called again before
// each save, because the file may have been replaced, or dbfilename or dir may have changed.
bool Snapshots::Lock(const std::string& path) {
  lock_.reset();
  auto lock = parts_.files.Lock(path);
  const bool is_dump = path == parts_.env.settings.dbfilename;
  if (lock || lock.error() != EWOULDBLOCK) {
    if (lock) lock_ = std::move(lock.value());
    if (is_dump && lock_) owned_dump_ = DumpPath();
    return true;
  }
  if (is_dump && owned_dump_ != DumpPath()) dump_left_to_other_ = DumpPath();
  parts_.env.log.Warning("The RDB file " + path + " in " + parts_.env.settings.folder->Path() +
                         " belongs to another server that runs. It is not overwritten.");
  return false;
}

std::string Snapshots::DumpPath() const {
  return parts_.env.settings.folder->Path() + '/' + parts_.env.settings.dbfilename;
}

bool Snapshots::LeavesDumpToOtherServer() const {
  return !dump_left_to_other_.empty() && std::ranges::equal(parts_.env.settings.save, kDefaultSavePoints) &&
         dump_left_to_other_ == DumpPath();
}

void Snapshots::NoteSaved(uint64_t changes, const std::string& path) {
  uint64_t& dirty = parts_.keyspace_stats.dirty;
  dirty -= std::min(dirty, changes);
  last_save_wall_s_ = parts_.env.clock.WallMs() / 1000;
  last_save_ms_ = parts_.env.clock.MonotonicMs();
  last_outcome_ = Outcome::kDone;
  failures_in_a_row_ = 0;
  parts_.loading.file_history().primary.clear();  // a later save may have other data than the loaded file
  if (path != parts_.env.settings.dbfilename) return;
  owned_dump_ = DumpPath();
  dump_left_to_other_.clear();
  Lock(path);  // saving created a new file
}

std::string Snapshots::BackgroundPath() const {
  if (background_dump_folder_ == parts_.env.settings.folder->Path()) return background_dump_name_;
  return background_dump_folder_ + "/" + background_dump_name_;
}

bool Snapshots::InstallAsDump(const std::string& path) {
  const std::string dump = parts_.env.settings.dbfilename;
  if (!Lock(dump)) return false;
  has_dump_ = true;
  IoError error = parts_.files.Rename(path, dump);
  if (error == kNoError) error = parts_.files.SyncDirectory(DirectoryOf(dump));
  if (error != kNoError) {
    parts_.env.log.Warning("Failed trying to rename the temp DB into " + dump +
                           " in MASTER <-> REPLICA synchronization: " + IoErrorText(error));
    return false;
  }
  Lock(dump);  // the file was replaced
  return true;
}

void Snapshots::RemoveSyncFile() { RemoveSyncFile(parts_.env.settings.dbfilename); }

void Snapshots::RemoveSyncFile(const std::string& path) {
  const Settings& settings = parts_.env.settings;
  if (!settings.rdb_del_sync_files || !settings.save.empty() || settings.appendonly) return;
  parts_.env.log.Notice("Removing the RDB file used to feed replicas in a persistence-less instance");
  parts_.files.Remove(path);
}

void Snapshots::HandleChildEnd(const ChildEnd& end) {
  NoteOutcome(end);
  on_end_(end.outcome == ChildOutcome::kSucceeded ? Outcome::kDone : Outcome::kFailed);
}

void Snapshots::NoteOutcome(const ChildEnd& end) {
  Logger& log = parts_.env.log;
  last_duration_s_ = (parts_.env.real_clock.NowMs() - started_ms_) / 1000;
  if (end.outcome == ChildOutcome::kSucceeded) {
    log.Notice("Background saving terminated with success");
    last_cow_bytes_ = end.last_progress.cow_peak_bytes;
    return NoteSaved(changes_before_, BackgroundPath());
  }
  if (end.signal == 0) {
    log.Warning("Background saving error");
  } else {
    log.Warning(StrCat("Background saving terminated by signal ", end.signal));
    LatencyWatch watch(parts_.env.latency, "rdb-unlink-temp-file");
    parts_.files.Remove(TemporaryName(end.pid));
  }
  if (end.outcome != ChildOutcome::kFailed) return;
  last_outcome_ = Outcome::kFailed;
  ++failures_in_a_row_;
}

void Snapshots::HandleFlushAll() {
  if (parts_.loading.IsActive()) return;  // the FLUSHALL comes from the append-only file
  if (IsRunning() || parts_.child_processes.Does(ChildWork::kTransfer)) parts_.child_processes.Kill();
  is_save_due_ = !parts_.env.settings.save.empty() && IsWorthSaving();
}

Snapshots::Cancelled Snapshots::Cancel() {
  if (IsRunning()) {
    parts_.child_processes.Kill();
    return Cancelled::kRunning;
  }
  return std::exchange(is_save_scheduled_, false) ? Cancelled::kScheduled : Cancelled::kNone;
}

void Snapshots::SaveFlushed() {
  is_save_due_ = false;
  if (!IsRunning()) Save();
}

bool Snapshots::MustRefuseWrites() const {
  const Settings& settings = parts_.env.settings;
  return last_outcome_ == Outcome::kFailed && settings.stop_writes_on_bgsave_error && !settings.save.empty() &&
         !LeavesDumpToOtherServer();
}

bool Snapshots::IsWorthSaving() const { return parts_.contents.IsWorthSaving(); }

bool Snapshots::MayRetrySave() const {
  if (last_outcome_ == Outcome::kDone || !last_try_ms_) return true;
  return parts_.env.real_clock.NowMs() - *last_try_ms_ > kTryAgainAfterMs;
}

void Snapshots::Cron() {
  if (parts_.child_processes.Busy() || parts_.loading.IsActive() || !MayRetrySave()) return;
  if (!is_save_scheduled_) return SaveIfDue();
  if (StartBackgroundSave() == Outcome::kDone) is_save_scheduled_ = false;
}

void Snapshots::SaveIfDue() {
  const uint64_t changes = parts_.keyspace_stats.dirty;
  const int64_t elapsed_ms = parts_.env.clock.MonotonicMs() - last_save_ms_;
  for (const SavePoint& point : parts_.env.settings.save) {
    // Saves as soon as the seconds of the save point have passed. Redis compares whole seconds, and so saves up to a
    // second later.
    if (changes < static_cast<uint64_t>(point.changes) || elapsed_ms <= point.seconds * 1000) continue;
    if (LeavesDumpToOtherServer() || !parts_.contents.IsWorthSaving()) return;
    parts_.env.log.Notice(StrCat(point.changes, " changes in ", point.seconds, " seconds. Saving..."));
    StartBackgroundSave();
    return;
  }
}

std::optional<std::string> Snapshots::LockDumpAtStartup() {
  const Settings& settings = parts_.env.settings;
  has_dump_ = parts_.files.KindOf(settings.dbfilename) == FileSystem::Kind::kFile;
  if (!settings.save.empty() && !Lock(settings.dbfilename) && !LeavesDumpToOtherServer()) {
    return "Another server already saves to " + settings.dbfilename + " in " + parts_.env.settings.folder->Path() +
           ": give this one another dir or dbfilename, or no save points.";
  }
  if (LeavesDumpToOtherServer()) {
    parts_.env.log.Warning("Nothing is saved: give this server another dir or dbfilename");
  }
  RemoveTemporaryFiles();
  return std::nullopt;
}

void Snapshots::RemoveTemporaryFiles() {
  FileSystem& files = parts_.files;
  const auto names = files.List(".");
  if (!names) return;
  for (const std::string& name : names.value()) {
    const pid_t owner = OwnerOf(name);
    if (owner == 0) continue;
    if (IsAlive(owner) || files.Remove(name) != kNoError) continue;
    parts_.env.log.Notice("Removed " + name + ", an RDB file that was not finished");
  }
}

Snapshots::Figures Snapshots::CurrentFigures() const {
  const int64_t running_s = (parts_.env.real_clock.NowMs() - started_ms_) / 1000;
  return {last_save_wall_s_, last_outcome_,      last_duration_s_, IsRunning() ? running_s : -1,
          save_count_,       failures_in_a_row_, last_cow_bytes_};
}

}  // namespace respite
