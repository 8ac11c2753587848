#include "server/storage/aof_writer.h"

#include <string>
#include <utility>

#include "base/str_cat.h"
#include "persistence/aof_reader.h"
#include "server/dataset/journal.h"

namespace respite {

namespace {

constexpr int64_t kSyncEveryMs = 1000;
constexpr int64_t kPutOffMostMs = 2000;
constexpr int64_t kLogErrorEveryMs = 30'000;
constexpr size_t kKeptBytes = 1024 * 1024;

}  // namespace

struct AofWriter::Closing final : FileTask {
  Closing(std::shared_ptr<File> old, bool has_unsynced) : file(std::move(old)), is_to_be_synced(has_unsynced) {}
  void Run() override {
    if (is_to_be_synced) error = file->Sync();
    file.reset();
  }

  std::shared_ptr<File> file;
  const bool is_to_be_synced;
  bool is_needed = true;  // false: no start of the server reads this file any more
  IoError error = kNoError;
};

AofWriter::AofWriter(const Parts& parts) : parts_(parts) {}

AofWriter::~AofWriter() { AwaitSync(); }

void AofWriter::Open(std::unique_ptr<File> file, uint64_t bytes) {
  if (IsOpen()) {
    // Syncs and closes the previous file on the thread for background file tasks. This thread does them in order, so a
    // later sync ends only after this one.
    closings_.push_back(std::make_unique<Closing>(std::move(file_), written_bytes_ != synced_bytes_));
    parts_.files.RunInBackground(*closings_.back());
  }
  file_ = std::move(file);
  bytes_ = bytes;
  guarantee_.BeginFile();
  selected_db_ = -1;
  timestamp_s_ = 0;
  sync_began_at_ms_ = parts_.real_clock.NowMs();
}

void AofWriter::Close() {
  if (!IsOpen()) return;
  Flush(Urgency::kNow, Child::kNone);
  if (const IoError error = SyncNow(); error != kNoError) {
    parts_.log.Warning("Fail to fsync the AOF file: " + IoErrorText(error));
  }
  AwaitSync();
  file_.reset();
  std::string().swap(buffer_);
  write_error_ = closed_error_ = kNoError;
}

IoError AofWriter::SimulateCrash(AppendFsync policy) {
  Flush(Urgency::kNow, Child::kNone);
  AwaitSync();
  const IoError error = file_->Truncate(guarantee_.DurableBytes(policy, parts_.clock.MonotonicMs(), bytes_));
  file_.reset();
  std::string().swap(buffer_);
  return error;
}

void AofWriter::Append(const PropagatedGroup& group) {
  struct {
    AofWriter& writer;
    bool has_begun = false;
    void Piece(Bytes text) {
      Begin();
      writer.buffer_ += text;
    }
    void Select(const std::string& text) { Piece(text); }
    void Begin() {
      if (!std::exchange(has_begun, true) && writer.parts_.settings.aof_timestamp_enabled) writer.AppendTimestamp();
    }
  } take{*this};
  const size_t size_before = buffer_.size();
  WrapInSelectAndMulti(group, JournalEntry::kFile, selected_db_, take);
  appended_bytes_ += buffer_.size() - size_before;
}

void AofWriter::AppendTimestamp() {
  const int64_t now_s = parts_.clock.WallMs() / 1000;
  if (now_s <= timestamp_s_) return;
  timestamp_s_ = now_s;
  StrAppend(buffer_, aof_annotation::kTimestamp, now_s, "\r\n");
}

void AofWriter::Flush(Urgency urgency, Child child) {
  if (!IsOpen() || must_stop_) return;
  if (buffer_.empty() && !NeedsSync()) return;
  CollectSyncResult();
  const int64_t now_ms = parts_.real_clock.NowMs();
  if (!buffer_.empty()) {
    if (urgency == Urgency::kRelaxed && TryPostponeWrite(now_ms)) return;
    Write(child);
  }
  if (!must_stop_ && write_error_ == kNoError) Sync(child, now_ms);
}

bool AofWriter::TryPostponeWrite(int64_t now_ms) {
  const bool would_wait = Policy() == AppendFsync::kEverySecond && sync_.IsPending();
  if (!would_wait) {
    postponed_since_ms_ = -1;
    return false;
  }
  if (postponed_since_ms_ < 0) postponed_since_ms_ = now_ms;
  if (now_ms - postponed_since_ms_ < kPutOffMostMs) return true;
  postponed_since_ms_ = -1;
  ++delayed_writes_;
  parts_.log.Notice(
      "Asynchronous AOF fsync is taking too long (disk is busy?). Writing the AOF buffer without waiting for fsync to "
      "complete, this may slow down Redis.");
  return false;
}

void AofWriter::Write(Child child) {
  const bool was_syncing = sync_.IsPending();
  const int64_t started_us = parts_.real_clock.NowUs();
  const IoProgress progress = file_->Write(buffer_);
  const char* event = was_syncing             ? "aof-write-pending-fsync"
                      : child == Child::kRuns ? "aof-write-active-child"
                                              : "aof-write-alone";
  NoteLatency(event, started_us);
  NoteLatency("aof-write", started_us);
  if (progress.error != kNoError) return HandleFailure(progress);
  if (write_error_ != kNoError) {
    write_error_ = kNoError;
    parts_.log.Warning("AOF write error looks solved. The server can write again.");
  }
  if (parts_.settings.test_commands != Permission::kNever) guarantee_.NoteWrite(parts_.clock.MonotonicMs(), bytes_);
  bytes_ += buffer_.size();
  written_bytes_ += buffer_.size();
  buffer_.clear();
  if (buffer_.capacity() > kKeptBytes) buffer_.shrink_to_fit();
}

void AofWriter::HandleFailure(const IoProgress& progress) {
  const int64_t now_ms = parts_.real_clock.NowMs();
  const bool is_logged = now_ms - error_logged_ms_ >= kLogErrorEveryMs;
  if (is_logged) {
    error_logged_ms_ = now_ms;
    parts_.log.Warning(StrCat("Error writing to the AOF file: ", IoErrorText(progress.error),
                              " (nwritten=", progress.bytes, ", expected=", buffer_.size(), ")"));
  }
  write_error_ = progress.error;
  if (progress.bytes != 0) {
    const IoError error = file_->Truncate(bytes_);
    if (error != kNoError) {
      if (is_logged) {
        parts_.log.Warning(
            "Could not remove short write from the append-only file.  Redis may refuse to load the AOF the next time "
            "it starts.  ftruncate: " +
            IoErrorText(error));
      }
      // Counts the written bytes as part of the file, because ftruncate could not remove them. The next attempt writes
      // only the rest.
      bytes_ += progress.bytes;
      written_bytes_ += progress.bytes;
      buffer_.erase(0, progress.bytes);
    }
  }
  if (Policy() != AppendFsync::kAlways) return;
  StopServing("Can't recover from AOF write error when the AOF fsync policy is 'always'. Exiting...");
}

void AofWriter::Sync(Child child, int64_t now_ms) {
  if (!NeedsSync()) return;
  if (child == Child::kRuns && parts_.settings.no_appendfsync_on_rewrite) return;
  switch (Policy()) {
    case AppendFsync::kAlways: {
      const int64_t started_us = parts_.real_clock.NowUs();
      const IoError error = SyncNow();
      NoteLatency("aof-fsync-always", started_us);
      if (error == kNoError) return;
      return StopServing("Can't persist AOF for fsync error when the AOF fsync policy is 'always': " +
                         IoErrorText(error) + ". Exiting...");
    }
    case AppendFsync::kEverySecond:
      if (sync_.IsPending() || now_ms - sync_began_at_ms_ < kSyncEveryMs) return;
      sync_began_at_ms_ = now_ms;
      sync_.file = file_;
      sync_.covered_bytes = written_bytes_;
      sync_collected_ = false;
      return parts_.files.RunInBackground(sync_);
    case AppendFsync::kNever:
      return;
  }
}

IoError AofWriter::SyncNow() {
  // Waits for background syncs that are still running. Earlier files must be on the disk before this file. The system
  // reports a failed sync only once, so this thread must not miss the result.
  if (!closings_.empty() || sync_.IsPending()) AwaitSync();
  sync_began_at_ms_ = parts_.real_clock.NowMs();
  const IoError error = file_->Sync();
  if (error != kNoError) return error;
  sync_.error = kNoError;
  if (closed_error_ == kNoError) synced_bytes_ = written_bytes_;
  return closed_error_;
}

void AofWriter::StopServing(const std::string& reason) {
  must_stop_ = true;
  parts_.log.Warning(reason);
}

uint64_t AofWriter::SyncedBytes() {
  CollectSyncResult();
  return synced_bytes_;
}

void AofWriter::CollectSyncResult() {
  std::erase_if(closings_, [&](const auto& closing) {
    if (closing->IsPending()) return false;
    if (closing->error != kNoError) {
      parts_.log.Warning("Fail to fsync the AOF file: " + IoErrorText(closing->error));
      if (closing->is_needed) closed_error_ = closing->error;
    }
    return true;
  });
  if (sync_collected_ || sync_.IsPending()) return;
  sync_collected_ = true;
  sync_.file.reset();
  if (sync_.error == kNoError) {
    if (closed_error_ == kNoError) synced_bytes_ = std::max(synced_bytes_, sync_.covered_bytes);
  } else {
    parts_.log.Warning("Fail to fsync the AOF file: " + IoErrorText(sync_.error));
  }
}

void AofWriter::ForgetClosedFiles() {
  closed_error_ = kNoError;
  for (const auto& closing : closings_) closing->is_needed = false;
}

void AofWriter::AwaitSync() {
  sync_.Await();
  for (const auto& closing : closings_) closing->Await();
  CollectSyncResult();
}

void AofWriter::NoteLatency(const char* event, int64_t started_us) {
  if (parts_.latency.IsOn()) parts_.latency.Note(event, parts_.real_clock.NowUs() - started_us);
}

}  // namespace respite
