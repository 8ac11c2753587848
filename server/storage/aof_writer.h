// AofWriter: gathers propagated commands during a Turn (a pass of the event loop). Writes the commands to the
// append-only file at the end of the Turn, and syncs the file as `appendfsync` says.
//
//   always     syncs before any reply is sent: one sync for all clients of the Turn. After a disk error the server
//              must stop, see MustStop.
//   everysec   another thread syncs once a second. A write during a sync would block, so it waits for the sync, but
//              at most two seconds.
//   no         the operating system decides when data gets to the disk.
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

class AofWriter {  // writes propagated commands to the append-only file, and syncs it
 public:
  struct Parts {                                   // the objects that AofWriter uses; must live longer than AofWriter
    FileSystem& files;                             // access to the disk, with background syncs
    const Settings& settings;                      // values of the directives
    const Clock& clock;                            // time that clients see, and TEST CLOCK can move
    const RealClock& real_clock;                   // real time, which TEST CLOCK cannot move
    Logger& log;                                   // gets warnings and errors
    LatencyMonitor& latency;                       // LATENCY: gets the durations of slow writes and syncs
    std::optional<AppendFsync> fixed_policy = {};  // used instead of appendfsync; nullopt: appendfsync is used
  };
  enum class Urgency : uint8_t { kRelaxed, kNow };  // kNow: never delay the write
  enum class Child : uint8_t { kNone, kRuns };      // kRuns: a child process saves or rewrites now

  explicit AofWriter(const Parts& parts);
  // Waits until running syncs have ended.
  ~AofWriter();

  // Appends data to `file`, which has `bytes` bytes, from now on. The previous file is synced and closed in the
  // background. Data that is still in the buffer is written to the new file.
  void Open(std::unique_ptr<File> file, uint64_t bytes);  // from now on, appends to this file of `bytes` bytes
  void Discard() {                                        // drops the buffered commands; they count as written
    written_bytes_ += buffer_.size();
    buffer_.clear();
  }
  void Close();                                     // writes the buffer, syncs and closes the file; logs errors
  bool IsOpen() const { return file_ != nullptr; }  // true: there is a file to write to
  // Simulates a crash of the machine: truncates the file to the part that `policy` guarantees after a crash, and closes
  // the file. Requires: IsOpen, and the server allows TEST.
  IoError SimulateCrash(AppendFsync policy);  // TEST CRASH: truncates what a machine crash would lose; closes

  void Append(const PropagatedGroup& group);  // adds the commands to the buffer, in their RESP form
  // Writes the buffer to the file, and syncs it as appendfsync says. Must be called at the end of each event loop Turn.
  // Cost: a few comparisons when there is nothing to do.
  void Flush(Urgency urgency, Child child);  // at a Turn's end: writes the buffer, and syncs if appendfsync says so
  // Returns the error, or else the error of a replaced file that is still needed. Requires: IsOpen.
  IoError SyncNow();         // syncs the file and waits; returns the error
  void ForgetClosedFiles();  // the files that were replaced by Open are not needed any more

  bool MustStop() const { return must_stop_; }  // true: the disk failed with appendfsync `always`, so send no replies
  // Returns the error of the last write or, if that succeeded, of a replaced file, or of the last background sync
  // (appendfsync everysec). Returns nullopt if there is none. Called for every write command. Cost: three comparisons.
  std::optional<IoError> WriteOrSyncError() const {  // why the last write or a background sync failed; nullopt: none
    if (write_error_ != kNoError) return write_error_;
    if (closed_error_ != kNoError) return closed_error_;
    const IoError sync_error = sync_.error.load(std::memory_order_relaxed);
    if (sync_error != kNoError) return sync_error;
    return std::nullopt;
  }
  bool HasWriteFailed() const { return write_error_ != kNoError; }  // true: the last write failed; retried each Turn

  uint64_t FileBytes() const { return bytes_; }                        // size of the open file in bytes
  size_t BufferedBytes() const { return buffer_.size(); }              // bytes in the buffer, not written yet
  bool HasUnwrittenData() const { return !buffer_.empty(); }           // true: the buffer is not empty
  uint64_t PendingSyncs() const { return sync_.IsPending() ? 1 : 0; }  // aof_pending_bio_fsync: 1 while a sync runs
  uint64_t DelayedWrites() const {  // aof_delayed_fsync: how many writes waited 2 s for a sync that did not end
    return delayed_writes_;
  }
  void ResetDelayedWrites() { delayed_writes_ = 0; }  // CONFIG RESETSTAT: sets DelayedWrites to 0

  uint64_t AppendedBytes() const { return appended_bytes_; }  // bytes for the files that were added since the start
  uint64_t SyncedBytes();                                     // how many of AppendedBytes are on the disk (WAITAOF)

 private:
  class SyncTask final : public FileTask {  // an fsync on another thread, with appendfsync everysec
   public:
    void Run() override { error = file->Sync(); }

    std::shared_ptr<File> file;             // the file to sync
    uint64_t covered_bytes = 0;             // what SyncedBytes will be after this sync
    std::atomic<IoError> error = kNoError;  // error of the last sync; kNoError: it succeeded
  };

  struct Closing;  // a replaced file, which another thread syncs and closes

  bool NeedsSync() const {  // true: some data is written but not synced, or the last sync failed
    return written_bytes_ != synced_bytes_ || sync_.error != kNoError;
  }
  AppendFsync Policy() const { return parts_.fixed_policy.value_or(parts_.settings.appendfsync); }  // when to sync
  void AppendTimestamp();                          // adds "#TS:<seconds>" to the buffer, at most once a second
  bool TryPostponeWrite(int64_t now_ms);           // true: a sync runs (everysec), so the write must wait
  void Write(Child child);                         // writes the whole buffer to the file
  void HandleFailure(const IoProgress& progress);  // a write failed: undoes a partial write; `always`: stops the server
  void Sync(Child child, int64_t now_ms);          // syncs now, or on another thread, if appendfsync says so
  void StopServing(const std::string& reason);     // sets must_stop_, so that no replies are sent; logs the reason
  void CollectSyncResult();                        // applies the result of a background sync that has ended
  void AwaitSync();                                // waits for all background syncs, and applies their results
  void NoteLatency(const char* event, int64_t started_us);  // tells LATENCY the time since started_us

  Parts parts_;                                     // the arguments of the constructor
  std::shared_ptr<File> file_;                      // the file to append to; null: none is open
  std::string buffer_;                              // propagated commands in RESP, not written yet
  uint64_t bytes_ = 0;                              // size of the file in bytes
  FsyncGuarantee guarantee_;                        // TEST CRASH: how much of the file survives a machine crash
  int selected_db_ = -1;                            // database of the last SELECT in this file; -1: none yet
  int64_t timestamp_s_ = 0;                         // Unix time of the last "#TS:" line
  uint64_t appended_bytes_ = 0;                     // bytes that were added to buffer_ since the start
  uint64_t written_bytes_ = 0;                      // how many of appended_bytes_ were written, or discarded
  uint64_t synced_bytes_ = 0;                       // how many of appended_bytes_ are on the disk
  SyncTask sync_;                                   // the background sync that runs, or ran last
  bool sync_collected_ = true;                      // false: the result of sync_ must still be applied
  std::vector<std::unique_ptr<Closing>> closings_;  // replaced files, which another thread syncs and closes
  int64_t sync_began_at_ms_ = 0;                    // when a sync last began, or the file was opened (real time)
  int64_t postponed_since_ms_ = -1;                 // when a write began to wait for a sync (real time); -1: none waits
  uint64_t delayed_writes_ = 0;      // aof_delayed_fsync: how many writes waited 2 s for a sync that did not end
  IoError write_error_ = kNoError;   // why the last write failed; kNoError: it succeeded
  IoError closed_error_ = kNoError;  // why a replaced file that is still needed may be incomplete on the disk
  int64_t error_logged_ms_ = INT64_MIN / 2;  // when a write error was last logged (real time)
  bool must_stop_ = false;  // true: the disk failed with appendfsync `always`, so no replies may be sent
};

}  // namespace respite
