// AofWriter: gathers propagated commands during a Turn, writes them to the append-only file at the end of the Turn, and
// syncs the file as `appendfsync` says.
//
//   always     syncs before any reply is sent: one sync for all clients of the Turn. After a disk error the server
//              must stop, see MustStop.
//   everysec   another thread syncs once a second. A write during a sync would block, so it is delayed, by two
//              seconds at most.
//   no         the system decides.
//
// If a write fails with everysec or no, the part that was written is removed again, and every Turn retries the whole
// write. Until a write succeeds, WriteOrSyncError() makes the server refuse write commands.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "persistence/file_system.h"
#include "server/config/settings.h"
#include "server/dataset/journal.h"
#include "server/runtime/latency.h"
#include "server/storage/fsync_guarantee.h"

namespace respite {

class AofWriter {  // buffers propagated commands, writes them to the append-only file and syncs it
 public:
  struct Parts {               // other parts of the server; all must outlive the writer
    FileSystem& files;         // runs background syncs
    const Settings& settings;  // gives appendfsync and others
    const Clock& clock;        // the server's clock, for "#TS:" and TEST
    const Pace& pace;          // real elapsed time
    Logger& log;               // gets the errors
    LatencyMonitor& latency;   // records slow writes and syncs
  };
  enum class Urgency : uint8_t { kRelaxed, kNow };  // kNow: never delay the write
  enum class Child : uint8_t { kNone, kRuns };      // for no-appendfsync-on-rewrite and the names of latency events

  explicit AofWriter(const Parts& parts);
  // Waits until a running sync has ended.
  ~AofWriter();

  // From now on, data is appended to `file`, which has `bytes` bytes. The previous file is synced and closed in the
  // background. Data that is still in the buffer is written to the new file.
  void Open(std::unique_ptr<File> file, uint64_t bytes);  // appends to this file from now on
  void Discard() {  // drops data that is not written yet, because it is stored elsewhere
    written_bytes_ += buffer_.size();
    buffer_.clear();
  }
  void Close();  // writes the buffer, syncs the file and closes it; unwritten data is lost, which is logged
  bool IsOpen() const { return file_ != nullptr; }  // there is a file to write to
  // Simulates a crash of the machine: truncates the file to the part that `policy` guarantees after a crash, and closes
  // it. Requires: IsOpen, and the server allows TEST.
  IoError SimulateCrash(AppendFsync policy);  // truncates what a machine crash would lose (TEST)

  void Append(const PropagatedGroup& group);  // adds the commands to the buffer, after any "#TS:" line
  // Writes the buffer to the file, and syncs it as appendfsync says. Must be called at the end of each Turn. Cost: a
  // few comparisons when there is nothing to do.
  void Flush(Urgency urgency, Child child);  // writes the buffer and syncs as appendfsync says; kNow: immediately
  IoError SyncNow();                         // waits for running syncs, then syncs the file; returns the error

  bool MustStop() const { return must_stop_; }  // a write or sync failed under appendfsync always: no reply may be sent
  // Returns the error of the last write or sync, or nullopt if both succeeded. Called for every write command. Cost:
  // two comparisons.
  std::optional<IoError> WriteOrSyncError() const {  // error of the last write or sync; nullopt: none
    if (write_error_ != kNoError) return write_error_;
    const IoError sync_error = sync_.error.load(std::memory_order_relaxed);
    if (sync_error != kNoError) return sync_error;
    return std::nullopt;
  }
  bool HasWriteFailed() const { return write_error_ != kNoError; }  // true: the last write failed, so data is unwritten

  uint64_t FileBytes() const { return bytes_; }                        // size of the file that is written now
  size_t BufferedBytes() const { return buffer_.size(); }              // bytes that are not written yet
  bool HasUnwrittenData() const { return !buffer_.empty(); }           // the buffer is not empty
  uint64_t PendingSyncs() const { return sync_.IsPending() ? 1 : 0; }  // aof_pending_bio_fsync: 1 while a sync runs
  uint64_t DelayedWrites() const {  // aof_delayed_fsync: writes that waited 2 s for a sync, then did not wait longer
    return delayed_writes_;
  }
  void ResetDelayedWrites() { delayed_writes_ = 0; }  // CONFIG RESETSTAT: sets DelayedWrites to 0

  uint64_t AppendedBytes() const { return appended_bytes_; }  // bytes that Append has added since the start
  uint64_t SyncedBytes();                                     // how many of AppendedBytes are on the disk (WAITAOF)

 private:
  class SyncTask final : public FileTask {  // an fsync on another thread (everysec)
   public:
    void Run() override { error = file->Sync(); }

    std::shared_ptr<File> file;             // the file to sync
    uint64_t covered_bytes = 0;             // value of SyncedBytes after this sync
    std::atomic<IoError> error = kNoError;  // error of the last sync; kNoError: it succeeded
  };

  struct Closing;  // syncs and closes a replaced file on another thread

  bool NeedsSync() const {  // written data is not on the disk, or the last sync failed
    return written_bytes_ != synced_bytes_ || sync_.error != kNoError;
  }
  void AppendTimestamp();                          // adds "#TS:<seconds>" to the buffer, unless this second has one
  bool TryPostponeWrite(int64_t now_ms);           // true: the write must wait for a running sync (everysec)
  void Write(Child child);                         // writes the whole buffer to the file
  void HandleFailure(const IoProgress& progress);  // after a failed write: removes the written part; "always": stops
  void Sync(Child child, int64_t now_ms);          // starts or does a sync, if appendfsync requires one now
  void StopServing(const std::string& reason);     // sets must_stop_ and logs the reason
  void CollectSyncResult();                        // applies the results of background syncs that have ended
  void AwaitSync();                                // waits for all background syncs, and applies their results
  void NoteLatency(const char* event, int64_t started_us);  // reports the time since started_us to LATENCY

  Parts parts_;                  // other parts of the server that this class uses
  std::shared_ptr<File> file_;   // the file to write to; null: none
  std::string buffer_;           // propagated commands that are not yet written
  uint64_t bytes_ = 0;           // size of the file
  FsyncGuarantee guarantee_;     // what a crash would leave of the file; used only if TEST is allowed
  int selected_db_ = -1;         // database that the last SELECT in this file has selected; -1: none yet
  int64_t timestamp_s_ = 0;      // Unix time of the last "#TS:" line
  uint64_t appended_bytes_ = 0;  // bytes that Append has added since the start
  uint64_t written_bytes_ = 0;   // how many of the appended bytes were written to a file, or discarded
  uint64_t synced_bytes_ = 0;    // how many of the appended bytes are on the disk
  SyncTask sync_;                // the running or last sync of everysec
  bool sync_collected_ = true;   // the result of sync_ was applied
  std::vector<std::unique_ptr<Closing>> closings_;  // replaced files that another thread syncs and closes
  int64_t synced_at_ms_ = 0;                        // real elapsed time when a sync last began or a file was opened
  int64_t postponed_since_ms_ = -1;          // real elapsed time when a write began to wait for a sync; -1: none waits
  uint64_t delayed_writes_ = 0;              // writes that waited too long for a sync (aof_delayed_fsync)
  IoError write_error_ = kNoError;           // error of the last write; kNoError: it succeeded
  int64_t error_logged_ms_ = INT64_MIN / 2;  // real elapsed time when a write error was last logged
  bool must_stop_ = false;                   // a write or sync has failed under appendfsync always
};

}  // namespace respite
