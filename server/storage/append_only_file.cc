#include "server/storage/append_only_file.h"

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/str_cat.h"
#include "persistence/aof_rewriter.h"
#include "persistence/file_system.h"
#include "persistence/rdb_file_writer.h"
#include "server/clients/current_execution.h"
#include "server/config/debug_switches.h"
#include "server/config/settings.h"
#include "server/dataset/unit.h"
#include "server/runtime/latency.h"
#include "server/storage/child_processes.h"
#include "server/storage/hidden_slots_text.h"
#include "server/storage/rdb_contents.h"
#include "server/storage/snapshots.h"

namespace respite {

namespace {

constexpr uint64_t kFailuresBeforeBackoff = 3;
constexpr int64_t kMaxBackoffMinutes = 60;

}  // namespace

AppendOnlyFile::AppendOnlyFile(const Parts& parts)
    : parts_(parts),
      directory_(parts.files, parts.env.settings, parts.env.log),
      writer_(
          {parts.files, parts.env.settings, parts.env.clock, parts.env.real_clock, parts.env.log, parts.env.latency}) {}

// --- The start of the server

Step AppendOnlyFile::Prepare() {
  const bool wanted = parts_.env.settings.appendonly;
  // Redis before version 7 had a single append-only file. It is taken into the directory appenddirname, except if
  // preload-file is set, because preload-file may name this file.
  const bool takes_old_file = wanted && parts_.env.settings.preload_file.empty();
  const auto old_file = takes_old_file ? AofDirectory::OldFile::kTake : AofDirectory::OldFile::kLeave;
  if (directory_.Read(old_file) == Step::kFailed) return Step::kFailed;
  if (!wanted) return Step::kDone;
  if (directory_.CheckManifestIsThere() == Step::kFailed) return Step::kFailed;
  if (directory_.Make() == Step::kFailed || LockFiles() == Step::kFailed) return Step::kFailed;
  directory_.RemoveTemporaries();
  return Step::kDone;
}

// Locks the last incremental file, so that other Respite servers use none of the files. If this file is missing, does
// nothing, because loading will report it.
Step AppendOnlyFile::LockFiles() {
  const auto& incrementals = directory_.manifest().incrementals();
  if (incrementals.empty()) return Step::kDone;
  const std::string& name = incrementals.back().name;
  if (parts_.files.KindOf(directory_.PathOf(name)) == FileSystem::Kind::kAbsent) return Step::kDone;
  return directory_.Lock(name);
}

// Opens the append-only file at startup. If there is none, creates the incremental file before the base file, so that a
// manifest exists before any file has content. Otherwise a crash could leave a base file with content but without a
// manifest, and the next start would fail (CheckManifestIsThere).
Step AppendOnlyFile::Begin(uint64_t base_bytes) {
  const bool is_first = directory_.manifest().IsEmpty();
  if (directory_.manifest().incrementals().empty()) {
    if (CreateIncremental("on server start") == Step::kFailed) return Step::kFailed;
  } else {
    const std::string name = directory_.manifest().incrementals().back().name;
    if (OpenIncremental(name, FileSystem::Mode::kAppend) == Step::kFailed) return Step::kFailed;
    parts_.env.log.Notice("Opening AOF incr file " + name + " on server start");
  }
  if (is_first && CreateFirstBase() == Step::kFailed) return Step::kFailed;
  const auto total = directory_.TotalBytes();
  if (!total) return Step::kFailed;
  closed_bytes_ = total.value() - writer_.FileBytes();
  base_bytes_ = base_bytes;
  state_ = State::kOn;
  parts_.data.journals.Attach(*this);
  directory_.RemoveHistory();
  return Step::kDone;
}

Step AppendOnlyFile::BeginWithNewBase() {
  if (directory_.manifest().IsEmpty()) return Begin(0);
  const std::string& file_name = parts_.env.settings.appendfilename;
  AofManifest next = directory_.manifest();
  const std::string base = next.AddBase(file_name, BaseFormat(), directory_.TakenNamePredicate());
  next.RetireIncrementals(0);
  const std::string incremental = next.AddIncremental(file_name, directory_.TakenNamePredicate());
  const std::string temporary = directory_.TemporaryBaseName();
  if (!WriteBase(directory_.PathOf(temporary), nullptr)) return Step::kFailed;
  if (RenameInto(temporary, base, "base") == Step::kFailed) return Step::kFailed;
  if (auto file = parts_.files.Open(directory_.PathOf(incremental), FileSystem::Mode::kCreateNew); !file) {
    parts_.env.log.Warning("Can't open the append-only file " + incremental + ": " + IoErrorText(file.error()));
    return Step::kFailed;
  }
  if (directory_.SyncDirectory() == Step::kFailed) return Step::kFailed;
  if (directory_.Commit(std::move(next)) == Step::kFailed) return Step::kFailed;
  const auto bytes = directory_.FileSize(base);
  return bytes ? Begin(bytes.value()) : Step::kFailed;
}

Step AppendOnlyFile::BeginNextIncremental(const char* moment) {
  writer_.Flush(AofWriter::Urgency::kNow, AofWriter::Child::kNone);
  if (writer_.HasUnwrittenData()) return Step::kFailed;  // the buffer belongs to the old file, which cannot be written
  return CreateIncremental(moment);
}

Step AppendOnlyFile::CreateFirstBase() {
  AofManifest next = directory_.manifest();
  const std::string name =
      next.AddBase(parts_.env.settings.appendfilename, BaseFormat(), directory_.TakenNamePredicate());
  const std::string temporary = directory_.TemporaryBaseName();
  if (!WriteBase(directory_.PathOf(temporary), nullptr)) return Step::kFailed;
  parts_.env.log.Notice("Creating AOF base file " + name + " on server start");
  if (RenameInto(temporary, name, "base") == Step::kFailed) return Step::kFailed;
  return directory_.SyncDirectory() == Step::kDone ? directory_.Commit(std::move(next)) : Step::kFailed;
}

// Creates an incremental file and appends to it from now on. Commits the manifest before the first byte is written,
// because the manifest must name each file that contains commands.
Step AppendOnlyFile::CreateIncremental(const char* moment) {
  AofManifest next = directory_.manifest();
  const std::string name = next.AddIncremental(parts_.env.settings.appendfilename, directory_.TakenNamePredicate());
  parts_.env.log.Notice("Creating AOF incr file " + name + " " + moment);
  auto file = parts_.files.Open(directory_.PathOf(name), FileSystem::Mode::kCreateNew);
  if (!file) {
    parts_.env.log.Warning("Can't open the append-only file " + name + ": " + IoErrorText(file.error()));
    return Step::kFailed;
  }
  file.value().reset();
  if (directory_.SyncDirectory() == Step::kDone && directory_.Commit(std::move(next)) == Step::kDone) {
    return OpenIncremental(name, FileSystem::Mode::kAppend);
  }
  directory_.RemoveAfterNextCommit({name});
  return Step::kFailed;
}

IoError AppendOnlyFile::TruncateFile(const std::string& name, uint64_t bytes) {
  auto file = parts_.files.Open(directory_.PathOf(name), FileSystem::Mode::kAppend);
  if (!file) return file.error();
  const IoError error = file.value()->Truncate(bytes);
  return error != kNoError ? error : file.value()->Sync();
}

Step AppendOnlyFile::OpenIncremental(const std::string& name, FileSystem::Mode mode) {
  auto file = parts_.files.Open(directory_.PathOf(name), mode);
  const auto bytes = file ? file.value()->Size() : Result<uint64_t, IoError>(Failure(file.error()));
  if (!bytes) {
    parts_.env.log.Warning("Can't open the append-only file " + name + ": " + IoErrorText(bytes.error()));
    return Step::kFailed;
  }
  if (directory_.Lock(name) == Step::kFailed) return Step::kFailed;
  closed_bytes_ += writer_.FileBytes();
  writer_.Open(std::move(file.value()), bytes.value());
  return Step::kDone;
}

// --- Propagated commands

void AppendOnlyFile::Flush() {
  if (!writer_.IsOpen()) return;
  const int64_t delay_us = parts_.env.debug.aof_write_delay_us;
  if (delay_us > 0 && writer_.HasUnwrittenData()) std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
  const auto child = parts_.child_processes.Busy() ? AofWriter::Child::kRuns : AofWriter::Child::kNone;
  writer_.Flush(AofWriter::Urgency::kRelaxed, child);
}

IoError AppendOnlyFile::FlushAndSync() {
  if (!writer_.IsOpen()) return kNoError;
  writer_.Flush(AofWriter::Urgency::kNow, AofWriter::Child::kNone);
  if (writer_.HasWriteFailed()) return *writer_.WriteOrSyncError();
  if (writer_.MustStop()) return EIO;  // a successful sync after a failed one proves nothing
  return writer_.SyncNow();
}

// Simulates a machine crash: truncates the incremental file to what is surely on the disk under `policy`. Does so only
// in state kOn. In state kAwaitsBase the manifest does not name the incremental file yet, so the next start ignores
// that file.
IoError AppendOnlyFile::SimulateCrash(AppendFsync policy) {
  const State before = std::exchange(state_, State::kOff);
  parts_.data.journals.Detach(*this);
  const IoError error = before == State::kOn && writer_.IsOpen() ? writer_.SimulateCrash(policy) : kNoError;
  directory_.Unlock();
  return error;
}

// --- Changes while the server runs

Step AppendOnlyFile::TurnOn() {
  if (IsOn()) return Step::kDone;
  if (directory_.Make() == Step::kFailed || LockFiles() == Step::kFailed) return Step::kFailed;
  state_ = State::kAwaitsBase;
  if (IsRewriting()) {
    parts_.env.log.Warning(
        "AOF was enabled but there is already an AOF rewriting in background. Stopping background AOF and starting a "
        "rewrite now.");
    parts_.child_processes.Kill();
  }
  is_rewrite_scheduled_ = false;
  const bool in_transaction = !parts_.current_execution.MayBlock();
  if (parts_.child_processes.Busy() || in_transaction) {
    is_rewrite_scheduled_ = true;
    parts_.env.log.Notice(
        std::string("AOF was enabled ") +
        (in_transaction ? "during a transaction." : "but there is already another background operation.") +
        " An AOF background was scheduled to start when possible.");
    return Step::kDone;
  }
  if (StartRewrite() == RewriteStart::kStarted) return Step::kDone;
  TurnOff();
  parts_.env.log.Warning(
      "Redis needs to enable the AOF but can't trigger a background AOF rewrite operation. Check the above logs for "
      "more info about the error.");
  return Step::kFailed;
}

void AppendOnlyFile::TurnBackOn() {
  must_turn_back_on_ = TurnOn() == Step::kFailed;
  if (must_turn_back_on_) last_rewrite_succeeded_ = false;
}

void AppendOnlyFile::TurnOff() {
  must_turn_back_on_ = false;
  is_rewrite_scheduled_ = false;
  if (!IsOn()) return;
  if (listener_) listener_->HandleTurnOff();
  const State before = std::exchange(state_, State::kOff);
  if (before == State::kAwaitsBase) {
    DropTemporaryIncremental();
  } else {
    parts_.data.journals.Detach(*this);
    writer_.Close();
  }
  directory_.Unlock();
  if (IsRewriting()) parts_.child_processes.Kill();
}

// Stops recording commands for the temporary incremental file, and removes the file. The file has the commands since
// the fork of a rewrite whose base was not completed, so they are useless.
void AppendOnlyFile::DropTemporaryIncremental() {
  parts_.data.journals.Detach(*this);
  if (!writer_.IsOpen()) return;
  writer_.Discard();
  writer_.Close();
  directory_.Unlock();
  const std::string name = AofManifest::TemporaryIncrementalName(parts_.env.settings.appendfilename);
  parts_.env.log.Notice("Removing the temp incr aof file " + name + " in the background");
  directory_.RemoveInBackground(name);
}

bool AppendOnlyFile::IsRewriting() const { return parts_.child_processes.Does(ChildWork::kRewrite); }

AppendOnlyFile::RewriteStart AppendOnlyFile::Rewrite() {
  if (IsRewriting()) return RewriteStart::kAlreadyRuns;
  if (!parts_.child_processes.Busy() && parts_.current_execution.MayBlock() && !MustPostponeRewrite()) {
    return StartRewrite();
  }
  is_rewrite_scheduled_ = true;
  // Resets the count of failed rewrites. As in Redis, the scheduled rewrite that a client has requested does not wait
  // because of these failures.
  consecutive_failures_ = 0;
  return RewriteStart::kScheduled;
}

AppendOnlyFile::RewriteStart AppendOnlyFile::StartRewrite() {
  is_rewrite_scheduled_ = false;
  if (directory_.Make() == Step::kFailed || StartIncremental() == Step::kFailed) {
    NoteFailure();
    return RewriteStart::kFailed;
  }
  incrementals_after_base_ = state_ == State::kOn ? 1 : 0;
  const std::string path = directory_.PathOf(directory_.TemporaryBaseName());
  auto pid = parts_.child_processes.Start(
      ChildWork::kRewrite, [this, path](ChildReporter& reporter) { return WriteBase(path, &reporter); },
      [this](const ChildEnd& end) { HandleRewriteEnd(end); });
  if (!pid) {
    parts_.env.log.Warning("Can't rewrite append only file in background: fork: " + IoErrorText(pid.error()));
    NoteFailure();
    return RewriteStart::kFailed;
  }
  parts_.env.log.Notice(StrCat("Background append only file rewriting started by pid ", pid.value()));
  rewrite_started_ms_ = parts_.env.real_clock.NowMs();
  return RewriteStart::kStarted;
}

Step AppendOnlyFile::StartIncremental() {
  const std::string& file_name = parts_.env.settings.appendfilename;
  switch (state_) {
    case State::kOff:
      return LockFiles();
    case State::kAwaitsBase: {
      const std::string name = AofManifest::TemporaryIncrementalName(file_name);
      parts_.env.log.Notice("Creating AOF incr file " + name + " on background rewrite");
      if (OpenIncremental(name, FileSystem::Mode::kCreate) == Step::kFailed) return Step::kFailed;
      parts_.data.journals.Attach(*this);
      return Step::kDone;
    }
    case State::kOn:
      break;
  }
  return BeginNextIncremental("on background rewrite");
}

AofBaseFormat AppendOnlyFile::BaseFormat() const {
  return parts_.env.settings.aof_use_rdb_preamble ? AofBaseFormat::kRdb : AofBaseFormat::kCommands;
}

bool AppendOnlyFile::WriteBase(const std::string& path, ChildReporter* reporter) {
  const Settings& settings = parts_.env.settings;
  FileSystem& files = parts_.files;
  const auto told = parts_.contents.ProgressCallback(reporter);
  auto file = files.Open(path, FileSystem::Mode::kCreate);
  IoError error = file ? kNoError : file.error();
  if (error == kNoError && settings.aof_use_rdb_preamble) {
    RdbSaveOptions options = parts_.contents.Options();
    if (!settings.aof_rewrite_incremental_fsync) options.sync = GradualSync::kAtEnd;
    const auto saved = WriteRdb(*file.value(), parts_.contents.ContentFor(RdbPurpose::kAofBase), options, told);
    if (!saved) error = saved.error();
  } else if (error == kNoError) {
    AofBaseOptions options;
    if (settings.rdb_key_save_delay != 0) options.keys_per_report = 1;
    if (!settings.aof_rewrite_incremental_fsync) options.sync = GradualSync::kAtEnd;
    if (settings.aof_timestamp_enabled) options.timestamp_s = parts_.env.clock.WallMs() / 1000;
    const std::string prologue = HideSlotsRequests(parts_.data.keyspace.hidden());
    options.prologue = prologue;
    const RdbContent content = parts_.contents.ContentFor(RdbPurpose::kAofBase);
    const auto saved = WriteAofBaseAsCommands(*file.value(), content.keyspace, content.libraries, options, told);
    if (!saved) error = saved.error();
  }
  if (error == kNoError) error = file.value()->Sync();
  if (error == kNoError) return true;
  parts_.env.log.Warning("Write error writing append only file on disk: " + IoErrorText(error));
  files.Remove(path);
  return false;
}

void AppendOnlyFile::HandleRewriteEnd(const ChildEnd& end) {
  const uint64_t rewrites_before = rewrite_count_;
  HandleOutcome(end);
  if (state_ == State::kOff) directory_.Unlock();
  if (listener_) listener_->HandleRewriteEnd(rewrite_count_ != rewrites_before);
}

void AppendOnlyFile::HandleOutcome(const ChildEnd& end) {
  last_rewrite_s_ = end.elapsed_ms / 1000;
  last_cow_bytes_ = end.last_progress.cow_bytes;
  Logger& log = parts_.env.log;
  if (end.outcome == ChildOutcome::kSucceeded) {
    log.Notice("Background AOF rewrite terminated with success");
    if (InstallNewBase() == Step::kDone) {
      log.Notice("Background AOF rewrite finished successfully");
      last_rewrite_succeeded_ = true;
      consecutive_failures_ = 0;
      ++rewrite_count_;
      return;
    }
    NoteFailure();
  } else if (end.outcome == ChildOutcome::kFailed) {
    if (end.signal != 0) {
      log.Warning(StrCat("Background AOF rewrite terminated by signal ", end.signal));
    } else {
      log.Warning("Background AOF rewrite terminated with error");
    }
    NoteFailure();
  }
  directory_.RemoveInBackground(directory_.TemporaryBaseName());
  if (state_ == State::kAwaitsBase) {
    DropTemporaryIncremental();
    is_rewrite_scheduled_ = true;
  }
}

void AppendOnlyFile::NoteFailure() {
  last_rewrite_succeeded_ = false;
  ++consecutive_failures_;
}

Step AppendOnlyFile::InstallNewBase() {
  const std::string& file_name = parts_.env.settings.appendfilename;
  AofManifest next = directory_.manifest();
  const std::string base = next.AddBase(file_name, BaseFormat(), directory_.TakenNamePredicate());
  std::vector<std::string> made = {base};
  Step step = RenameInto(directory_.TemporaryBaseName(), base, "base");
  if (state_ == State::kAwaitsBase) {
    next.RetireIncrementals(0);  // those of an earlier append-only file
    made.push_back(next.AddIncremental(file_name, directory_.TakenNamePredicate()));
    const std::string temporary = AofManifest::TemporaryIncrementalName(file_name);
    if (step == Step::kDone) step = RenameInto(temporary, made.back(), "incr");
  } else {
    next.RetireIncrementals(incrementals_after_base_);  // also if the append-only file was turned off meanwhile
  }
  if (step == Step::kDone) step = directory_.SyncDirectory();
  if (step == Step::kDone) step = directory_.Commit(std::move(next));
  if (step == Step::kFailed) {
    directory_.RemoveAfterNextCommit(std::move(made));
    return Step::kFailed;
  }
  if (directory_.manifest().incrementals().size() == 1) writer_.ForgetClosedFiles();  // it is the one that is open
  if (state_ != State::kOff) {
    state_ = State::kOn;
    LatencyWatch watch(parts_.env.latency, "aof-fstat");
    const auto bytes = directory_.FileSize(base);
    closed_bytes_ = bytes ? bytes.value() : 0;
    base_bytes_ = TotalBytes();
  }
  directory_.RemoveHistory();
  return Step::kDone;
}

Step AppendOnlyFile::RenameInto(const std::string& from, const std::string& to, const char* what) {
  LatencyWatch watch(parts_.env.latency, "aof-rename");
  const IoError error = parts_.files.Rename(directory_.PathOf(from), directory_.PathOf(to));
  const std::string names = "the temporary AOF " + std::string(what) + " file " + from + " into " + to;
  if (error != kNoError) {
    parts_.env.log.Warning("Error trying to rename " + names + ": " + IoErrorText(error));
    return Step::kFailed;
  }
  parts_.env.log.Notice("Successfully renamed " + names);
  return Step::kDone;
}

void AppendOnlyFile::Cron() {
  directory_.Tidy();
  if (parts_.child_processes.Busy()) return;
  if (must_turn_back_on_) return TurnBackOn();  // without UpdateBackoff, because writes are refused meanwhile
  if (MustPostponeRewrite()) return;
  if (is_rewrite_scheduled_) {
    if (!UpdateBackoff()) StartRewrite();
    return;
  }
  if (state_ != State::kOn || !HasGrownEnoughToRewrite() || UpdateBackoff()) return;
  const uint64_t growth = base_bytes_ == 0 ? 0 : TotalBytes() * 100 / base_bytes_ - 100;
  parts_.env.log.Notice(StrCat("Starting automatic rewriting of AOF on ", growth, "% growth"));
  StartRewrite();
}

bool AppendOnlyFile::HasGrownEnoughToRewrite() const {
  const Settings& settings = parts_.env.settings;
  const uint64_t total = TotalBytes();
  if (settings.auto_aof_rewrite_percentage == 0) return false;
  if (total <= static_cast<uint64_t>(settings.auto_aof_rewrite_min_size)) return false;
  const uint64_t base = base_bytes_ == 0 ? 1 : base_bytes_;
  return total * 100 / base >= 100 + static_cast<uint64_t>(settings.auto_aof_rewrite_percentage);
}

bool AppendOnlyFile::UpdateBackoff() {
  if (consecutive_failures_ < kFailuresBeforeBackoff) {
    backoff_ = {};
    return false;
  }
  const int64_t now_ms = parts_.env.real_clock.NowMs();
  if (backoff_.until_ms != 0) {
    if (now_ms < backoff_.until_ms) return true;
    backoff_.until_ms = 0;
    return false;
  }
  backoff_.wait_minutes = std::min(std::max<int64_t>(backoff_.wait_minutes * 2, 1), kMaxBackoffMinutes);
  backoff_.until_ms = now_ms + backoff_.wait_minutes * 60'000;
  parts_.env.log.Warning(StrCat("Background AOF rewrite has repeatedly failed and triggered the limit, will retry in ",
                                backoff_.wait_minutes, " minutes"));
  return true;
}

int64_t AppendOnlyFile::CurrentRewriteSeconds() const {
  return IsRewriting() ? (parts_.env.real_clock.NowMs() - rewrite_started_ms_) / 1000 : -1;
}

}  // namespace respite
