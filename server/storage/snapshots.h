// Snapshots: saves the data as an RDB file: SAVE, BGSAVE, `save` points, and the results of saves for MISCONF and INFO.
//
// A snapshot is written to temp-<pid>.rdb, synced, and renamed, so the dump is always a complete old or new one. The
// server locks its dump when it saves, and with save points already at startup. So no other Respite server overwrites
// the dump.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "persistence/file_system.h"
#include "server/runtime/env.h"
#include "server/storage/child_processes.h"

namespace respite {

class FileSystem;
struct KeyspaceStats;
class Loading;
class ChildProcesses;
class RdbContents;

class Snapshots {  // saves the data as the RDB file: SAVE, BGSAVE and save points
 public:
  enum class Outcome : uint8_t { kDone, kFailed };

  struct Parts {  // other parts of the server that this class uses
    const Env& env;
    FileSystem& files;                // the file system of the server
    KeyspaceStats& keyspace_stats;    // counts changes since the last save
    Loading& loading;                 // while it runs, nothing is saved by the timer
    ChildProcesses& child_processes;  // runs background saves
    const RdbContents& contents;      // what an RDB file contains
  };
  explicit Snapshots(const Parts& parts);

  bool IsWorthSaving() const;  // false: a replica without its primary's data
  // Writes a snapshot while all clients wait. Errors are logged. Requires: no snapshot is running. Cost: O(data set).
  Outcome Save();                      // SAVE: writes the RDB file while all clients wait
  Outcome StartBackgroundSave();       // BGSAVE: starts a child that saves; requires that no child runs
  std::string BackgroundPath() const;  // file of the last background save, even if dbfilename has changed since
  // Renames a finished snapshot, which came from the primary, so that it becomes the dump file. Returns false on
  // failure, which is logged.
  bool InstallAsDump(const std::string& path);  // makes a primary's finished snapshot the dump file; false: failed
  // Removes a file that was used for a synchronisation: the dump, or the file of the last background save. Keeps it
  // unless rdb-del-sync-files is set and the server saves neither snapshots nor an append-only file.
  void RemoveSyncFile();  // removes the dump after a synchronisation, if rdb-del-sync-files permits
  void RemoveBackgroundSyncFile() { RemoveSyncFile(BackgroundPath()); }  // for the last background save's file
  void OnEnd(std::function<void(Outcome)> handler) { ended_ = std::move(handler); }  // after each background save
  void Schedule() { is_save_scheduled_ = true; }  // Cron starts a background save when no child runs
  // Drops a scheduled BGSAVE. Must be called when the data for which the BGSAVE was requested is lost.
  void Unschedule() { is_save_scheduled_ = false; }  // cancels a scheduled background save
  bool IsRunning() const;                            // a child writes the RDB file now
  enum class Cancelled : uint8_t { kNone, kRunning, kScheduled };
  // Stops a running background save, or cancels a scheduled one. Returns which of these it did, or kNone.
  Cancelled Cancel();  // stops a running background save, or cancels a scheduled one (BGSAVE CANCEL)

  // Starts scheduled snapshots and snapshots that a save point requires. Called by the timer, after the end of a child
  // was handled.
  void Cron();  // called by the timer: starts scheduled saves and those of save points
  // FLUSHALL: stops a running snapshot, which is obsolete, also one for replicas. With save points the empty data set
  // is saved at the end of the Turn, when the transaction with the flush has ended.
  void HandleFlushAll();  // FLUSHALL: kills a child that saves; with save points, saves when the turn ends
  void EndTurn() {        // at the end of a turn: saves the empty data if there was a FLUSHALL
    if (save_due_) SaveFlushed();
  }

  bool MustRefuseWrites() const;  // writes are refused (MISCONF), because the last snapshot failed

  // Locks the RDB file if there are save points, and removes temporary files of processes that no longer exist. Called
  // at startup, before loading. Returns an error text if the server must not start. With the default save points a
  // failed lock is no error: the server starts, but does not save (see LeavesDumpToOtherServer).
  std::optional<std::string> LockDumpAtStartup();  // returns an error text if the server must not start
  // Returns whether this server leaves the dump to another server. It does if it has Redis' default save points, has
  // never loaded or written this dump, and has found it locked. Such a server saves only on request, for example by
  // SAVE; a successful save ends this state. In Redis the last server overwrites the dump. As in Redis, servers that
  // share a folder and have no save directive must accept writes, start and stop.
  bool LeavesDumpToOtherServer() const;  // does not save, because another server has locked the dump

  void ResetStats() { save_count_ = 0; }  // sets the number of saves to 0 (CONFIG RESETSTAT)

  struct Figures {               // values for INFO
    int64_t last_save_s;         // Unix time of the last successful save, or of the start
    Outcome last_outcome;        // of the last background save; a successful SAVE also sets kDone
    int64_t last_duration_s;     // of the last background save, also a failed one; -1: none yet
    int64_t current_duration_s;  // how long the current background save has run; -1: none runs
    uint64_t saves;              // saves begun since the start or CONFIG RESETSTAT, also failed ones
    uint64_t last_cow_bytes;     // copy-on-write memory of the last successful background save
  };
  Figures CurrentFigures() const;  // results of saves, for INFO

 private:
  bool Write(const std::string& path, ChildReporter* reporter);                // false: failed
  bool WriteTemporary(const std::string& temporary, ChildReporter* reporter);  // false: failed
  // Locks the dump `path` for this server. Returns false if another running server has locked the dump, so that it must
  // not be written. Returns true also if there is no such file yet.
  bool Lock(const std::string& path);                         // false: another server has locked it
  std::string DumpPath() const;                               // full path of `dbfilename`
  void NoteSaved(uint64_t changes, const std::string& path);  // a save to `path` has succeeded
  void HandleChildEnd(const ChildEnd& end);                   // called when the child of a background save has ended
  void NoteOutcome(const ChildEnd& end);         // logs the outcome of a background save, and stores it for INFO
  void RemoveSyncFile(const std::string& path);  // if rdb-del-sync-files permits
  void SaveFlushed();                            // saves the empty data after FLUSHALL, unless a save runs
  bool MayRetrySave() const;                     // false: the last background save failed less than 5 seconds ago
  void SaveIfDue();                              // starts a background save if a save point requires it
  void RemoveTemporaryFiles();                   // removes temp-….rdb of processes that no longer exist

  const Parts parts_;               // other parts of the server that this class uses
  std::unique_ptr<File> lock_;      // the lock of the dump; null: not locked
  std::string owned_dump_;          // full path of the dump that this server has locked or written; may be empty
  std::string dump_left_to_other_;  // full path of the dump that this server leaves to another server; may be empty
  std::string background_folder_;   // working directory when the last background save began
  std::string background_name_;     // file name of the last background save
  bool is_save_scheduled_ = false;  // Cron starts a background save when no child runs
  bool save_due_ = false;           // there was a FLUSHALL, so the turn ends with a save
  Outcome last_outcome_ = Outcome::kDone;  // of the last background save; a successful SAVE also sets kDone
  uint64_t changes_before_ = 0;            // changes since the last save when the background save began
  int64_t last_save_wall_s_;               // Unix time of the last successful save, or of the start
  int64_t last_save_ms_;                   // server's monotonic time of the last successful save, or of the start
  std::optional<int64_t> last_try_ms_;     // real elapsed time when a background save last began
  int64_t started_ms_ = 0;                 // real elapsed time when a background save last began
  int64_t last_duration_s_ = -1;           // duration of the last background save; -1: none yet
  uint64_t save_count_ = 0;                // saves begun since the start or CONFIG RESETSTAT, also failed ones
  uint64_t last_cow_bytes_ = 0;            // copy-on-write memory of the last successful background save
  std::function<void(Outcome)> ended_ = [](Outcome) {};  // called when a background save has ended
};

}  // namespace respite
