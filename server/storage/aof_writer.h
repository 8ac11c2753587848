// AofWriter: gathers propagated commands during a Turn, writes them to the append-only file at its end, and syncs them
// as `appendfsync` says.
//
//   always     syncs before any reply is sent: one sync for all clients of the Turn. After a disk error the server
//              must stop, see MustStop.
//   everysec   another thread syncs once a second. A write during a sync would block, so it is delayed, by two
//              seconds at most.
//   no         the system decides.
//
// If a write fails with everysec or no, the written part is truncated, and every Turn retries the whole write. Until a
// write succeeds, WriteOrSyncError() makes the server refuse writes.
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

  // From now on appends to `file`, which has `bytes` bytes. The previous file is synced and closed in the background.
  // Data that is still in the buffer is written to the new file.
  void Open(std::unique_ptr<File> file, uint64_t bytes);  // appends to this file from now on
  void Discard() {  // drops what is not written yet, because the data is stored elsewhere
    written_bytes_ += buffer_.size();
    buffer_.clear();
  }
  void Close();  // writes the buffer, syncs the file and closes it; unwritten data is lost, which is logged
  bool IsOpen() const { return file_ != nullptr; }  // there is a file to write to
  // Truncates the file to the part that `policy` guarantees after a machine crash, and closes it. Requires: IsOpen, and
  // the server allows TEST.
  IoError SimulateCrash(AppendFsync policy);  // cuts off what a machine crash would lose (TEST)

  void Append(const PropagatedGroup& commands);  // adds the commands to the buffer, and any "#TS:" line
  // Writes the buffer to the file, and syncs it as appendfsync says. Must be called at the end of each Turn. Cost: a
  // few comparisons when there is nothing to do.
  void Flush(Urgency urgency, Child child);  // writes the buffer and syncs as appendfsync says; kNow: immediately
  IoError SyncNow();                         // syncs the file before it returns; after running syncs

  bool MustStop() const { return must_stop_; }  // a write or sync failed under appendfsync always: no reply may be sent
  // Returns why data cannot be written or synced at present, or nullopt if there is no error. Called for every write
  // command. Cost: two comparisons.
  std::optional<IoError> WriteOrSyncError() const {  // why data cannot be written or synced; nullopt: no error
    if (write_error_ != kNoError) return write_error_;
    const IoError sync_error = sync_.error.load(std::memory_order_relaxed);
    if (sync_error != kNoError) return sync_error;
    return std::nullopt;
  }
  bool HasWriteFailed() const { return write_error_ != kNoError; }  // the last write failed, so data is unwritten

  uint64_t FileBytes() const { return bytes_; }                        // size of the file
  size_t BufferedBytes() const { return buffer_.size(); }              // bytes not yet written
  bool HasUnwrittenData() const { return !buffer_.empty(); }           // the buffer contains data
  uint64_t PendingSyncs() const { return sync_.IsPending() ? 1 : 0; }  // aof_pending_bio_fsync: 0 or 1
  uint64_t DelayedWrites() const {  // writes that waited 2 s for a sync and then went ahead (aof_delayed_fsync)
    return delayed_writes_;
  }
  void ResetDelayedWrites() { delayed_writes_ = 0; }  // sets the count to 0 (CONFIG RESETSTAT)

  uint64_t AppendedBytes() const { return appended_bytes_; }  // bytes that Append has added since the start
  uint64_t SyncedBytes();                                     // how many of AppendedBytes are on the disk (WAITAOF)

 private:
  class SyncTask final : public FileTask {  // an fsync on another thread (everysec)
   public:
    void Run() override { error = file->Sync(); }

    std::shared_ptr<File> file;             // the file to sync
    uint64_t covered_bytes = 0;             // how many of the appended bytes are on the disk after this sync
    std::atomic<IoError> error = kNoError;  // why the last sync failed; kNoError: it did not
  };

  struct Closing;  // the last sync and the closing of a replaced file, on another thread

  bool NeedsSync() const {  // some data is not on the disk, or the last sync failed
    return written_bytes_ != synced_bytes_ || sync_.error != kNoError;
  }
  void AppendTimestamp();                          // adds "#TS:<seconds>" to the buffer, unless this second has one
  bool TryPostponeWrite(int64_t now_ms);           // true: the write must wait for a running sync (everysec)
  void Write(Child child);                         // writes the whole buffer to the file
  void HandleFailure(const IoProgress& progress);  // after a failed write: removes its written part; "always": stops
  void Sync(Child child, int64_t now_ms);          // starts or does a sync, if appendfsync requires one now
  void StopServing(const std::string& reason);     // sets must_stop_ and logs the reason
  void CollectSyncResult();                        // applies the results of syncs that have ended
  void AwaitSync();                                // waits for all syncs on the other thread, and applies their results
  void NoteLatency(const char* event, int64_t started_us);  // tells the latency monitor the time since then

  Parts parts_;                                     // other parts of the server that this class uses
  std::shared_ptr<File> file_;                      // the file to write to; null: none
  std::string buffer_;                              // propagated commands that are not yet written
  uint64_t bytes_ = 0;                              // size of the file
  FsyncGuarantee guarantee_;                        // used only if the server allows TEST
  int selected_db_ = -1;                            // database that the data in this file has selected; -1: none yet
  int64_t timestamp_s_ = 0;                         // Unix time of the last annotation
  uint64_t appended_bytes_ = 0;                     // bytes that Append has added since the start
  uint64_t written_bytes_ = 0;                      // appended bytes that were written to a file, or discarded
  uint64_t synced_bytes_ = 0;                       // how many of the appended bytes are on the disk
  SyncTask sync_;                                   // the running or last sync of everysec
  bool sync_collected_ = true;                      // the result of the last sync was applied
  std::vector<std::unique_ptr<Closing>> closings_;  // last syncs of replaced files, in progress
  int64_t synced_at_ms_ = 0;                        // real elapsed time when a sync last began or a file was opened
  int64_t postponed_since_ms_ = -1;                 // real elapsed time since when a write waits; -1: none waits
  uint64_t delayed_writes_ = 0;                     // writes that waited too long for a sync (aof_delayed_fsync)
  IoError write_error_ = kNoError;                  // error of the last write; kNoError: it succeeded
  int64_t error_logged_ms_ = INT64_MIN / 2;         // real elapsed time when a write error was logged last
  bool must_stop_ = false;                          // a write or sync failed under appendfsync always
};

}  // namespace respite
